/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The slowest spans; see span_pick.h.
 *
 * The trace is read twice. The first time only the durations are kept, 8 bytes each. From them the limits follow: the least duration of the
 * slowest spans, and those of the ranks around the median. Of spans as long as the least one, some may be more than were asked for: they
 * are taken in the order of their ends. The second time the spans within the limits are kept.
 *
 * Of a list that would become too long, each span has the same chance to be in it. The numbers that decide are the same in each run.
 */
#include "view/spans/span_pick.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "base/random.h"
#include "view/spans/span_threads.h"

enum {
	ROUNDS_MAX = 100, /* of halving, for which 60 are enough as a rule */
};

/* Durations of a group, and the limits that follow. */
struct limits {
	uint64_t *durations;
	size_t count, room;
	uint64_t slow;	/* the slowest are longer ... */
	uint64_t equal; /* ... or as long, and among the first so many */
	uint64_t from, to;
};

struct picker {
	struct span_pick *pick;
	const struct span_pick_options *options;
	struct span_join join;
	struct span_threads threads;
	struct limits *limits; /* by group */
	uint32_t *group_of;    /* by definition: group + 1 */
	size_t limit_room, definition_room;
	uint32_t *by_name; /* by string: group + 1 */
	size_t name_room;
	uint64_t random;
};

/* ---- Ranks */

static void swap(uint64_t *one, uint64_t *other)
{
	const uint64_t kept = *one;

	*one = *other;
	*other = kept;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return number_order(*one, *other);
}

/*
 * The number of a rank, from 0, of numbers that are put in another order: those before it are not larger. Halves of any size cost little; if a
 * trace has numbers that are made to divide badly, they are sorted.
 */
static uint64_t number_of_rank(uint64_t *numbers, size_t count, size_t rank)
{
	size_t low = 0, high = count;

	for (unsigned rounds = 0; high - low > 1; rounds++) {
		const uint64_t pivot = numbers[low + (high - low) / 2];
		size_t less = low, at = low, more = high;

		while (at < more)
			if (numbers[at] < pivot)
				swap(&numbers[less++], &numbers[at++]);
			else if (numbers[at] > pivot)
				swap(&numbers[at], &numbers[--more]);
			else
				at++;
		if (rank >= less && rank < more)
			return pivot;
		if (rounds == ROUNDS_MAX) {
			qsort(numbers, count, sizeof(*numbers), by_size);
			return numbers[rank];
		}
		low = rank < less ? low : more;
		high = rank < less ? less : high;
	}
	return numbers[low];
}

/* How many of a group's spans are its slowest. */
static uint64_t slowest_of(const struct span_pick_options *options, size_t count)
{
	const double share = ceil((double)count * options->share - 1e-9);

	if (options->share == 0)
		return options->count < count ? options->count : count;
	return share < 1 ? 1 : (uint64_t)share;
}

static void find_limits(struct picker *picker, size_t number)
{
	struct span_group *group = &picker->pick->groups[number];
	struct limits *limits = &picker->limits[number];
	const size_t count = limits->count;
	const uint64_t slowest = slowest_of(picker->options, count);
	uint64_t longer = 0;

	group->count = count;
	group->slowest.all = slowest;
	group->median = number_of_rank(limits->durations, count, (count + 1) / 2 - 1);
	limits->slow = number_of_rank(limits->durations, count, count - slowest);
	limits->from = number_of_rank(limits->durations, count, count * SPAN_BAND_FROM / 100);
	limits->to = number_of_rank(limits->durations, count, (count * SPAN_BAND_TO + 99) / 100 - 1);
	for (size_t n = 0; n < count; n++)
		longer += limits->durations[n] > limits->slow;
	limits->equal = slowest - longer;
}

/* ---- Groups */

/* Return: the group of a span, which is made if it is new; SIZE_MAX: no memory. */
static size_t group_of(struct picker *picker, const struct span_ended *span)
{
	struct span_pick *pick = picker->pick;
	const uint32_t name =
		picker->options->share == 0 ? 0 : picker->join.events.definitions[span->definition].name;
	uint32_t *known;

	if (!array_reserve_zeroed(picker->group_of, picker->definition_room, (size_t)span->definition + 1))
		return SIZE_MAX;
	known = &picker->group_of[span->definition];
	if (*known)
		return *known - 1;
	if (!array_reserve_zeroed(picker->by_name, picker->name_room, (size_t)name + 1))
		return SIZE_MAX;
	*known = picker->by_name[name];
	if (*known)
		return *known - 1;
	if (!array_reserve(pick->groups, pick->group_room, pick->group_count + 1) ||
	    !array_reserve_zeroed(picker->limits, picker->limit_room, pick->group_count + 1))
		return SIZE_MAX;
	pick->groups[pick->group_count++] = (struct span_group){ .name = name };
	*known = picker->by_name[name] = (uint32_t)pick->group_count;
	return *known - 1;
}

/* ---- The first reading */

static int take_duration(void *data, const struct span_ended *span)
{
	struct picker *picker = data;
	struct limits *limits;
	uint32_t unused;
	size_t group;
	int selected = span_threads_select(&picker->threads, span, &unused);

	if (selected <= 0)
		return selected;
	if (!span->end) {
		picker->pick->open++;
		return 0;
	}
	group = group_of(picker, span);
	if (group == SIZE_MAX)
		return -ENOMEM;
	limits = &picker->limits[group];
	if (!array_reserve(limits->durations, limits->room, limits->count + 1))
		return -ENOMEM;
	limits->durations[limits->count++] = span->end - span->begin;
	picker->pick->groups[group].time += span->end - span->begin;
	picker->pick->spans++;
	return 0;
}

/* ---- The second reading */

/* Add a span to a list, or put it in the place of another one. */
static int add_picked(struct picker *picker, struct span_picks *picks, uint64_t all,
		      const struct span_ended *span)
{
	const struct span_picked picked = { .begin = span->begin,
					    .end = span->end,
					    .name = picker->join.events.definitions[span->definition].name,
					    .tid = span->tid,
					    .end_tid = span->end_tid,
					    .failed = span->failed };

	const size_t max = picker->options->max ? picker->options->max : SPAN_PICK_MAX;

	if (picks->count < max) {
		if (!array_reserve(picks->spans, picks->room, picks->count + 1))
			return -ENOMEM;
		picks->spans[picks->count++] = picked;
		return 0;
	}
	all = random_next(&picker->random) % all;
	if (all < max)
		picks->spans[all] = picked;
	return 0;
}

static int take_span(void *data, const struct span_ended *span)
{
	struct picker *picker = data;
	const uint64_t time = span->end - span->begin;
	struct span_group *group;
	struct limits *limits;
	uint32_t unused;
	size_t number;
	int selected = span->end ? span_threads_select(&picker->threads, span, &unused) : 0;

	if (selected <= 0)
		return selected;
	number = group_of(picker, span);
	if (number == SIZE_MAX)
		return -ENOMEM;
	limits = &picker->limits[number];
	group = &picker->pick->groups[number];
	if (time > limits->slow || (time == limits->slow && limits->equal)) {
		limits->equal -= time == limits->slow;
		limits->count++; /* from 0 on */
		return add_picked(picker, &group->slowest, limits->count, span);
	}
	if (picker->options->share == 0 || time < limits->from || time > limits->to)
		return 0;
	return add_picked(picker, &group->band, ++group->band.all, span);
}

/* ---- The whole */

static int by_duration(const void *a, const void *b)
{
	const struct span_picked *one = a, *other = b;

	return number_order(other->end - other->begin, one->end - one->begin)
		       ?: number_order(one->begin, other->begin);
}

static int by_begin(const void *a, const void *b)
{
	const struct span_picked *one = a, *other = b;

	return number_order(one->begin, other->begin) ?: number_order(one->tid, other->tid);
}

static int by_time(const void *a, const void *b)
{
	const struct span_group *one = a, *other = b;

	return number_order(other->time, one->time) ?: number_order(one->name, other->name);
}

static void sort_picks(struct span_picks *picks, int (*order)(const void *a, const void *b))
{
	if (picks->count)
		qsort(picks->spans, picks->count, sizeof(*picks->spans), order);
}

static int read_once(struct picker *picker, int (*give)(void *data, const struct span_ended *span),
		     const char **missing)
{
	const struct span_options *options = picker->options->spans;
	int result;

	span_threads_init(&picker->threads, picker->pick->trace, options->filter, &picker->pick->strings, 0);
	result = span_join_make(&picker->join, picker->pick->trace, &options->choice, &picker->pick->strings,
				missing);
	picker->join.give = give;
	picker->join.data = picker;
	if (!result)
		result = span_join_read(&picker->join, options->filter->from, options->filter->to,
					options->threads);
	picker->pick->unbegun = picker->join.unbegun;
	span_join_free(&picker->join);
	span_threads_free(&picker->threads);
	return result;
}

static void drop_durations(struct picker *picker)
{
	for (size_t n = 0; n < picker->pick->group_count; n++) {
		free(picker->limits[n].durations);
		picker->limits[n].durations = NULL;
		picker->limits[n].count = 0;
	}
}

int span_pick_make(struct span_pick *pick, const struct burin_trace *trace,
		   const struct span_pick_options *options, const char **missing)
{
	struct picker picker = { .pick = pick, .options = options, .random = RANDOM_BEGIN };
	int result;

	*pick = (struct span_pick){ .trace = trace, .choice = &options->spans->choice };
	result = read_once(&picker, take_duration, missing);
	for (size_t n = 0; n < pick->group_count && !result; n++)
		find_limits(&picker, n);
	drop_durations(&picker);
	if (!result && pick->spans)
		result = read_once(&picker, take_span, missing);
	for (size_t n = 0; n < pick->group_count; n++) {
		sort_picks(&pick->groups[n].slowest, by_duration);
		sort_picks(&pick->groups[n].band, by_begin);
	}
	if (pick->group_count)
		qsort(pick->groups, pick->group_count, sizeof(*pick->groups), by_time);
	free(picker.limits);
	free(picker.group_of);
	free(picker.by_name);
	if (!result && pick->strings.failed)
		result = -ENOMEM;
	if (result)
		span_pick_free(pick);
	return result;
}

void span_pick_free(struct span_pick *pick)
{
	for (size_t n = 0; n < pick->group_count; n++) {
		free(pick->groups[n].slowest.spans);
		free(pick->groups[n].band.spans);
	}
	free(pick->groups);
	view_strings_free(&pick->strings);
	*pick = (struct span_pick){ .trace = NULL };
}
