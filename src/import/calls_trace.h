/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace of calls that was not recorded here: one stream, the names of processes and threads, and the tables of calls.
 * There is no session, and the clock counts nanoseconds. The first error is kept, and nothing is written after it.
 */
#ifndef BURIN_IMPORT_CALLS_TRACE_H
#define BURIN_IMPORT_CALLS_TRACE_H

#include "writer/metadata.h"
#include "writer/stream_output.h"
#include "writer/table_writer.h"

/* A stream, and the packet that is being filled. */
struct calls_trace_stream {
	struct stream stream;
	struct wire_packet *packet;
	uint32_t stream_id, used, content; /* bytes: with and without the last record's padding */
	uint64_t first, last, base, count, kept, sequence;
};

struct calls_trace {
	int directory; /* owned by the caller */
	uint8_t uuid[16];
	struct calls_trace_stream records, names;
	struct table_writer images, functions, symbols, open;
	uint32_t texts;
	uint64_t lost;
	int error;
};

/* calls_trace_begin - @directory: empty. Return: 0 or -errno; calls_trace_free() follows in both cases. */
int calls_trace_begin(struct calls_trace *trace, int directory);

/* calls_trace_image, calls_trace_function - add one. @name: NULL: unknown. Return: its number, from 1; 0: ->error. */
uint32_t calls_trace_image(struct calls_trace *trace, const char *path, const void *build_id,
			   size_t build_id_bytes);
uint32_t calls_trace_function(struct calls_trace *trace, uint32_t image, uint64_t offset, uint64_t size,
			      const char *name);

/* calls_trace_process, calls_trace_thread - announce one; in order of time (ns). */
void calls_trace_process(struct calls_trace *trace, uint64_t time, uint32_t pid, uint32_t parent,
			 const char *exe, const char *command);
void calls_trace_thread(struct calls_trace *trace, uint64_t time, uint32_t tid, uint32_t pid,
			const char *name);

/* calls_trace_call - add a call; in order of the ends. */
void calls_trace_call(struct calls_trace *trace, uint32_t tid, uint64_t begin, uint64_t end,
		      uint32_t function, uint32_t depth);

/* calls_trace_lost - count records that were lost before the next call. */
void calls_trace_lost(struct calls_trace *trace, uint64_t count);

/* calls_trace_open - add a call that had not ended. @stack: a number of its stack, from 1 */
void calls_trace_open(struct calls_trace *trace, uint32_t stack, uint32_t tid, uint32_t pid, uint32_t depth,
		      uint32_t function, uint64_t start);

/* calls_trace_finish - write all else. @recording: its clock, command and result. Return: 0 or the first error. */
int calls_trace_finish(struct calls_trace *trace, struct recording recording);

void calls_trace_free(struct calls_trace *trace);

#endif
