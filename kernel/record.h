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

/* ---- the steps of an append to the ring of this CPU. Context: not in an NMI */

/* record_restore - interrupts as they were. Hidden from the compiler, which would keep a second copy of the flags. */
static __always_inline void record_restore(unsigned long flags)
{
	if (!__builtin_constant_p(flags))
		OPTIMIZER_HIDE_VAR(flags);
	raw_local_irq_restore(flags);
}

/*
 * record_take - take room, with interrupts off. The record is invisible until it is committed, so it can be written at once.
 * @at: receives where its first word belongs
 * Return: false: there is none; use the whole append. All of the room that is left may be gone, which that append corrects.
 */
static __always_inline bool record_take(s64 bytes, u64 **at)
{
	*at = (u64 *)raw_cpu_read(record_cpu.place.at);
	return likely(!compat_take(record_cpu.place.room, bytes));
}

/* record_has - whether a record of so many bytes can be written, of which fewer may be taken then. @at: receives where */
static __always_inline bool record_has(s64 bytes, u64 **at)
{
	*at = (u64 *)raw_cpu_read(record_cpu.place.at);
	return likely(raw_cpu_read(record_cpu.place.room) >= bytes);
}

/* record_take_saved - record_take(). Interrupts are on or off before it; if there is no room, as before. */
static __always_inline bool record_take_saved(s64 bytes, u64 **at, unsigned long *flags)
{
	raw_local_irq_save(*flags);
	if (record_take(bytes, at))
		return true;
	record_restore(*flags);
	return false;
}

/* record_head - what needs no clock: its first half word, and its thread. */
static __always_inline void record_head(u64 *at, u32 head, u32 tid)
{
	((u32 *)at)[0] = head;
	((u32 *)at)[2] = tid;
}

/*
 * record_time - the time, the last part of a record.
 * @tsc: whether the clock is known to be the processor's counter
 * Return: false: it takes a whole append: record_late().
 */
static __always_inline bool record_time(bool tsc, u64 *at)
{
	struct wire_packet *packet;
	u64 now;

	barrier(); /* reading the counter takes two registers, so all else is written first */
	now = tsc ? rdtsc() : ring_clock();
	((u32 *)at)[1] = (u32)now;
	packet = raw_cpu_read(record_cpu.place.packet);
	return likely(section_place_time(packet, compat_reached(record_cpu.place.until, now), now));
}

/* record_commit - make it visible. @commit: what it adds to the tail */
static __always_inline void record_commit(s64 bytes, u64 commit)
{
	raw_cpu_add(record_cpu.place.at, bytes);
	section_place_add(raw_cpu_read(record_cpu.place.tail), commit);
}

static __always_inline u64 record_added(u32 bytes)
{
	return ((u64)(bytes / 8) << WIRE_TAIL_COUNT_BITS) + 1;
}

/*
 * record_late - append a record, of at most RECORD_BYTES_MAX, that is written in the ring and for which record_time() is false.
 * @flags: how interrupts are to be left
 */
void record_late(unsigned long flags);

enum {
	RECORD_BYTES_MAX = 64, /* without the form that has the full time */
	RECORD_BUFFER_BYTES = RECORD_BYTES_MAX + 16,
	RECORD_INTERRUPTS_OFF = 0,
	RECORD_INTERRUPTS_ON = X86_EFLAGS_IF,
};

/* record_finish - the last steps of a record that has been written. */
static __always_inline void record_finish(bool tsc, u64 *at, s64 bytes, u64 commit, unsigned long flags)
{
	if (unlikely(!record_time(tsc, at))) {
		record_late(flags);
		return;
	}
	record_commit(bytes, commit);
	record_restore(flags);
}

/* record_usual - whether records take the steps above, and not record_slow(). Context: any. */
static __always_inline bool record_usual(void)
{
	return static_branch_likely(&record_fast) && likely(!compat_in_nmi());
}

/* ---- a record of a fixed size, whose payload is written where it stays if it can be */

/*
 * record_here - begin one.
 * @buffer: of RECORD_BUFFER_BYTES, for a record that takes record_slow(). Then `at` is NULL
 * @interrupts_off: whether they are known to be, which excludes an NMI too
 * Return: where its payload belongs. 8 bytes more may be written.
 */
static __always_inline void *record_here(void *buffer, u64 **at, unsigned long *flags, bool interrupts_off,
					 u32 length)
{
	const u32 bytes = wire_stride(length);

	*flags = RECORD_INTERRUPTS_OFF;
	if (interrupts_off ? static_branch_likely(&record_fast) && record_take(bytes, at)
			   : record_usual() && record_take_saved(bytes, at, flags))
		return (char *)*at + sizeof(struct wire_compact);
	*at = NULL;
	return (char *)buffer + WIRE_HEADROOM;
}

/* record_done - append it. */
static __always_inline void record_done(void *buffer, u64 *at, unsigned long flags, u16 id, u32 length)
{
	if (!at) {
		record_slow(buffer, id, length);
		return;
	}
	record_head(at, id | length << 16, current->pid);
	record_finish(true, at, wire_stride(length), record_added(wire_stride(length)), flags);
}

#endif
