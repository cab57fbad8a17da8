/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The files and other objects of descriptors, as far as calls show them for certain. A table is known from an exec on, which gives the
 * process one of its own, and from a fork of a process with such a table; others are hidden. A descriptor is known if the call that made it is. The kernel
 * gives a new one only a free number, so one that is known stays until it is closed or replaced: calls that
 * only make descriptors may be unknown. It is forgotten when such a call begins. If one for its number ran while it was made,
 * it is not known. The module knows nothing of traces.
 */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_DESCRIPTORS_H
#define BURIN_VIEW_SYSCALLS_VALUES_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum descriptor_action {
	DESCRIPTOR_NOTHING,
	DESCRIPTOR_OPEN,     /* the result is a new one, of ->object */
	DESCRIPTOR_PAIR,     /* two new ones, for descriptors_made() */
	DESCRIPTOR_COPY,     /* the result is a copy of ->first */
	DESCRIPTOR_REPLACE,  /* ->last becomes a copy of ->first */
	DESCRIPTOR_CLOSE,    /* from ->first to ->last */
	DESCRIPTOR_INHERIT,  /* these are closed by an exec, or not: ->close_on_exec */
	DESCRIPTOR_SEPARATE, /* the thread gets a table of its own */
	DESCRIPTOR_EXEC,
	DESCRIPTOR_HIDE,     /* calls change the table unseen, until an exec */
	DESCRIPTOR_HIDE_ALL, /* the same, also behind it */
};

/* A call's effect on the table. */
struct descriptor_change {
	enum descriptor_action action;
	bool close_on_exec;
	bool under; /* ->object is certain only if ->first stays: an open that begins at a directory */
	uint32_t first, last;
	uint32_t object; /* any number of the user's; 0: unknown */
};

struct descriptors {
	struct descriptor_table *tables;
	size_t table_count, table_room;
	size_t slots;			   /* of all tables */
	uint32_t unused;		   /* a table that no thread has; 0: none */
	struct descriptor_thread *threads; /* by the user's numbers */
	size_t thread_room;
};

/*
 * descriptors_begin - a thread's call begins.
 * @thread: any number of the user's, which counts from 0
 * Return: false: no memory.
 */
bool descriptors_begin(struct descriptors *all, size_t thread, const struct descriptor_change *change,
		       uint64_t time);

/*
 * descriptors_end - it has ended.
 * @made: receives what its result refers to; 0: it is unknown, or no descriptor
 * Return: false: no memory.
 */
bool descriptors_end(struct descriptors *all, size_t thread, int64_t result, uint64_t time, uint32_t *made);

/* descriptors_made - a call that makes two has made this one; before descriptors_end(). Return: false: no memory. */
bool descriptors_made(struct descriptors *all, size_t thread, int64_t descriptor, uint64_t time);

/* descriptors_missed - the end of the thread's call is missing. */
void descriptors_missed(struct descriptors *all, size_t thread, uint64_t time);

/* descriptors_executed - an exec has succeeded of which the begin is missing. Return: false: no memory. */
bool descriptors_executed(struct descriptors *all, size_t thread);

/*
 * descriptors_fork - a thread has made another one.
 * @shares: they have one table; @joins: they are of one process
 * @begin: of the call that made it
 * Return: false: no memory.
 */
bool descriptors_fork(struct descriptors *all, size_t thread, size_t child, bool shares, bool joins,
		      uint64_t begin);

/* descriptors_exit - a thread has ended, or makes no more calls. */
void descriptors_exit(struct descriptors *all, size_t thread, uint64_t time);

/*
 * descriptors_object - what a thread's descriptor refers to.
 * @before: since then, at least
 * Return: 0: unknown.
 */
uint32_t descriptors_object(const struct descriptors *all, size_t thread, uint64_t descriptor,
			    uint64_t before);

void descriptors_free(struct descriptors *all);

#endif
