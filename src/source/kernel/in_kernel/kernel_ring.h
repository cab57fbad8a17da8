/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rings of the kernel's programs. A value of the map `rings` is a ring: struct wire_ring, what the programs need beside it, and from
 * KERNEL_SLOTS on its packets. They are those of ring/ring.h, with a window of fixed size. A record is always
 * compact: one whose time the packet's base does not reach begins a packet.
 *
 * Exclusiveness. Each CPU has KERNEL_DEPTHS rings. A program takes the first one that no other holds, by compare-and-exchange
 * of wire_ring.lock. So a program that interrupts another one on its CPU, or is preempted by it, never shares its ring. If all
 * are taken, the record is lost and counted (WIRE_LOST_BUSY). tests/model/kernel.pml has shown that this is enough.
 *
 * Times are CLOCK_MONOTONIC in ns; kernel_clock.h converts them when the records are read.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_RING_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_RING_H

#include "wire/wire_packet.h"
#include "wire/wire_ring.h"

struct kernel_layout;
struct ring;

enum {
	/*
	 * Programs at tracepoints do not interrupt each other: the kernel leaves the second one out (bpf_missed()). They
	 * can interrupt those at system calls.
	 */
	KERNEL_DEPTHS = WIRE_KERNEL_DEPTHS,
	KERNEL_PACKET = WIRE_KERNEL_PACKET,
	KERNEL_SLOTS = 4096,	    /* offset of the packets in a ring */
	KERNEL_SLACK = 8192,	    /* behind them: the verifier does not know that no record reaches there */
	KERNEL_RECORD_MAX = 4096,   /* bytes of a record, at most */
	KERNEL_REACH_MAX = 1 << 30, /* ns */
};

/* The programs' own part of a ring, behind struct wire_ring. */
struct kernel_ring {
	struct wire_ring control;
	uint64_t next;	 /* sequence of the packet to be opened next */
	uint64_t events; /* records in the packets before the open one */
	uint64_t base;	 /* time base of the open packet, ns */
	uint64_t last;	 /* time of the last record, ns */
	uint64_t clock;	 /* of ring 0: the descriptor of the shared clock + 1 (kernel_share.h) */
	uint64_t scratch;
	uint64_t
		unread; /* of ring 0: calls with texts that could not be read at the exit, either (struct kernel_late) */
	struct {
		uint64_t bytes;	       /* so far */
		uint64_t unread;       /* not 0: a text or a structure of the process could not be read */
		uint64_t copied, left; /* kernel_message_c.h */
		uint64_t begin, list, counts[2]; /* kernel_list_c.h */
	} fields; /* of the record of a system call, by the program that has the ring */
	uint64_t reserved[17];
	struct wire_packet header; /* of new packets */
};

/* kernel_ring_bytes - the size of a ring, a value of the map. */
static inline unsigned kernel_ring_bytes(unsigned window)
{
	return KERNEL_SLOTS + window * KERNEL_PACKET + KERNEL_SLACK;
}

/* kernel_ring_count - rings that this machine needs: KERNEL_DEPTHS for each CPU that it may have. */
unsigned kernel_ring_count(void);

/* kernel_ring_view - ring @n of the map, which is mapped at @memory. @header: of the session */
struct ring kernel_ring_view(char *memory, unsigned n, const struct kernel_layout *layout,
			     const struct wire_packet *header);

#endif
