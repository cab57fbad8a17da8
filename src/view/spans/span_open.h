/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pairs that have begun and not ended, by definition and key. Of equal ones the last one ends first. Keys come and go, such as a number
 * for each request, so an entry is removed with its pair.
 */
#ifndef BURIN_VIEW_SPANS_SPAN_OPEN_H
#define BURIN_VIEW_SPANS_SPAN_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span_open_pair {
	uint64_t key[2];
	uint64_t begin; /* ticks */
	uint32_t definition;
	uint32_t values; /* the user's */
	uint32_t next;	 /* entry + 1 that is equal and older, or free; 0: none */
	uint32_t tid;
	bool out, needs; /* the user's */
};

/* All 0 at first. */
struct span_open {
	struct span_open_pair *entries;
	size_t count, room; /* entries that were ever used */
	uint32_t free;	    /* entry + 1; 0: none */
	uint32_t *slots; /* entry + 1, the last one of its key; 0: free. Open addressing, at most half full */
	size_t slot_room, slot_count;
};

/* span_open_push - a pair begins. Return: false: no memory. */
bool span_open_push(struct span_open *open, const struct span_open_pair *pair);

/* span_open_pop - the last one with the definition and key of @pair ends. Return: false: none has begun. */
bool span_open_pop(struct span_open *open, struct span_open_pair *pair);

/* span_open_each - call a function for each pair that is open, in no order. Return: 0, or the first other result. */
int span_open_each(const struct span_open *open, int (*visit)(void *data, const struct span_open_pair *pair),
		   void *data);

void span_open_free(struct span_open *open);

#endif
