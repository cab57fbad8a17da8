/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The calls of one task of uftrace, from its file TID.dat.
 *
 * A record may be followed by arguments, whose size only uftrace's own tables have. They are skipped up to the next bytes
 * that continue the calls: a record whose time, depth and function fit.
 */
#ifndef BURIN_IMPORT_UFTRACE_TASK_H
#define BURIN_IMPORT_UFTRACE_TASK_H

#include "import/uftrace_space.h"

/* A program of a process, from a time on. */
struct uftrace_program {
	uint64_t time;
	uint32_t space;
};

struct uftrace_open {
	uint64_t begin;
	uint32_t function;
};

struct uftrace_call {
	uint64_t begin, end;
	uint32_t function, depth;
};

/* Counts of what is not carried over. */
struct uftrace_left {
	uint64_t arguments; /* records that had some */
	uint64_t events;    /* other than calls */
	uint64_t ends;	    /* of calls that began in another task (a fork) or in a lost part */
	uint64_t damaged;   /* files whose rest is not records */
	uint64_t lost;	    /* as uftrace has counted them */
};

struct uftrace_task {
	uint32_t tid, pid, parent;	  /* parent: process that forked this one; 0: none */
	bool thread;			  /* no process of its own */
	uint64_t time;			  /* ns: when it began */
	struct uftrace_program *programs; /* of a process, by time; owned by the task */
	size_t program_count, program_room;

	uint64_t offset, last; /* of the file: what the buffer begins with; ns */
	unsigned char *buffer;
	size_t at, filled;
	bool ended; /* the file has no more bytes */
	struct uftrace_open *stack;
	size_t depth, room;
	uint32_t base;	   /* recorded depth of the outermost open call */
	uint64_t unwind;   /* open calls that end at `last`, without records of their own */
	uint64_t lost_now; /* records lost before the next call */
	bool known;	   /* `base` */
};

/*
 * uftrace_task_next - the next call that ends.
 * @programs: of the task's process, by time
 * Return: 1; 0: the file has ended: the calls on the stack are open; -errno.
 */
int uftrace_task_next(struct uftrace_task *task, const struct uftrace_task *process,
		      struct uftrace_spaces *spaces, struct uftrace_left *left, struct uftrace_call *call);

void uftrace_task_free(struct uftrace_task *task);

#endif
