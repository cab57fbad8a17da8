/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The time of spans, taken apart: each moment of a span belongs to one part, and the parts add up to its time.
 *
 *	running		in a function of the program, by the samples of the thread; or in a page fault of that function. Its
 *			calls in the C library and in the kernel are a part of it
 *	runnable	the thread waits for a CPU, behind the thread that runs there
 *	blocked		in a system call or a page fault, at a stack, until a thread or an interrupt wakes it
 *	unknown		no record shows what the thread did
 *	lost		records of the kernel were lost in this time
 *
 * A span is of the thread in which it began. One that ended in another thread is followed backwards: where that thread was blocked, it
 * goes on with the thread that woke it, until the one of its begin is reached.
 *
 * Without switches in the trace, the samples alone show when a thread ran and when it was blocked; the rest is unknown.
 */
#ifndef BURIN_VIEW_BLAME_BLAME_H
#define BURIN_VIEW_BLAME_BLAME_H

#include "view/profile/profile_view.h"
#include "view/spans/span_pick.h"

enum blame_kind {
	BLAME_RUNNING,
	BLAME_FAULT, /* running, in a page fault */
	BLAME_RUNNABLE,
	BLAME_BLOCKED,
	BLAME_UNKNOWN,
	BLAME_LOST,
	BLAME_KINDS,
};

/* Strings; 0: unknown, or it has none. */
struct blame_part {
	enum blame_kind kind;
	uint32_t what;	/* running: the function; runnable: behind which thread; blocked: in what */
	uint32_t stack; /* blocked: as of view/sched/sched_stacks.h, its innermost functions */
	uint32_t by;	/* blocked: the thread or interrupt that ended it */
	uint32_t
		callers; /* running: the program's functions with names, as blame_fold.h has them; 0: folded */
	bool below;	 /* running: in ->what and the functions that it calls */
};

/* Whether the number of a part is the weight of samples, not a time. */
static inline bool blame_is_sampled(const struct blame_part *part)
{
	return part->kind <= BLAME_FAULT;
}

struct blame_share {
	uint32_t part;	 /* of ->parts */
	uint64_t number; /* ns; or a weight, see blame_is_sampled() */
	uint64_t times;
};

/* A span's time: ->running, and those of the shares that are no weights, add up to ->time. */
struct blame_vector {
	uint64_t time, running; /* ns */
	struct blame_share *shares;
	size_t count, room;
	struct hash_table numbers; /* of shares, by part */
};

struct blame {
	const struct burin_trace *trace;
	struct view_strings *strings; /* the caller's */
	struct blame_part *parts;     /* 0 is none; 1: running, without a sample */
	size_t part_count, part_room;
	struct hash_table part_numbers;
	uint32_t *fold_numbers; /* of blame_fold.c, by part; 0 but in a fold */
	size_t fold_room;
	bool has_switches, has_wakes, has_samples, has_stacks;
	bool samples_in_ns;
	uint64_t dropped; /* times that the states kept were too many, and forgotten */
};

enum {
	BLAME_UNSAMPLED = 1, /* the part of a time without samples */
};

/* A span, and where its vector belongs. */
struct blame_span {
	const struct span_picked *span;
	size_t number; /* the caller's */
	struct blame_vector vector;
	bool done;
};

/*
 * blame_make - find the vectors of spans.
 * @strings: the caller's, for as long as the parts are used
 * @spans: of a trace, in any order; they are put into the order of their begins
 * Return: 0; -ENOMEM. Call blame_free() and blame_spans_free() in any case.
 */
int blame_make(struct blame *blame, const struct burin_trace *trace, struct view_strings *strings,
	       struct blame_span *spans, size_t count);
void blame_free(struct blame *blame);
void blame_spans_free(struct blame_span *spans, size_t count);

/*
 * blame_resolve - the parts of one vector as times, the largest first: those of samples get their share of the time that the thread ran.
 * @shares: receives at most ->count + 1
 * Return: how many. Their sum is ->time.
 */
size_t blame_resolve(const struct blame_vector *vector, const struct blame_part *parts,
		     struct blame_share *shares);

/* blame_kind_text - "running", "waiting for a CPU". */
const char *blame_kind_text(enum blame_kind kind);

enum {
	BLAME_TEXT = 4096, /* bytes of a part's text, which is cut there */
};

/* blame_text - "blocked in futex, for lock, at wait < main, woken by server"; any bytes. Return: @text. */
const char *blame_text(const struct blame *blame, uint32_t part, char text[BLAME_TEXT]);
/* blame_json - a part as members of an object. */
void blame_json(const struct blame *blame, uint32_t part, struct json *json);

/* blame_missing_text - what a recording needs for the parts that are missing, a line each. */
void blame_missing_text(const struct blame *blame, struct view_buffer *out);
void blame_missing_json(const struct blame *blame, struct json *json);

#endif
