// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last step of every record: append it to the ring of this CPU with interrupts off, or in an NMI to the CPU's ring for
 * NMIs. So no writer is interrupted by another one of its ring, but for an NMI in an NMI, whose record counts as lost.
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

static notrace void count_lost(const struct ring *ring, enum ring_result result)
{
	ring_lose(ring, result == RING_FULL ? WIRE_LOST_FULL : WIRE_LOST_BUSY);
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
	if (unlikely(result != RING_DONE))
		count_lost(ring, result);
	/* A packet may be complete. Pairs with the barrier in device.c between queue and condition. */
	if (wq_has_sleeper(&record_wait))
		irq_work_queue(this_cpu_ptr(&record_cpu.wake));
}

notrace void record_slow(struct ring *ring, struct ring_record record)
{
	append(ring, record);
}

notrace void record_nmi(struct ring_record record)
{
	struct record_cpu *cpu = this_cpu_ptr(&record_cpu);

	if (cpu->nmi_depth++)
		ring_lose(cpu->nmi_ring, WIRE_LOST_BUSY);
	else
		append(cpu->nmi_ring, record);
	barrier();
	cpu->nmi_depth--;
}

notrace void burin_emit(struct burin_site *site, unsigned int state, void *buffer, size_t payload_bytes)
{
	if (unlikely(!buffer)) {
		ring_lose(raw_cpu_read(record_cpu.ring), WIRE_LOST_SIZE);
		return;
	}
	record_event(buffer, site->id, sizeof(struct wire_compact) + payload_bytes);
}
EXPORT_SYMBOL_GPL(burin_emit);
EXPORT_SYMBOL_GPL(burin_emit_args);
EXPORT_SYMBOL_GPL(burin_off);

void record_begin(void)
{
	unsigned int cpu;

	ring_clock_source = burin_session.geometry.clock;
	if (ring_clock_source == WIRE_CLOCK_TSC)
		static_branch_enable(&ring_clock_is_tsc);
	else
		static_branch_disable(&ring_clock_is_tsc);
	for_each_possible_cpu(cpu) {
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

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&record_cpu, cpu)->wake);
}
