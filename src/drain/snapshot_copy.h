/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A snapshot's private copy of the packets in the rings, made at the speed of memory.
 *
 * Writers reach 2.4 GB/s on each CPU and would overtake a snapshot that writes to disk. All packets are therefore copied
 * first, into populated memory, and validated later. That can wait: while the program goes on writing,
 * snapshot_copy_next() pauses half of the time. The program's processor may share a core with ours, and a disk write
 * beside it slows it by 12 % (bench/run snapshot).
 */
#ifndef BURIN_DRAIN_SNAPSHOT_COPY_H
#define BURIN_DRAIN_SNAPSHOT_COPY_H

#include "drain/calls/call_tables.h"
#include "writer/event_table.h"
#include "ring/copy.h"
#include "session/session.h"

struct copied_ring {
	const struct ring *ring;
	struct wire_ring control; /* as it was after the last piece was copied */
	char *memory;		  /* a slot for each piece; NULL: the ring was never used */
	size_t bytes;
	struct ring_piece *pieces;
	uint32_t slots, count, next;
	bool stale;
};

struct snapshot_copy {
	const struct session *session;
	struct copied_ring *rings;
	unsigned count;
	uint64_t until;	   /* the snapshot has no later records */
	uint64_t until_ns; /* the same of CLOCK_MONOTONIC */
	size_t given;	   /* bytes of pieces since the last pause */
	uint64_t paused;   /* when that was, ns; 0: there was none */
};

/*
 * snapshot_copy_rings - copy the packets of a session's rings, the names last. Stores nothing into the session.
 * @more: @count rings beside the session's, whose times are CLOCK_MONOTONIC
 * @calls: the tables to which the calls are written that are open at the end of the copy
 * Return: 0 or -errno; the caller must call snapshot_copy_free() in both cases.
 */
int snapshot_copy_rings(struct snapshot_copy *copy, struct session *session, const struct ring *more,
			unsigned count, struct call_tables *calls, const struct event_table *events);

/*
 * snapshot_copy_next - get the next piece of a ring. Return: as ring_copy().
 * @packet: set to its packet, which the caller may change
 */
int snapshot_copy_next(struct snapshot_copy *copy, unsigned index, struct wire_packet **packet,
		       struct ring_piece *piece);

/* snapshot_copy_last - time of the last record in all rings but the names ring; 0: there is none. @table: of its events */
uint64_t snapshot_copy_last(const struct snapshot_copy *copy, const struct event_table *table);

/* snapshot_copy_release - free a ring's memory. */
void snapshot_copy_release(struct snapshot_copy *copy, unsigned index);

void snapshot_copy_free(struct snapshot_copy *copy);

#endif
