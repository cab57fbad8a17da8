/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The order of the files TID.dat: begin and end of each call, by time. A trace has one record for a call, by the time of
 * its end; the begin of the outermost call of all comes last.
 *
 * So the trace is read backwards. A call then comes before its callees, and its begin is due when a record appears that
 * ended before it. Only the calls that are open at that moment are in memory. Files are written from their ends: a first
 * pass counts their records, a second one writes them.
 *
 * A file has the calls of one stack. Calls of a thread that do not nest, such as those of coroutines, are distributed to
 * several *lanes*, each with a file of its own, as if they were threads.
 */
#ifndef BURIN_EXPORT_UFTRACE_UFTRACE_ORDER_H
#define BURIN_EXPORT_UFTRACE_UFTRACE_ORDER_H

#include "base/containers/hash_table.h"
#include "burin/calls.h"
#include "export/uftrace/uftrace_directory.h"
#include "export/uftrace/uftrace_values.h"
#include "wire/wire_uftrace.h"

struct uftrace_frame {
	uint64_t begin; /* ticks */
	uint32_t function;
	uint16_t depth;		       /* as recorded */
	struct uftrace_values *values; /* the frame's own; NULL: none */
};

/* A record of the trace. */
struct uftrace_item {
	uint64_t time;
	struct uftrace_frame call; /* of an event: its number is the function */
	uint32_t tid, pid;	   /* pid 0: unknown */
	bool event;
};

struct uftrace_lane {
	uint32_t thread; /* tid in the trace */
	uint32_t pid;	 /* of its process; 0: unknown */
	uint32_t tid;	 /* in uftrace's files: that of the thread, or an unused one for further lanes */
	uint32_t next;	 /* of the same thread: index + 1; 0: none */
	uint32_t deepest;
	uint64_t words, left; /* of 8 bytes, in the file; still to be written */
	uint64_t first;	      /* ticks: its first record */
	struct uftrace_frame *stack;
	size_t depth, room;
	uint64_t *buffer; /* to be written before the word `left`; filled from its end */
	size_t buffered, buffer_room;
};

struct uftrace_order {
	const struct burin_trace *trace;
	const struct burin_calls *calls;
	const uint64_t *addresses; /* by function */
	struct uftrace_directory *directory;
	bool writing;
	struct uftrace_lane *lanes;
	size_t lane_count, lane_room;
	struct hash_table table;    /* the first lane of each thread */
	struct uftrace_item *ended; /* open calls that an exec ended, by time */
	size_t ended_count, ended_room, ended_left;
	uint64_t call_count, open_count, event_count, sample_count;
	uint64_t other_stacks;		   /* calls in further lanes */
	uint64_t left_out;		   /* calls that fit into no lane */
	uint64_t lost;			   /* records of the trace */
	const struct burin_event **events; /* by function: that of its calls with arguments; NULL: none */
	size_t lost_lane;		   /* which has the record of that loss */
};

/*
 * uftrace_order_count - the first pass: find the lanes, and count.
 * @order: trace and calls are set, all else is zero
 * Return: 0 or -errno.
 */
int uftrace_order_count(struct uftrace_order *order);

/* uftrace_order_write - the second pass: write the files; addresses and directory are set. Return: 0 or -errno. */
int uftrace_order_write(struct uftrace_order *order);

/* uftrace_order_ns - a time in ns since the clock's zero: as uftrace's own, which come from CLOCK_MONOTONIC. */
uint64_t uftrace_order_ns(const struct burin_trace *trace, uint64_t ticks);

/* uftrace_order_deepest - the most calls that were open at a time in a lane. */
uint32_t uftrace_order_deepest(const struct uftrace_order *order);

void uftrace_order_free(struct uftrace_order *order);

#endif
