/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples that are kept; see blame_samples.h. Lists are trimmed as those of sched_history.c. */
#include "view/blame/blame_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"

enum {
	SAMPLES_MAX = 8 << 20, /* that are kept; 192 MiB */
};

/* Where the samples behind a time begin. */
static size_t first_behind(const struct blame_sample_list *list, uint64_t time)
{
	size_t low = list->first, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (list->samples[middle].time > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void trim_samples(struct blame_samples *samples, struct blame_sample_list *list, uint64_t floor)
{
	const size_t first = first_behind(list, floor);

	samples->kept -= first - list->first;
	list->first = first;
	if (!first || first < list->count / 2)
		return;
	list->count -= first;
	memmove(list->samples, list->samples + first, list->count * sizeof(*list->samples));
	list->first = 0;
}

/* Too many are kept: forget those that are not needed; if that is not enough, all. */
static void make_sample_room(struct blame_samples *samples, uint64_t floor)
{
	for (size_t n = 0; n < samples->room; n++)
		trim_samples(samples, &samples->lists[n], floor);
	if (samples->kept < SAMPLES_MAX / 2)
		return;
	for (size_t n = 0; n < samples->room; n++)
		samples->lists[n].first = samples->lists[n].count = 0;
	samples->kept = 0;
	samples->dropped++;
}

int blame_samples_keep(struct blame_samples *samples, size_t thread, const struct blame_sample *sample,
		       uint64_t floor)
{
	struct blame_sample_list *list;

	if (!array_reserve_zeroed(samples->lists, samples->room, thread + 1))
		return -ENOMEM;
	list = &samples->lists[thread];
	trim_samples(samples, list, floor);
	if (sample->time <= floor)
		return 0;
	if (samples->kept >= SAMPLES_MAX)
		make_sample_room(samples, floor);
	if (!array_reserve(list->samples, list->room, list->count + 1))
		return -ENOMEM;
	list->samples[list->count++] = *sample;
	samples->kept++;
	return 0;
}

const struct blame_sample *blame_samples_find(const struct blame_samples *samples, size_t thread,
					      uint64_t from, uint64_t to, size_t *count)
{
	const struct blame_sample_list *list = thread < samples->room ? &samples->lists[thread] : NULL;
	size_t first;

	*count = 0;
	if (!list)
		return NULL;
	first = first_behind(list, from);
	*count = first_behind(list, to) - first;
	return list->samples + first;
}

void blame_samples_free(struct blame_samples *samples)
{
	for (size_t n = 0; n < samples->room; n++)
		free(samples->lists[n].samples);
	free(samples->lists);
	*samples = (struct blame_samples){ .lists = NULL };
}
