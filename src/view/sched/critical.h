/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The critical path of spans: for what they waited. While the thread of a span runs or waits for a CPU, this is what the span waits for. While
 * it is blocked, it is what the thread did meanwhile that woke it in the end, and so on. So each moment of a span belongs to
 * one thread in one state, and the parts add up to the span's time.
 *
 * A span is that of a program's events (BURIN_SCOPE) or a system call. Only the states of threads since the begin of the oldest open
 * span are kept.
 */
#ifndef BURIN_VIEW_SCHED_CRITICAL_H
#define BURIN_VIEW_SCHED_CRITICAL_H

#include "view/calls/call_rows.h"
#include "view/kernel/kernel_view.h"
#include "view/sched/sched_states.h"

/* How a wait ended. */
enum critical_end {
	CRITICAL_THREAD,    /* by a thread, which the branch goes on with; also: it is no wait */
	CRITICAL_INTERRUPT, /* by a timer, a disk or a packet */
	CRITICAL_UNKNOWN,   /* the wake-up is not in the trace, or the branch is too deep */
};

/* A branch of the path: times of threads of one name in one state, in one branch. */
struct critical_node {
	uint32_t parent; /* 0: of a span itself */
	uint32_t span;	 /* of ->spans */
	uint32_t depth;
	uint32_t thread; /* string */
	enum sched_state state;
	uint32_t what; /* string; blocked */
	uint32_t stack,
		waker; /* strings, blocked: the stacks of the thread, and of what ended it; 0: not in the trace */
	enum critical_end end;
	uint64_t count, time;
	uint32_t child, next; /* the largest first, after critical_make() */
};

struct critical_span {
	uint32_t name; /* string */
	uint64_t count, time, max;
	uint64_t states[SCHED_STATES + 1]; /* of its threads; the last: unknown */
	uint32_t child;
};

struct critical {
	const struct burin_trace *trace;
	struct view_strings strings;
	struct critical_span *spans; /* most time first */
	size_t span_count, span_room;
	struct critical_node *nodes; /* 0 is none */
	size_t count, room;
	uint64_t unended; /* spans without end, or whose begin is missing */
	uint64_t dropped; /* times that the states kept were too many, and forgotten */
	bool has_wakes;
	struct sched_missing missing;
};

/*
 * critical_make - the critical path of spans whose names match.
 * @filter: threads of spans, and times in which they begin and end
 * Return: 0; -ENODATA: the trace has no switches; -ENOENT: it has no such span; -ENOMEM.
 */
int critical_make(struct critical *critical, const struct burin_trace *trace, const char *span,
		  const struct view_profile_filter *filter);
void critical_free(struct critical *critical);

/* critical_next - the node behind another one: its first child, or the next one outside. @node: 0: the first one of a span */
uint32_t critical_next(const struct critical *critical, size_t span, uint32_t node);

/* critical_print - paths in the form of the options; JSON is as docs/schema/report-critical.json. */
void critical_print(const struct critical *critical, const struct view_report *options,
		    struct view_buffer *out);

#endif
