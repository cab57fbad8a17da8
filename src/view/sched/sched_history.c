/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Intervals that are kept; see sched_history.h.
 *
 * A list is trimmed when it grows. It is moved to the array's begin only when what is left is not the larger part, so moving costs no more
 * than keeping did.
 *
 * Intervals of a list do not overlap, so their ends are in order, and a cut costs as many steps as it has pieces, however long the list is. In
 * a damaged trace they may: each begins where the one before it ended then, so that the pieces still add up.
 */
#include "view/sched/sched_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"

enum {
	INTERVALS_MAX = 4 << 20, /* that are kept; 200 MiB */
};

/* ---- Keeping */

static void trim_list(struct sched_history *history, struct sched_history_list *list)
{
	const size_t before = list->first;

	while (list->first < list->count && list->intervals[list->first].end <= history->floor)
		list->first++;
	history->kept -= list->first - before;
	if (list->first < list->count / 2 || !list->first)
		return;
	list->count -= list->first;
	memmove(list->intervals, list->intervals + list->first, list->count * sizeof(*list->intervals));
	list->first = 0;
}

/* Too much is kept: forget what is not needed; if that is not enough, all. */
static void make_room(struct sched_history *history, uint64_t now)
{
	history->floor = history->find_floor(history->data, now);
	for (size_t n = 0; n < history->room; n++)
		trim_list(history, &history->lists[n]);
	if (history->kept < INTERVALS_MAX / 2)
		return;
	for (size_t n = 0; n < history->room; n++)
		history->lists[n].first = history->lists[n].count = 0;
	history->kept = 0;
	history->dropped++;
}

int sched_history_keep(struct sched_history *history, size_t number, const struct sched_interval *interval)
{
	struct sched_history_list *list;

	if (!array_reserve_zeroed(history->lists, history->room, number + 1))
		return -ENOMEM;
	list = &history->lists[number];
	trim_list(history, list);
	if (interval->end <= history->floor)
		return 0;
	if (history->kept >= INTERVALS_MAX)
		make_room(history, interval->end);
	if (!array_reserve(list->intervals, list->room, list->count + 1))
		return -ENOMEM;
	list->intervals[list->count++] = *interval;
	history->kept++;
	return 0;
}

/* ---- Cutting */

/* The first interval that ends behind a time. */
static size_t find_interval(const struct sched_history_list *list, uint64_t time)
{
	size_t low = list->first, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (list->intervals[middle].end > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct cut {
	uint64_t from, to;
	sched_history_piece piece;
	void *data;
};

/* The part of an interval between two times, and in the cut. */
static int cut_between(const struct cut *cut, const struct sched_interval *interval, uint64_t begin,
		       uint64_t end)
{
	struct sched_interval piece = *interval;

	piece.begin = begin > cut->from ? begin : cut->from;
	piece.end = end < cut->to ? end : cut->to;
	return piece.begin < piece.end ? cut->piece(cut->data, &piece, interval) : 0;
}

int sched_history_cut(const struct sched_history *history, size_t number, uint64_t from, uint64_t to,
		      const struct sched_interval *now, sched_history_piece piece, void *data)
{
	static const struct sched_interval unknown = { .state = SCHED_UNKNOWN };
	static const struct sched_history_list empty;
	const struct sched_history_list *list = number < history->room ? &history->lists[number] : &empty;
	const struct cut cut = { from, to, piece, data };
	struct sched_interval last = now ? *now : unknown;
	uint64_t at = from;
	int error = 0;

	for (size_t n = find_interval(list, from); n < list->count && !error; n++) {
		const struct sched_interval *interval = &list->intervals[n];

		if (interval->begin >= to)
			break;
		error = cut_between(&cut, &unknown, at, interval->begin);
		if (!error)
			error = cut_between(&cut, interval, interval->begin > at ? interval->begin : at,
					    interval->end);
		at = interval->end > at ? interval->end : at;
	}
	if (!error && at < to && last.begin > at) {
		error = cut_between(&cut, &unknown, at, last.begin);
		at = last.begin;
	}
	last.end = to;
	return error ? error : at < to ? cut_between(&cut, &last, at, to) : 0;
}

struct sched_interval sched_history_now(const struct sched *sched, size_t number)
{
	const struct sched_thread *thread = &sched->threads[number];

	return (struct sched_interval){ .thread = (uint32_t)number,
					.state = thread->ended ? SCHED_UNKNOWN : thread->state,
					.what = thread->state == SCHED_BLOCKED ? thread->what : 0,
					.cpu = thread->state == SCHED_RUNNING ? thread->cpu : SCHED_NO_CPU,
					.begin = thread->since };
}

void sched_history_free(struct sched_history *history)
{
	for (size_t n = 0; n < history->room; n++)
		free(history->lists[n].intervals);
	free(history->lists);
	*history = (struct sched_history){ .lists = NULL };
}
