/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* All that burin top counts, of one process, of a session with its processes, or of the whole machine. */
#ifndef BURIN_CMD_TOP_TOP_SOURCES_H
#define BURIN_CMD_TOP_TOP_SOURCES_H

#include "cmd/record/recorder/attach.h"
#include "cmd/top/top_functions.h"
#include "cmd/top/top_live.h"
#include "cmd/top/top_threads.h"

enum {
	TOP_ROUND_MS =
		100, /* between two readings of the rings, which have room for a second of a busy program */
};

struct top_options {
	uint64_t pid;		  /* the threads of this process, with stacks; 0: none */
	const char *target;	  /* a session; NULL: none */
	bool all;		  /* all processes of the machine */
	struct view_globs events; /* to be switched on meanwhile */
	uint64_t count, delay, limit;
	bool batch, json;
};

struct top_sources {
	const struct top_options *options;
	struct attachment attachment; /* without a target only its signals */
	bool attached;
	struct top_live live;
	struct top_functions functions;
	struct top_threads *processes; /* by pid */
	size_t process_count, process_room;
	struct top_thread *threads; /* of all processes */
	size_t thread_count, thread_room;
	char title[128]; /* the process or program, for people */
};

/* top_sources_begin - Return: 0, or the exit code after a message; then top_sources_end(), too. */
int top_sources_begin(struct top_sources *sources, const struct top_options *options);

/*
 * top_sources_wait - read events for a time.
 * Return: 0; 1: the program has ended, or a signal came; -ENOMEM.
 */
int top_sources_wait(struct top_sources *sources, int ms);

/* top_sources_rows - what was counted since the last call. The rows live until the next one. Return: 0; -ESRCH: the process has ended; another -errno. */
int top_sources_rows(struct top_sources *sources, struct top_rows *rows);

/* top_sources_refused - print why a process cannot be read; 0: why processes cannot. Return: the exit code. */
int top_sources_refused(uint32_t pid, int error);

/* top_sources_head - lines about all threads and all records. */
void top_sources_head(const struct top_sources *sources, const struct top_rows *rows,
		      struct view_buffer *out);

/* top_sources_over - print a line about the end, unless a signal asked for it. */
void top_sources_over(const struct top_sources *sources);

/* top_sources_end - switch events off again, and free everything. Return: @result, or another exit code. */
int top_sources_end(struct top_sources *sources, int result);

#endif
