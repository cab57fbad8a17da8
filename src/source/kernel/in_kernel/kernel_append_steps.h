/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How a record is appended to a ring of the kernel's programs (kernel_ring.h): one text for the programs, which are compiled for BPF, and
 * for the recorder, which appends what it has read from other mechanisms.
 *
 * The writer is the only one of its ring: a program by the ring's lock (kernel_append_c.h), the recorder since the ring is its own or no
 * program runs any more.
 *
 * Order of stores, on which readers rely (ring/copy.h):
 *
 *	1. in overwrite mode: the sequence of the packet that lies in the slot is removed
 *	2. the new packet's header, then its sequence
 *	3. the record
 *	4. the tail, by which readers find 2 and 3
 *
 * x86-64 keeps this order. Elsewhere programs make 1 and 4 exchanges, which are barriers. The new sequence is one, too; readers, who come
 * by the tail, do not need that. tests/model/kernel.pml has the order, and variants without it.
 *
 * The verifier accepts an address only within bounds that it can prove. So a position is masked right before its use, and KERNEL_SLACK
 * follows the packets, since the verifier does not know that a record fits its packet. kernel_locate() makes sure of that, by the
 * longest record that can be written.
 *
 * The recorder maps the rings for writing, to give packets back. A program uses what it finds there only behind masks: a faulty recorder
 * can spoil records, not the kernel.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_APPEND_STEPS_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_APPEND_STEPS_H

#include <stdbool.h>

#include "source/kernel/in_kernel/kernel_ring.h"
#include "wire/wire_record.h"

#ifdef __bpf__
#define KERNEL_INLINE	   static inline __attribute__((always_inline))
#define KERNEL_LOAD(place) (*(const volatile uint64_t *)(place))
#define KERNEL_CLEAR64(place) \
	(*(uint64_t *)(place) = 0) /* not aligned: machines with BPF programs can do that */
#ifdef __x86_64__
#define KERNEL_STORE(place, value)                       \
	do {                                             \
		asm volatile("" ::: "memory");           \
		*(volatile uint64_t *)(place) = (value); \
		asm volatile("" ::: "memory");           \
	} while (0)
#else
#define KERNEL_STORE(place, value) ((void)__sync_lock_test_and_set(place, value))
#endif
#else
#define KERNEL_INLINE		   static inline
#define KERNEL_LOAD(place)	   __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define KERNEL_CLEAR64(place)	   __builtin_memset(place, 0, 8)
#define KERNEL_STORE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#endif

enum {
	KERNEL_PACKET_WORDS = KERNEL_PACKET / 8,
	KERNEL_HEADER_WORDS = sizeof(struct wire_packet) / 8,
};

/* The values that are equal for all rings of a recording. */
struct kernel_geometry {
	uint64_t window;	/* packets of a ring, a power of two */
	uint64_t reach;		/* ns after its base that a packet's compact records reach */
	uint64_t context_bytes; /* of each record; zeros, since the kernel does not know the program's */
	bool overwrite;		/* without room, the oldest packet makes room; otherwise the record is lost */
};

KERNEL_INLINE char *kernel_word(struct kernel_ring *ring, const struct kernel_geometry *of, uint64_t word)
{
	return (char *)ring + KERNEL_SLOTS + ((word & (of->window * KERNEL_PACKET_WORDS - 1)) << 3);
}

/* Open the next packet. Return: the tail behind its header; 0: there is no room. */
KERNEL_INLINE uint64_t kernel_open_packet(struct kernel_ring *ring, const struct kernel_geometry *of,
					  uint64_t tail, uint64_t ns)
{
	const uint64_t word = tail >> WIRE_TAIL_COUNT_BITS, sequence = ring->next;
	struct wire_packet *packet =
		(struct wire_packet *)kernel_word(ring, of, sequence * KERNEL_PACKET_WORDS);

	if (!of->overwrite && sequence - KERNEL_LOAD(&ring->control.consumed) >= of->window)
		return 0;
	if (word & (KERNEL_PACKET_WORDS - 1)) /* the rest of the old packet has stale bytes */
		*(uint32_t *)kernel_word(ring, of, word) = WIRE_ID_CLOSED;
	ring->events += tail & WIRE_TAIL_COUNT_MASK;
	if (of->overwrite)
		KERNEL_STORE(&packet->sequence, WIRE_SEQUENCE_NONE);
	*packet = ring->header; /* which has no sequence */
	packet->events_before = ring->events;
	packet->lost[WIRE_LOST_FULL] = KERNEL_LOAD(&ring->control.lost[WIRE_LOST_FULL]);
	packet->lost[WIRE_LOST_BUSY] = KERNEL_LOAD(&ring->control.lost[WIRE_LOST_BUSY]);
	packet->discarded = packet->lost[WIRE_LOST_FULL] + packet->lost[WIRE_LOST_BUSY];
	packet->base_time = packet->time_begin = packet->time_end = ring->base = ns;
	if (sequence >= of->window)
		packet->lap = (uint32_t)of->window;
	KERNEL_STORE(&packet->sequence, sequence);
	ring->next = sequence + 1;
	return (sequence * KERNEL_PACKET_WORDS + KERNEL_HEADER_WORDS) << WIRE_TAIL_COUNT_BITS;
}

static_assert(WIRE_LOST_BUSY == WIRE_LOST_FULL + 1, "the losses that writers count");

/*
 * The tail where a record can be written, in the open packet or in a new one. @bytes: of the longest one, and WIRE_ALIGN for the padding,
 * which is written as a whole word
 * Return: 0: there is no room.
 */
KERNEL_INLINE uint64_t kernel_locate(struct kernel_ring *ring, const struct kernel_geometry *of, uint64_t ns,
				     uint64_t bytes)
{
	const uint64_t tail = ring->control.tail,
		       used = tail >> WIRE_TAIL_COUNT_BITS & (KERNEL_PACKET_WORDS - 1);

	if (used && used <= KERNEL_PACKET_WORDS - (bytes + WIRE_ALIGN - 1) / WIRE_ALIGN &&
	    ns - ring->base <= of->reach)
		return tail;
	return kernel_open_packet(ring, of, tail, ns);
}

/* Where its fields begin, behind its context, which is written here. */
KERNEL_INLINE char *kernel_fields_at(struct kernel_ring *ring, const struct kernel_geometry *of,
				     uint64_t tail)
{
	char *context = kernel_word(ring, of, tail >> WIRE_TAIL_COUNT_BITS) + sizeof(struct wire_compact);

	if (of->context_bytes >= 4)
		*(uint32_t *)context = 0;
	if (of->context_bytes >= 8)
		*(uint32_t *)(context + 4) = 0;
	if (of->context_bytes >= 12)
		*(uint32_t *)(context + 8) = 0;
	return context + of->context_bytes;
}

/* The values in front of a record's fields. */
struct kernel_head {
	uint64_t ns;
	uint32_t tid;
	uint16_t id;
};

/* Write the padding and the header of a record whose fields are written, and commit it. @bytes: of its fields */
KERNEL_INLINE void kernel_commit(struct kernel_ring *ring, const struct kernel_geometry *of, uint64_t tail,
				 const struct kernel_head *head, uint64_t bytes)
{
	char *record = kernel_word(ring, of, tail >> WIRE_TAIL_COUNT_BITS);
	const uint64_t length = sizeof(struct wire_compact) + of->context_bytes + bytes,
		       words = (length + WIRE_ALIGN - 1) / WIRE_ALIGN;

	KERNEL_CLEAR64(record + length);
	*(uint64_t *)record = head->id | length << 16 | head->ns << 32;
	*(uint32_t *)(record + offsetof(struct wire_compact, tid)) = head->tid;
	KERNEL_STORE(&ring->control.tail, tail + (words << WIRE_TAIL_COUNT_BITS) + 1);
}

#endif
