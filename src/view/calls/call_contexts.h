/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calling contexts: the calls of all threads, merged by their path from the root.
 *
 * A node has the calls of a function that have the same functions around them. Nodes are numbered from 1; the caller of a
 * node has a lower number; node 0 is the root of all.
 *
 * Below CALL_CONTEXT_DEPTH calls, and beyond CALL_CONTEXTS_MAX nodes, there are no nodes: the time of such calls is self
 * time of the context that they are in, and they are counted (`folded`).
 */
#ifndef BURIN_VIEW_CALLS_CALL_CONTEXTS_H
#define BURIN_VIEW_CALLS_CALL_CONTEXTS_H

#include <sys/types.h>

#include "burin/calls.h"
#include "view/profile/profile_view.h"

enum {
	CALL_CONTEXT_DEPTH = 500,
	CALL_CONTEXTS_MAX = 1 << 21,
};

struct call_context {
	uint32_t caller;      /* node; 0: the root */
	uint32_t child, next; /* nodes; 0: none. Largest total first */
	uint32_t key;	      /* function and image */
	uint32_t function;    /* number, of its first call */
	uint32_t depth;	      /* of an outermost call: 1 */
	uint64_t calls;
	uint64_t self, total; /* ticks, over all calls */
};

struct call_contexts {
	const struct burin_trace *trace;
	struct burin_calls *calls;
	struct view_keys keys;	    /* symbol and image */
	struct call_context *nodes; /* by number */
	uint32_t count;		    /* with node 0 */
	size_t room;
	struct hash_table numbers; /* by caller and key */
	uint64_t call_count, open, folded;
	uint64_t time; /* ticks: the total of all outermost calls */
	size_t threads;
};

/*
 * call_contexts_make - merge the calls that a filter selects: calls of its threads, within its times.
 * Context: allocates; uses threads. Return: 0; -ENODATA: the trace has no calls, or only counts; -ENOMEM.
 */
int call_contexts_make(struct call_contexts *contexts, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, unsigned threads);
void call_contexts_free(struct call_contexts *contexts);

/* call_contexts_by_function - the calls of each function, by its number. Return: the caller frees them; NULL: no memory. */
uint64_t *call_contexts_by_function(const struct call_contexts *contexts);

/* ---- A function's callers and callees */

/* Calls between two functions; the total counts recursion once. */
struct call_edge {
	uint32_t key; /* 0: none, the calls are outermost */
	uint64_t calls, total;
};

struct call_neighbours {
	uint32_t key;
	uint64_t calls, self, total;
	struct call_edge *callers, *callees; /* largest total first */
	size_t caller_count, callee_count;
};

/* call_neighbours_make - the callers and callees of a function. Return: 0; -ENOMEM. */
int call_neighbours_make(struct call_neighbours *neighbours, const struct call_contexts *contexts,
			 uint32_t key);
void call_neighbours_free(struct call_neighbours *neighbours);

/*
 * call_contexts_find - the functions that a glob selects (view_symbol_fits()), largest total first, as keys.
 * @keys: the caller frees it. Return: their number; -ENOMEM.
 */
ssize_t call_contexts_find(const struct call_contexts *contexts, const char *glob, uint32_t **keys);

/* ---- Output */

struct call_graph_report {
	double min;	/* percent: nodes with a smaller share of the time are left out */
	uint32_t depth; /* levels; 0: all */
	bool color;
};

void call_graph_text(const struct call_contexts *contexts, const struct call_graph_report *report,
		     struct view_buffer *out);
void call_graph_json(const struct call_contexts *contexts, const struct call_graph_report *report,
		     struct view_buffer *out);
/* Of some functions: their callers and callees. Return: 0; -ENOMEM. */
int call_graph_of_text(const struct call_contexts *contexts, const struct call_graph_report *report,
		       const uint32_t *keys, size_t count, struct view_buffer *out);
int call_graph_of_json(const struct call_contexts *contexts, const struct call_graph_report *report,
		       const uint32_t *keys, size_t count, struct view_buffer *out);

#endif
