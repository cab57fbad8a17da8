/* SPDX-License-Identifier: GPL-2.0-only */
/* The append, inlined into what records. */
#ifndef BURIN_KERNEL_RECORD_H
#define BURIN_KERNEL_RECORD_H

#include <linux/irqflags.h>
#include <linux/sched.h>

#include "module.h"
#include "ring/section_plain.h"

/* record_slow - continue where the fast path ended. Context: interrupts off. */
void record_slow(struct ring *ring, struct ring_record record);

/* record_nmi - append to the ring for NMIs. */
void record_nmi(struct ring_record record);

/*
 * record_put - append a record whose payload is prepared.
 * @buffer: as of burin_emit()
 * @length: of header and payload
 * Context: any.
 */
static __always_inline void record_put(void *buffer, u16 id, u32 length)
{
	const struct ring_record record = { buffer, length };
	unsigned long flags;
	struct ring *ring;

	ring_prepare(buffer, id, length, current->pid);
	if (unlikely(in_nmi())) {
		record_nmi(record);
		return;
	}
	raw_local_irq_save(flags);
	ring = raw_cpu_read(record_cpu.ring);
	/* A ring without memory has the tail 0, so there is no room in it. */
	if (unlikely(section_plain_put(ring, record) != RING_DONE))
		record_slow(ring, record);
	raw_local_irq_restore(flags);
}

/* On while an event has a function of another module. */
DECLARE_STATIC_KEY_FALSE(record_hooked);

/* hooks_call - call an event's function, if it has one. Return: whether the event is on. */
bool hooks_call(const void *buffer, u16 id, u32 length);

/* record_event - the same for an event, after the function that another module may have given it. */
static __always_inline void record_event(void *buffer, u16 id, u32 length)
{
	if (static_branch_unlikely(&record_hooked) && !hooks_call(buffer, id, length))
		return;
	record_put(buffer, id, length);
}

#endif
