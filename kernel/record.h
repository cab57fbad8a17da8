/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The append, inlined into what records: the section of a writer that keeps its place (src/ring/section_place.h). In the
 * usual case a record is written once, into the ring.
 */
#ifndef BURIN_KERNEL_RECORD_H
#define BURIN_KERNEL_RECORD_H

#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "checks.h"
#include "compat.h"
#include "ring/section_place.h"
#include "state.h"

struct record_cpu {
	struct ring_place place;      /* in `ring` */
	struct ring *ring, *nmi_ring; /* never NULL once there is a session */
	unsigned int nmi_depth;
	struct irq_work wake;
};

DECLARE_PER_CPU(struct record_cpu, record_cpu);

/* record_refresh - find the place in a ring again, which has changed. Context: its CPU, interrupts off; or the CPU is offline. */
void record_refresh(const struct ring *ring);

/* record_wait - the queue of those who wait for a complete packet. */
extern wait_queue_head_t record_wait;

void record_begin(void);
void record_end(void);

/* record_slow - append a record whose payload is prepared, in all cases. @buffer: as of burin_emit(). Context: any. */
void record_slow(void *buffer, u16 id, u32 length);

/*
 * record_enter - begin a record, with interrupts off. Context: not in an NMI.
 * @tsc: whether the clock is known to be the processor's counter
 * @words: of the record; @at: receives where its first word belongs; @now: the time, for that word's upper half
 * Return: false: it takes a whole append; interrupts are as before.
 */
static __always_inline bool record_enter(bool tsc, u32 words, u64 **at, u64 *now, unsigned long *flags)
{
	raw_local_irq_save(*flags);
	*at = (u64 *)raw_cpu_read(record_cpu.place.at);
	if (likely(!compat_take(record_cpu.place.room, words * 8))) {
		*now = tsc ? rdtsc() : ring_clock();
		if (likely(section_place_time(raw_cpu_read(record_cpu.place.packet),
					      raw_cpu_read(record_cpu.place.until), now)))
			return true;
	}
	raw_local_irq_restore(*flags);
	return false;
}

/* record_open - the same in any context. Return: false: use record_slow(). */
static __always_inline bool record_open(u32 words, u64 **at, u64 *now, unsigned long *flags)
{
	return static_branch_likely(&record_fast) && likely(!compat_in_nmi()) &&
	       record_enter(true, words, at, now, flags);
}

/* record_close - the commit. */
static __always_inline void record_close(u32 words, unsigned long flags)
{
	raw_cpu_add(record_cpu.place.at, words * 8);
	section_place_tail(raw_cpu_read(record_cpu.place.tail), words);
	raw_local_irq_restore(flags);
}

/* record_event - append a record whose payload is prepared. @length: a constant. */
static __always_inline void record_event(void *buffer, u16 id, u32 length)
{
	const u64 *from = (const u64 *)buffer + WIRE_HEADROOM / 8;
	const u32 words = wire_stride(length) / 8;
	unsigned long flags;
	u64 *at, now;

	if (unlikely(!record_open(words, &at, &now, &flags))) {
		record_slow(buffer, id, length);
		return;
	}
	at[0] = id | length << 16 | now << 32;
	at[1] = (from[0] & ~(u64)U32_MAX) | (u32)current->pid;
	for (u32 n = 1; n < words - 1; n++)
		at[n + 1] = from[n];
	record_close(words, flags);
}

#endif
