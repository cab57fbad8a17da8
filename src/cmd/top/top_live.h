/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The events and spans of a running program, counted as they come, without a trace.
 *
 * Reading has an allowance of processor time. A program that records more than can be read within it is read for a while, and then not
 * for a while: the counts are of the records that were read, and scaled to those that were written, which the rings count themselves.
 */
#ifndef BURIN_CMD_TOP_TOP_LIVE_H
#define BURIN_CMD_TOP_TOP_LIVE_H

#include "base/containers/arena.h"
#include "drain/live_reader.h"
#include "session/session_stat.h"
#include "view/hist/value_counts.h"
#include "view/spans/span_open.h"
#include "view/top/top.h"

/* An end of a span that was read. */
struct top_live_end {
	uint64_t time; /* ticks */
	uint64_t key[2];
	uint32_t span; /* index + 1 */
	uint32_t tid;
	bool begins;
};

/* The spans of one name. */
struct top_live_span {
	char *name;
	struct value_counts durations; /* ns, of this interval */
	uint64_t open;
};

/* An event. */
struct top_live_event {
	uint64_t count; /* in this interval */
	uint32_t span;	/* index + 1; 0: it is no end of one */
	bool known, begins, has_id;
	unsigned id_words; /* of the span's id */
};

struct top_live {
	struct session *session;
	struct live_reader live;
	bool begun;
	struct top_live_event *events; /* by id - 1 */
	struct top_live_span *spans;
	size_t span_count, span_room;
	struct top_live_end *ends, *sorted; /* of the last rounds, in runs that are in order */
	size_t end_count, end_room, sorted_room;
	struct span_open open;
	uint64_t hz;
	uint64_t read;		    /* records in this interval */
	uint64_t since;		    /* CLOCK_MONOTONIC, ns: the interval's begin */
	struct session_stat before; /* at that time */
	uint64_t missed;	    /* as of live_reader_missed(), then */
	int64_t allowance;	    /* ns of processor time that may be used; below 0: reading pauses */
	uint64_t allowed;	    /* when it was last added to, CLOCK_MONOTONIC, ns */
	bool paused;		    /* the last round was left out */
	bool failed;		    /* no memory */
	/* Of the last interval. */
	struct arena texts; /* names of the events */
	struct top_event *event_rows;
	size_t event_row_count, event_row_room;
	struct top_span *span_rows;
	size_t span_row_count, span_row_room;
};

/* top_live_begin - read from now on. Return: 0 or -ENOMEM; then top_live_end(). */
int top_live_begin(struct top_live *top, struct session *session);

/* top_live_round - read what is new, if the allowance permits it. Return: 0 or -ENOMEM. */
int top_live_round(struct top_live *top);

/* top_live_rows - end the interval: set its rows, which stay until the next call, and begin another one. */
void top_live_rows(struct top_live *top, struct top_rows *rows);

void top_live_end(struct top_live *top);

#endif
