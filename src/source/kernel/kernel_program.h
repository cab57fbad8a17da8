/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that the kernel runs at its tracepoints. Each appends one record to one of the rings below.
 *
 * The rings. A value of the map `rings` is a ring: struct wire_ring, what the programs need beside it, and from
 * KERNEL_SLOTS on its packets. They are those of ring/ring.h, with a window of fixed size. A record is always
 * compact: one whose time the packet's base does not reach begins a packet.
 *
 * Exclusiveness. Each CPU has KERNEL_DEPTHS rings. A program takes the first one that no other holds, by compare-and-exchange
 * of wire_ring.lock. So a program that interrupts another one on its CPU, or is preempted by it, never shares its ring. If all
 * are taken, the record is lost and counted (WIRE_LOST_BUSY).
 *
 * Times are CLOCK_MONOTONIC in ns; kernel_clock.h converts them when the records are read.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_PROGRAM_H
#define BURIN_SOURCE_KERNEL_KERNEL_PROGRAM_H

#include "bpf/bpf_program.h"
#include "ring/ring.h"
#include "source/kernel/tracepoint.h"
#include "wire/wire_packet.h"
#include "wire/wire_ring.h"

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
	uint64_t reserved[27];
	struct wire_packet header; /* of new packets */
};

struct kernel_layout {
	int rings;	  /* map */
	int members;	  /* map: recorded tasks (kernel_follow.h); -1: all */
	unsigned window;  /* packets of a ring, a power of two */
	unsigned reach;	  /* ns after its base that a packet's compact records reach */
	bool overwrite;	  /* without room, the oldest packet makes room; otherwise the record is lost */
	uint32_t context; /* enum wire_context: of each record; its values are 0 */
};

/* kernel_ring_bytes - the size of a ring, a value of the map. */
static inline unsigned kernel_ring_bytes(unsigned window)
{
	return KERNEL_SLOTS + window * KERNEL_PACKET + KERNEL_SLACK;
}

/* kernel_ring_view - ring @n of the map, which is mapped at @memory. @header: of the session */
struct ring kernel_ring_view(char *memory, unsigned n, const struct kernel_layout *layout,
			     const struct wire_packet *header);

/*
 * kernel_program_write - write the program of a tracepoint that is no system call's: BPF_PROG_TYPE_TRACEPOINT.
 * @id: of the event in the session; 0, of a probe: the cookie of the place has it
 * Return: false: its record would be too long.
 */
bool kernel_program_write(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint *point, uint16_t id);

/* A system call, as the programs see it. */
struct kernel_syscall {
	uint16_t enter, exit; /* ids of the events; 0: not recorded */
	uint8_t count;	      /* arguments */
	uint8_t shorts;	      /* a bit for each: 32 bits, else 64 */
	uint8_t texts;	      /* a bit for each: the address of a text */
	uint8_t reserved;
};

/*
 * kernel_program_enter, kernel_program_exit - the programs of all system calls: BPF_PROG_TYPE_RAW_TRACEPOINT at sys_enter and
 * sys_exit.
 * @calls: an array map of struct kernel_syscall, by number; @count: its entries
 */
void kernel_program_enter(struct bpf_program *to, const struct kernel_layout *layout, int calls,
			  unsigned count);
void kernel_program_exit(struct bpf_program *to, const struct kernel_layout *layout, int calls,
			 unsigned count);

#endif
