// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last step of every record: append it to the ring of this CPU with interrupts off, or in an NMI to the CPU's
 * ring for NMIs. So no writer is interrupted by another one of its ring, but for an NMI in an NMI, whose record
 * counts as lost.
 *
 * The place of a CPU (struct ring_place) is in one of three states:
 *
 *	valid	->at is the address behind the tail, ->room what the packet still has
 *	short	->room is less: record_take() has subtracted what was not committed
 *	none	->room is not above 0: no packet is open, or the CPU has no memory yet
 *
 * Only its CPU changes it, with interrupts off and not in an NMI; while the CPU is offline, memory.c does. ->room is
 * never too large. If it is too small, a record takes the whole append, after which record_refresh() finds the place
 * again. ->at moves by a commit only, so record_late() finds there what was written. Other changes of the tail or the
 * slots must call record_refresh() before interrupts are on again: append_here() does, and memory.c for a new size, a
 * closed packet and a reset.
 *
 * A record exists when the tail has passed it. Until then its bytes lie behind the tail, so one that is given up
 * needs no cleaning. A reader loads the tail with acquire, which pairs with section_place_add().
 *
 * The usual path never opens a packet, so it completes none. Only append() does; therefore it alone looks for
 * sleeping readers. It wakes them by an interrupt work: tracepoints of the scheduler record while they hold the locks
 * that a wake-up takes.
 *
 * nmi_depth keeps NMIs out of their own ring while it is being appended to or changed (memory.c). It needs no atomic
 * operation: an NMI in the middle of an increment leaves the number as it found it.
 */
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/wait.h>

#include "record.h"

DEFINE_STATIC_KEY_TRUE(ring_clock_is_tsc);
DEFINE_PER_CPU(struct record_cpu, record_cpu);
DECLARE_WAIT_QUEUE_HEAD(record_wait);
const unsigned char burin_off;

/* Never from the append itself: the waker takes locks that its caller may hold. */
static void wake(struct irq_work *work)
{
	wake_up_all(&record_wait);
}

void record_refresh(const struct ring *ring)
{
	struct record_cpu *cpu = per_cpu_ptr(&record_cpu, ring->cpu);

	if (ring == cpu->ring)
		ring_place_find(ring, &cpu->place);
}

static notrace void append(struct ring *ring, struct ring_record record)
{
	enum ring_result result;

	if (unlikely(!READ_ONCE(ring->ready_words))) { /* there was no memory for this CPU */
		ring_lose(ring, WIRE_LOST_FULL);
		return;
	}
	if (unlikely(record.length > ring->record_max)) {
		ring_lose(ring, WIRE_LOST_SIZE);
		return;
	}
	result = ring_append(ring, record);
	if (unlikely(result != RING_DONE)) {
		/* No packet is complete that was not before. A reader that is woken by a loss would be lost as well. */
		ring_lose(ring, result == RING_FULL ? WIRE_LOST_FULL : WIRE_LOST_BUSY);
		return;
	}
	/* A packet may be complete. Pairs with the barrier in device.c between queue and condition. */
	if (wq_has_sleeper(&record_wait))
		irq_work_queue(this_cpu_ptr(&record_cpu.wake));
}

static notrace void append_nmi(struct ring_record record)
{
	struct record_cpu *cpu = this_cpu_ptr(&record_cpu);

	if (cpu->nmi_depth++)
		ring_lose(cpu->nmi_ring, WIRE_LOST_BUSY);
	else
		append(cpu->nmi_ring, record);
	barrier();
	cpu->nmi_depth--;
}

/* The whole append, and the place afterwards. */
static notrace noinline void append_here(struct ring_record record)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	append(raw_cpu_read(record_cpu.ring), record);
	record_refresh(raw_cpu_read(record_cpu.ring));
	raw_local_irq_restore(flags);
}

notrace noinline void record_slow(void *buffer, u16 id, u32 length)
{
	const u32 words = wire_stride(length) / 8;
	const u64 *from = buffer;
	unsigned long flags;
	u64 *at;

	if (checks_wanted(id) && !checks_pass(buffer, id, length))
		return;
	ring_prepare(buffer, id, length, current->pid);
	if (unlikely(compat_in_nmi())) {
		append_nmi((struct ring_record){ buffer, length });
		return;
	}
	if (unlikely(!record_take_saved(words * 8, &at, &flags))) {
		append_here((struct ring_record){ buffer, length });
		return;
	}
	for (u32 n = 0; n < words; n++)
		at[n] = READ_ONCE(from[n + 1]); /* no call of memcpy() */
	if (likely(record_time(false, at)))
		record_commit(words * 8, record_added(words * 8));
	else
		append_here((struct ring_record){ buffer, length });
	record_restore(flags);
}

notrace noinline void record_late(unsigned long flags)
{
	const u64 *at = (u64 *)raw_cpu_read(record_cpu.place.at);
	const u32 head = (u32)at[0], length = head >> 16;
	u64 buffer[RECORD_BYTES_MAX / 8 + 1];

	for (u32 n = 0; n < wire_stride(length) / 8; n++)
		buffer[n + 1] = READ_ONCE(at[n]);
	ring_prepare(buffer, head & U16_MAX, length, current->pid);
	append_here((struct ring_record){ buffer, length });
	record_restore(flags);
}

notrace void burin_emit(struct burin_site *site, unsigned int state, void *buffer, size_t payload_bytes)
{
	if (unlikely(!buffer)) {
		ring_lose(raw_cpu_read(record_cpu.ring), WIRE_LOST_SIZE);
		return;
	}
	record_slow(buffer, site->id, sizeof(struct wire_compact) + payload_bytes);
}
EXPORT_SYMBOL_GPL(burin_emit);
EXPORT_SYMBOL_GPL(burin_emit_args);
EXPORT_SYMBOL_GPL(burin_off);

/* ---- records of few words, which come in registers */

static __always_inline void fill(u64 *at, u32 head, u32 words, u32 a, u64 b, u64 c, u64 d, u64 e)
{
	record_head(at, head, current->pid);
	((u32 *)at)[3] = a;
	if (words > 2)
		at[2] = b;
	if (words > 3)
		at[3] = c;
	if (words > 4)
		at[4] = d;
	if (words > 5)
		at[5] = e;
}

/* All other cases, the monotonic clock first. The arguments are those of burin_emit_6(), so that nothing is moved to call it. */
static notrace noinline __noclone void emit_slow(u32 head, u32 a, u64 b, u64 c, u64 d, u64 e)
{
	const u32 words = wire_stride(head >> 16) / 8;
	u64 buffer[8], *at;
	unsigned long flags;

	if (!checks_wanted(head & U16_MAX) && !compat_in_nmi() && record_take_saved(words * 8, &at, &flags)) {
		fill(at, head, words, a, b, c, d, e);
		record_finish(false, at, words * 8, record_added(words * 8), flags);
		return;
	}
	fill(buffer + 1, head, 6, a, b, c, d, e);
	record_slow(buffer, head & U16_MAX, head >> 16);
}

static __always_inline void emit(u32 head, u32 words, u32 a, u64 b, u64 c, u64 d, u64 e)
{
	unsigned long flags;
	u64 *at;

	if (unlikely(!record_usual() || !record_take_saved(words * 8, &at, &flags))) {
		emit_slow(head, a, b, c, d, e);
		return;
	}
	fill(at, head, words, a, b, c, d, e);
	record_finish(true, at, words * 8, record_added(words * 8), flags);
}

notrace void burin_emit_2(u32 head, u32 a)
{
	emit(head, 2, a, 0, 0, 0, 0);
}
EXPORT_SYMBOL_GPL(burin_emit_2);

notrace void burin_emit_3(u32 head, u32 a, u64 b)
{
	emit(head, 3, a, b, 0, 0, 0);
}
EXPORT_SYMBOL_GPL(burin_emit_3);

notrace void burin_emit_4(u32 head, u32 a, u64 b, u64 c)
{
	emit(head, 4, a, b, c, 0, 0);
}
EXPORT_SYMBOL_GPL(burin_emit_4);

notrace void burin_emit_5(u32 head, u32 a, u64 b, u64 c, u64 d)
{
	emit(head, 5, a, b, c, d, 0);
}
EXPORT_SYMBOL_GPL(burin_emit_5);

notrace void burin_emit_6(u32 head, u32 a, u64 b, u64 c, u64 d, u64 e)
{
	emit(head, 6, a, b, c, d, e);
}
EXPORT_SYMBOL_GPL(burin_emit_6);

void record_begin(void)
{
	unsigned int cpu;

	ring_clock_source = burin_session.geometry.clock;
	if (ring_clock_source == WIRE_CLOCK_TSC)
		static_branch_enable(&ring_clock_is_tsc);
	else
		static_branch_disable(&ring_clock_is_tsc);
	checks_begin();
	for_each_possible_cpu(cpu)
	{
		struct record_cpu *own = per_cpu_ptr(&record_cpu, cpu);

		own->ring = &burin_session.rings[cpu];
		own->nmi_ring = &burin_session.rings[burin_session.geometry.cpus + cpu];
		init_irq_work(&own->wake, wake);
	}
}

/* After all events are off: no work is left. */
void record_end(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) irq_work_sync(&per_cpu_ptr(&record_cpu, cpu)->wake);
}
