/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The intervals of threads since a time, while a view still needs them. Each list has intervals of one thread, or of one CPU, in order
 * of time; they do not overlap.
 *
 * Memory is bounded. If too much is needed, all is forgotten and counted: the time that is missing then is SCHED_UNKNOWN.
 */
#ifndef BURIN_VIEW_SCHED_SCHED_HISTORY_H
#define BURIN_VIEW_SCHED_SCHED_HISTORY_H

#include "view/sched/sched_states.h"

struct sched_history_list {
	struct sched_interval *intervals; /* from ->first on */
	size_t first, count, room;
};

/* All 0 at first, but for ->find_floor and ->data. */
struct sched_history {
	struct sched_history_list *lists;
	size_t room;
	size_t kept;	  /* intervals of all lists */
	uint64_t floor;	  /* nothing before this time is needed: it may be too low, never too high */
	uint64_t dropped; /* times that too many were kept, and all were forgotten */
	/* The true floor. @now: the time of the last record */
	uint64_t (*find_floor)(void *data, uint64_t now);
	void *data;
};

/* sched_history_keep - add an interval, unless it ended before the floor. Return: 0; -ENOMEM. */
int sched_history_keep(struct sched_history *history, size_t list, const struct sched_interval *interval);

/* A part of an interval. @whole: the interval; of SCHED_UNKNOWN: there is none. Return: 0, or what ends the cutting. */
typedef int (*sched_history_piece)(void *data, const struct sched_interval *piece,
				   const struct sched_interval *whole);

/*
 * sched_history_cut - cut a time into pieces, one for each interval, and those of SCHED_UNKNOWN where none is. So their sum is the time.
 * @now: what follows the last interval, from its ->begin on, without an end; NULL: unknown
 * Context: @piece does not change the history. Return: 0; the result of @piece.
 */
int sched_history_cut(const struct sched_history *history, size_t list, uint64_t from, uint64_t to,
		      const struct sched_interval *now, sched_history_piece piece, void *data);

/* sched_history_now - the present state of a thread, for the function above. One that has ended has no state. */
struct sched_interval sched_history_now(const struct sched *sched, size_t thread);

void sched_history_free(struct sched_history *history);

#endif
