/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The samples of spans, by functions. blame_make() keeps each stack as a part of its own; folding adds these up, to a part for each innermost
 * function.
 *
 * A slow request is often slow in many small functions: of redis' KEYS, no function has a third. So if most of what the slowest spans ran longer
 * is below one function, its samples are one part: that of the command, not that of the hash table. It is the innermost function with
 * a name and FOLD_SHARE of the difference, and at least half of the slowest spans have a sample of it.
 */
#ifndef BURIN_VIEW_BLAME_BLAME_FOLD_H
#define BURIN_VIEW_BLAME_BLAME_FOLD_H

#include "view/blame/blame.h"

enum {
	FOLD_SHARE = 75,    /* percent */
	FOLD_SPANS_MIN = 5, /* that have samples of the function */
	FOLD_CALLEES = 4,   /* innermost functions that are named */
};

/* An innermost function below the common one. */
struct blame_callee {
	uint32_t name; /* string */
	uint64_t weight;
};

struct blame_fold {
	const struct blame *blame;
	struct fold_chain *chains; /* callers of folded parts */
	size_t chain_count, chain_room;
	uint32_t function; /* string: below which the difference is; 0: none */
	struct blame_callee
		callees[FOLD_CALLEES]; /* the heaviest first, of the slowest spans; .name 0: no more */
	uint64_t weight;	       /* of running below the function, in the slowest spans */
};

struct blame_set {
	struct blame_vector *const *vectors;
	size_t count;
};

/*
 * blame_fold_make - fold the vectors of two sets. Without a second set there is no common function.
 * Return: 0; -ENOMEM. Call blame_fold_free() in any case.
 */
int blame_fold_make(struct blame_fold *fold, struct blame *blame, struct blame_set slow,
		    struct blame_set band);
void blame_fold_free(struct blame_fold *fold);

/* blame_fold_text - as blame_text(), with callers: "running below keysCommand < call < processCommand". */
const char *blame_fold_text(const struct blame_fold *fold, uint32_t part, char text[BLAME_TEXT]);
/* blame_fold_json - the same as members of an object. */
void blame_fold_json(const struct blame_fold *fold, uint32_t part, struct json *json);
/* blame_fold_callees - "dictNext 41%, je_malloc 20%"; empty: the part is not the common one, or it has no callees. */
void blame_fold_callees(const struct blame_fold *fold, uint32_t part, struct view_buffer *out);

#endif
