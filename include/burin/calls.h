/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * calls.h - read the calls of a trace: which function a thread called, from when until when. Link with -lburin-read
 * (pkg-config burin-read).
 *
 *	struct burin_calls *calls;
 *	struct burin_call call;
 *
 *	burin_calls_open(&calls, trace);
 *	while (burin_cursor_next(cursor, &record) > 0)
 *		if (!burin_calls_call(calls, record, &call))
 *			puts(burin_calls_name(calls, call.function));
 *	burin_calls_close(calls);
 *
 * A call is a record of the event `burin.call`, or of `burin.call.NAME` if it has arguments, written when the call ended; so the records of a thread are in the order
 * of the ends, callees before their callers. Calls that had not ended when the trace was written are not records: they are
 * listed by burin_calls_open_call().
 *
 * The rules of burin/profile.h hold here too.
 */
#ifndef BURIN_CALLS_H
#define BURIN_CALLS_H

#include <burin/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct burin_calls;

/*
 * burin_calls_open - read the tables that the calls of a trace refer to.
 * @calls: receives the result; NULL on failure
 * @trace: must stay open while it is used
 *
 * Context: allocates; reads files. Return: 0; -ENODATA if the trace has no calls; -ENOMEM.
 */
BURIN_READ_API int burin_calls_open(struct burin_calls **calls, const struct burin_trace *trace);

/* burin_calls_close - free it. NULL is allowed. */
BURIN_READ_API void burin_calls_close(struct burin_calls *calls);

struct burin_call {
	uint32_t function; /* number, from 1; 0: unknown */
	uint32_t tid;
	uint64_t begin, end; /* ticks; `end` of an open call: the end of the trace */
	uint32_t depth;	     /* open calls below it on its stack, modulo 65536 */
	uint32_t
		stack; /* number of its stack, if threads went from stack to stack (swapcontext); 0: the thread's only one */
	uint32_t pid; /* of an open call; otherwise 0 */
};

/* burin_calls_is_call - whether the records of an event are calls. */
BURIN_READ_API int burin_calls_is_call(const struct burin_calls *calls, const struct burin_event *event);

/* burin_calls_call - read a record as a call. Return: 0; -EINVAL if it is not a call. */
BURIN_READ_API int burin_calls_call(const struct burin_calls *calls, const struct burin_record *record,
				    struct burin_call *call);

/* The recorded arguments of a call are fields of its record; its event has their names and types. */
struct burin_call_values {
	unsigned first;	    /* number of the first argument's field, for burin_record_*() */
	unsigned arguments; /* how many were recorded; 0: none */
	int result; /* number of the result's field; -1: it was not recorded, or the call ended without one */
};

/*
 * burin_calls_values - the arguments and the result of a call.
 * A text that could not be read is U+2400 and its address, such as "\xe2\x90\x80" "0x10".
 * Return: 0; -EINVAL if the record is not a call.
 */
BURIN_READ_API int burin_calls_values(const struct burin_calls *calls, const struct burin_record *record,
				      struct burin_call_values *values);

/* burin_calls_open_count, burin_calls_open_call - the calls that had not ended, the outermost of each stack first.
 * Return: 0; -ENOENT behind the last. */
BURIN_READ_API uint32_t burin_calls_open_count(const struct burin_calls *calls);
BURIN_READ_API int burin_calls_open_call(const struct burin_calls *calls, uint32_t n,
					 struct burin_call *call);

/*
 * burin_calls_open_record - the arguments of an open call, as fields of the record that its end would have; the time is the end of
 * the trace. NULL: none were recorded.
 */
BURIN_READ_API const struct burin_record *burin_calls_open_record(const struct burin_calls *calls,
								  uint32_t n);

/* burin_calls_functions - the number of functions; they are numbered from 1. */
BURIN_READ_API uint32_t burin_calls_functions(const struct burin_calls *calls);

/* burin_calls_count - calls of a function that were only counted. */
BURIN_READ_API uint64_t burin_calls_count(const struct burin_calls *calls, uint32_t function);

struct burin_function {
	const char *name; /* NULL: unknown */
	const char *file; /* source file; NULL: unknown */
	uint32_t line;	  /* 0: unknown */
	uint32_t image;	  /* number for burin_profile_image() of burin_calls_profile() */
	uint64_t offset;  /* of its first instruction in the image */
	uint64_t size;	  /* bytes; 0: unknown */
	uint32_t
		same; /* the lowest number of a function with the same image and offset: in each chunk it has another */
};

/* burin_calls_function - a function by its number. Return: 0; -ENOENT. */
BURIN_READ_API int burin_calls_function(const struct burin_calls *calls, uint32_t number,
					struct burin_function *function);

/* burin_calls_profile - the functions as a profile: its stack n is function n, with one frame. */
BURIN_READ_API const struct burin_profile *burin_calls_profile(const struct burin_calls *calls);

#ifdef __cplusplus
}
#endif

#endif
