/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For programs in C: taking a ring, and appending to it.
 *
 * From kernel_take() to kernel_release() a program is the only writer of its ring, by compare-and-exchange of its lock, whatever interrupts
 * or preempts it. It cannot die in between, so a lock has no dead owner. Each way out in between must release it: a ring that
 * stays taken is never used again. The clock is read behind that, so a ring's times are in the order of its records.
 *
 * Losses are added atomically: programs of other depths and the recorder add to them, too.
 *
 * tests/model/kernel.pml has shown that each of these rules is needed.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_APPEND_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_APPEND_C_H

#include "bpf/bpf_c.h"
#include "source/kernel/in_kernel/kernel_append_steps.h"

extern struct bpf_map rings;

#define KERNEL_GEOMETRY                                     \
	(&(const struct kernel_geometry){                   \
		.window = BPF_NUMBER(window),               \
		.reach = BPF_NUMBER(reach),                 \
		.context_bytes = BPF_NUMBER(context_bytes), \
		.overwrite = BPF_NUMBER(overwrite),         \
	})

/* A record that is written. */
struct kernel_open {
	struct kernel_ring *ring; /* taken */
	uint64_t tail;
	uint64_t ns;  /* the time */
	char *fields; /* where they begin */
};

/*
 * Only an addition that returns the value before is a barrier elsewhere than on x86, so the value is asked for. Without it the
 * recorder could find the lock free after the end, and the loss not yet counted (tests/model/kernel.pml, PLAIN_LOST).
 */
BPF_INLINE void kernel_count_lost(struct kernel_ring *ring, enum wire_loss cause)
{
	const uint64_t before = __sync_fetch_and_add(&ring->control.lost[cause], 1);

	asm volatile("" ::"r"(before));
}

BPF_INLINE void kernel_release(struct kernel_ring *ring)
{
	asm volatile("" ::: "memory");
	*(volatile uint64_t *)&ring->control.lock = 0;
}

/* A ring of this CPU that no other program holds. The recorder has not ended: it then changes the state of rings. Return: NULL. */
BPF_INLINE struct kernel_ring *kernel_take(void)
{
	const uint32_t first = bpf_get_smp_processor_id() * KERNEL_DEPTHS;
	struct kernel_ring *ring = NULL;
	uint32_t number = first;

#pragma unroll
	for (int n = 0; n < KERNEL_DEPTHS; n++, number++) {
		ring = bpf_map_lookup_elem(&rings, &number);
		if (!ring)
			return NULL;
		if (__sync_val_compare_and_swap(&ring->control.lock, 0, 1) == 0)
			goto taken;
	}
	number = first;
	ring = bpf_map_lookup_elem(&rings, &number);
	if (ring)
		kernel_count_lost(ring, WIRE_LOST_BUSY);
	return NULL;
taken:
	if (ring->control.state == WIRE_RING_READY)
		return ring;
	kernel_release(ring);
	return NULL;
}

/* Take a ring, read the clock, and find the record's place. @longest: bytes of all fields at most. Return: false: it is lost, and counted. */
BPF_INLINE bool kernel_begin(struct kernel_open *open, uint64_t longest)
{
	struct kernel_ring *ring = kernel_take();
	uint64_t ns;

	if (!ring)
		return false;
	ns = bpf_ktime_get_ns();
	if (ns < ring->last)
		ns = ring->last;
	ring->last = ns;
	open->ring = ring;
	open->ns = ns;
	open->tail =
		kernel_locate(ring, KERNEL_GEOMETRY, ns,
			      sizeof(struct wire_compact) + BPF_NUMBER(context_bytes) + longest + WIRE_ALIGN);
	if (open->tail) {
		open->fields = kernel_fields_at(ring, KERNEL_GEOMETRY, open->tail);
		return true;
	}
	kernel_count_lost(ring, WIRE_LOST_FULL);
	kernel_release(ring);
	return false;
}

/* @bytes: of its fields */
BPF_INLINE void kernel_end(const struct kernel_open *open, uint32_t tid, uint64_t id, uint64_t bytes)
{
	/* The verifier knows that a place in the ring stays in the map with this, whatever the record's bytes are. */
	asm volatile("" : "+r"(bytes));
	kernel_commit(open->ring, KERNEL_GEOMETRY, open->tail,
		      &(const struct kernel_head){ .ns = open->ns, .tid = tid, .id = (uint16_t)id },
		      bytes & (KERNEL_RECORD_MAX - 1));
	kernel_release(open->ring);
}

#endif
