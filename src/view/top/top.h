/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rows of a screen of burin top, as counted in the last interval. The command fills them, these functions print
 * them. All texts are foreign, and live as long as the rows.
 */
#ifndef BURIN_VIEW_TOP_TOP_H
#define BURIN_VIEW_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/json.h"
#include "wire/wire_packet.h"

/* A function of a stack. */
struct top_frame {
	const char *function; /* NULL: unknown */
	const char *file;     /* of the source; NULL: unknown */
	const char *image;    /* the last part of its path */
	uint64_t offset;      /* in the image */
	uint32_t line;
	bool inlined; /* into the frame behind it */
};

/* Of the last interval. */
struct top_shares {
	uint64_t known;	      /* 0: there was no interval, so the others are not known */
	uint64_t run, queued; /* ns on a CPU; ns in the run queue of one */
};

struct top_thread {
	uint64_t count; /* threads of the row; all but the first have the same stack */
	struct top_shares shares;
	uint64_t whole;	 /* ns of the interval, times ->count */
	uint64_t cpu_ns; /* since the thread began */
	uint32_t pid, tid;
	char state; /* as /proc/PID/stat has it: R, S, D, ... */
	const char *name;
	const char *call;	       /* the system call, or "" */
	const char *object;	       /* that it waits for, or "" */
	const char *wchan;	       /* the function of the kernel in which it sleeps, or "" */
	const struct top_frame *stack; /* the innermost first */
	unsigned frames;
	bool unknown;	  /* ->call, ->object and ->wchan were not read */
	const char *note; /* why the stack is not complete; NULL: it is, or none was asked for */
};

/* Rates are a second's, of the records that were read; if not all were (->sampled), all numbers are estimates. */
struct top_event {
	uint64_t count, per_s;
	const char *name;
	const char *state; /* of its switch */
	uint64_t id;
};

struct top_span {
	uint64_t count, per_s;	     /* that ended */
	uint64_t open;		     /* that have begun, since the first screen */
	uint64_t p50, p90, p99, max; /* ns; 0: none has ended */
	const char *name;
};

/* A function that ran. */
struct top_function {
	uint64_t count, run; /* samples, and the ns for which they stand */
	uint64_t whole;	     /* ns of the interval */
	const char *function;
	const char *image; /* the last part of its path */
};

/* The rows of a screen. */
struct top_rows {
	uint64_t interval; /* ns */
	const struct top_function *functions;
	size_t function_count;
	bool sampling;			/* there are samples */
	uint64_t samples, samples_lost; /* in their interval */
	const char *function_note;	/* what is missing of them, or "" */
	const struct top_event *events;
	size_t event_count;
	const struct top_span *spans;
	size_t span_count;
	bool live;			 /* there are events and spans */
	bool sampled;			 /* not all records were read */
	uint64_t written, read;		 /* records of the interval */
	uint64_t lost[WIRE_LOST_CAUSES]; /* in the interval */
	const struct top_thread *threads;
	size_t thread_count;
	uint64_t thread_sum; /* threads in all */
	bool stacks;	     /* were asked for */
};

/* top_state - the word for a state of /proc/PID/stat. */
const char *top_state(char state);

/* top_threads_text - the threads and their stacks. @limit: of rows */
void top_threads_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out);
void top_threads_json(const struct top_rows *rows, struct json *json);

/* top_spans_text, top_events_text - the same of spans and events; nothing if there are none. */
void top_spans_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out);
void top_events_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out);
/* top_all_events_text - also those that are off and had no records. */
void top_all_events_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out);

/* top_functions_text - the functions that ran, by samples; nothing if there are none. */
void top_functions_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out);
/* top_functions_json - the members "samples", "samples_lost" and "functions", if there are samples. */
void top_functions_json(const struct top_rows *rows, struct json *json);

/*
 * top_losses_text - a line: how many records were written, and how many of them were lost, by cause. Another one: the same of samples,
 * or why there are none.
 */
void top_losses_text(const struct top_rows *rows, struct view_buffer *out);

/* top_live_json - the members of all these. */
void top_live_json(const struct top_rows *rows, struct json *json);

#endif
