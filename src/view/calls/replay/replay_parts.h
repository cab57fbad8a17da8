/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of view_replay(). */
#ifndef BURIN_VIEW_CALLS_REPLAY_REPLAY_PARTS_H
#define BURIN_VIEW_CALLS_REPLAY_REPLAY_PARTS_H

#include "base/containers/arena.h"
#include "base/containers/hash_table.h"
#include "view/calls/call_spans.h"
#include "view/calls/replay/replay_options.h"
#include "view/ordered.h"

enum replay_flags {
	REPLAY_OPEN = 1,   /* it had not ended */
	REPLAY_CALLS = 2,  /* a call ended within it */
	REPLAY_EVENTS = 4, /* an event or a sample of its thread is within it */
	REPLAY_HIDDEN = 8, /* it is not printed */
	REPLAY_ROOT = 16,  /* of a selected function, and not within another one */
};

struct replay_call {
	uint64_t begin, end; /* ticks; `end` of an open call: UINT64_MAX */
	uint32_t function, tid, stack;
	uint16_t depth;
	uint16_t flags;	    /* enum replay_flags */
	uint32_t order;	    /* by end, among those of a slice */
	const char *values; /* its arguments, a newline and its result, or members of JSON; NULL: none */
};

struct replay_calls {
	struct replay_call *list;
	size_t count, room;
};

/* A thread, or one of the stacks of threads that have several, as far as a walk through the trace has come. */
struct replay_thread {
	uint64_t key;			/* call_stack_key() */
	uint64_t span;			/* number of the slice that the rest is about */
	uint64_t last_call, last_event; /* ticks: when the last call ended, and the last event was */
	struct replay_calls open;
	bool rooted;	/* a selected function is open */
	uint16_t base;	/* depth of the outermost call that is printed */
	uint16_t above; /* callers that were printed above it */
};

struct replay_threads {
	struct replay_thread *list;
	size_t count, room;
	struct hash_table numbers; /* by key */
	uint32_t last;		   /* number of the thread that was found last; 0: none */
};

enum {
	REPLAY_RANGES = 16, /* threads of the first pass */
};

struct replay_job {
	const struct burin_trace *trace;
	const struct view_replay *replay;
	struct view_lines lines;
	struct view_where *where; /* NULL: there are no conditions */
	bool *events;		  /* by event id - 1: printed */
	bool *functions;	  /* by number: selected; NULL: all */
	uint64_t *bounds;
	size_t slices;
	uint64_t begin; /* the first begin of a call, or the first record */
	struct replay_calls
		crossing; /* by begin: calls that do not begin and end in one slice, and open ones */
	struct arena values[REPLAY_RANGES]; /* of these */
	struct replay_worker *workers;
};

/* ---- replay_calls.c */
int replay_calls_add(struct replay_calls *calls, const struct replay_call *call);
/* By begin, callers before their callees. */
void replay_calls_sort(struct replay_calls *calls);
/* replay_thread_find - find or add. @span: if it is another one, the thread begins anew. NULL: no memory. */
struct replay_thread *replay_thread_find(struct replay_threads *threads, uint64_t key, uint64_t span);
/* replay_key - of the stack that a call was on. */
static inline uint64_t replay_key(const struct replay_call *call)
{
	return call_stack_key(call->stack, call->tid);
}
/* replay_key_at - of the stack that a record's thread was on. */
uint64_t replay_key_at(const struct replay_job *job, const struct burin_record *record);
void replay_threads_free(struct replay_threads *threads);
/* replay_take - a record as a call that is to be printed. @formatter: for its thread. Return: false: it is none; `begin`
 * is that of a call that is not printed, or UINT64_MAX. */
bool replay_take(const struct replay_job *job, struct view_line_formatter *formatter,
		 const struct burin_record *record, struct replay_call *call);
/* replay_take_values - keep the arguments and the result of a call. Return: 0 or -ENOMEM. */
int replay_take_values(const struct replay_job *job, const struct burin_record *record, struct arena *arena,
		       struct replay_call *call);
/* replay_has_event - whether a record is an event or a sample that is to be printed. */
bool replay_has_event(const struct replay_job *job, struct view_line_formatter *formatter,
		      const struct burin_record *record);
/* replay_begin - the first record, and the open calls, as far as `begin` goes. */
uint64_t replay_begin(const struct burin_trace *trace, const struct burin_calls *calls);
/* replay_find_crossing - the first pass. Return: 0 or -ENOMEM. */
int replay_find_crossing(struct replay_job *job);

/* ---- replay_slice.c */
int replay_slice(void *data, unsigned number, size_t slice, struct view_ordered *ordered,
		 struct view_buffer *out);
/* replay_workers_make - for each thread of the job. Return: false: no memory. */
bool replay_workers_make(struct replay_job *job);
void replay_workers_free(struct replay_job *job);

/* ---- replay_lines.c */
struct replay_line {
	struct view_line_formatter *formatter;
	const struct burin_record *record; /* of the thread, at the line's time */
	const struct replay_call *call;	   /* NULL: none */
	unsigned level;
};

enum replay_form {
	REPLAY_BEGIN, /* main() { */
	REPLAY_LEAF,  /* main(); */
	REPLAY_END,   /* } */
	REPLAY_ABOVE, /* a caller of the call that is printed next */
};

void replay_line_call(const struct replay_job *job, const struct replay_line *line, enum replay_form form,
		      struct view_buffer *out);
/* replay_line_event - keep the line of an event, for replay_line_indent(). */
void replay_line_event(const struct replay_job *job, const struct replay_line *line, struct view_buffer *out);
/* replay_line_indent - print a line that was kept. */
void replay_line_indent(const char *text, size_t bytes, unsigned level, struct view_buffer *out);

#endif
