/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Recordings compared; see compare.h. */
#include "view/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"

/*
 * How inexact a measure may be by itself. A value that is a share or a rate is 0 in a recording without the row. Its variance is that of
 * independent draws; of single recordings times a factor that their slices show.
 */
static const struct {
	bool drawn;	    /* a share or a rate */
	double factor_min;  /* of samples 1: they are drawn. Spans and calls may be more regular than draws */
	uint64_t one, more; /* what a recording has at least, if a side has one recording, or more */
	double between;	    /* how much single recordings differ at least, as a part of the value */
} compare_rules[COMPARE_MEASURES] = {
	[COMPARE_SHARE] = { true, 1, 0, 0, 0.05 },
	[COMPARE_RATE] = { true, 0.1, 0, 0, 0.15 },
	[COMPARE_CALLS] = { true, 0.1, 0, 0, 0.05 },
	[COMPARE_MEAN] = { false, 0, COMPARE_COUNT_MIN, 5, 0.15 },
	[COMPARE_SELF] = { false, 0, COMPARE_COUNT_MIN, 5, 0.15 },
	[COMPARE_TOTAL] = { false, 0, COMPARE_COUNT_MIN, 5, 0.15 },
	[COMPARE_P50] = { false, 0, 2 * COMPARE_COUNT_MIN, COMPARE_COUNT_MIN, 0.15 },
	[COMPARE_P99] = { false, 0, 500, 100, 0.15 }, /* five, or one, above it */
};

int compare_begin(struct compare *compare, enum compare_kind kind, const uint8_t *sides, unsigned recordings)
{
	*compare = (struct compare){ .kind = kind, .sides = sides, .count = recordings };
	compare->recordings = calloc((size_t)recordings + 1, sizeof(*compare->recordings));
	return compare->recordings ? 0 : -ENOMEM;
}

struct compare_recording *compare_next(struct compare *compare, const char *path)
{
	struct compare_recording *recording = &compare->recordings[compare->at++];

	recording->path = path;
	return recording;
}

static struct compare_row *compare_find(struct compare *compare, uint32_t name, enum compare_measure measure)
{
	const uint64_t hash = hash_pair(name, measure);
	struct compare_row *row;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&compare->numbers, hash, &at));) {
		row = &compare->rows[number - 1];
		if (row->name == name && row->measure == measure)
			return row;
	}
	if (!array_reserve(compare->rows, compare->room, compare->row_count + 1) ||
	    !hash_table_reserve(&compare->numbers))
		return NULL;
	row = &compare->rows[compare->row_count];
	*row = (struct compare_row){ .name = name, .measure = measure, .least = UINT64_MAX };
	row->values = calloc(compare->count, sizeof(*row->values));
	if (!row->values)
		return NULL;
	for (unsigned n = 0; n < compare->count && !compare_rules[measure].drawn; n++)
		row->values[n].value = NAN;
	compare->row_count++;
	hash_table_add(&compare->numbers, hash, (uint32_t)compare->row_count);
	return row;
}

int compare_add(struct compare *compare, uint32_t name, enum compare_measure measure,
		struct significance_value value, uint64_t count)
{
	struct compare_row *row = compare->names.failed ? NULL : compare_find(compare, name, measure);

	if (!row)
		return -ENOMEM;
	row->values[compare->at - 1] = value;
	row->least = count < row->least ? count : row->least;
	row->all += count;
	return 0;
}

bool compare_range(const struct burin_trace *trace, const struct view_profile_filter *filter, uint64_t *begin,
		   uint64_t *end)
{
	if (burin_trace_range(trace, begin, end))
		return false;
	*begin = filter->from > *begin ? filter->from : *begin;
	*end = filter->to && filter->to - 1 < *end ? filter->to - 1 : *end;
	if (*begin <= *end)
		return true;
	*end = *begin;
	return false;
}

double compare_slices(const double parts[COMPARE_SLICES])
{
	double squares = 0;

	/* Neighbours, rather than the mean: what a program does in one of its phases only is not inexact by that. */
	for (unsigned n = 1; n < COMPARE_SLICES; n++)
		squares += (parts[n] - parts[n - 1]) * (parts[n] - parts[n - 1]);
	return squares / 2 * COMPARE_SLICES / (COMPARE_SLICES - 1);
}

struct significance_value compare_ratio(const double parts[COMPARE_SLICES],
					const double whole[COMPARE_SLICES])
{
	double sum = 0, all = 0, ratio, apart[COMPARE_SLICES];

	for (unsigned n = 0; n < COMPARE_SLICES; n++) {
		sum += parts[n];
		all += whole[n];
	}
	if (!(all > 0))
		return (struct significance_value){ NAN, 0 };
	ratio = sum / all;
	for (unsigned n = 0; n < COMPARE_SLICES; n++)
		apart[n] = (parts[n] - ratio * whole[n]) / all;
	return (struct significance_value){ ratio, compare_slices(apart) };
}

/*
 * Replace the variances of a share or a rate, which few samples show badly, by those of draws. Of single recordings the slices of all show how
 * much more than draws they vary. Of more recordings these themselves do: slices of a function that runs in one phase only say too much.
 */
static void compare_pool(const struct compare *compare, struct compare_row *row, bool more)
{
	double mean = 0, seen = 0, drawn = 0, factor;

	for (unsigned n = 0; n < compare->count; n++)
		mean += row->values[n].value / compare->count;
	if (row->measure != COMPARE_RATE)
		mean *= fmax(1 - mean, 0);
	for (unsigned n = 0; n < compare->count; n++) {
		const double draws = compare->recordings[n].draws;

		seen += row->values[n].variance;
		drawn += draws > 0 ? mean / draws : 0;
	}
	factor = more ? 1 : fmax(drawn > 0 ? seen / drawn : 1, compare_rules[row->measure].factor_min);
	for (unsigned n = 0; n < compare->count; n++) {
		const double draws = compare->recordings[n].draws;

		row->values[n].variance = draws > 0 ? factor * mean / draws : 0;
		if (!(draws > 0))
			row->values[n].value = NAN; /* a share of nothing */
	}
}

static bool compare_is_wanted(const struct compare_row *row, bool more)
{
	if (compare_rules[row->measure].drawn)
		return row->all >= COMPARE_COUNT_MIN;
	return row->least >= (more ? compare_rules[row->measure].more : compare_rules[row->measure].one);
}

/* The order of rows: the largest change first, in points of shares, else in parts of the value. */
static double compare_size(const struct compare_row *row)
{
	const double *mean = row->judged->mean, difference = fabs(mean[1] - mean[0]);

	if (isnan(difference))
		return -1;
	if (row->measure == COMPARE_SHARE)
		return difference;
	return mean[0] + mean[1] > 0 ? difference / (mean[0] + mean[1]) : 0;
}

static int compare_by_size(const void *a, const void *b)
{
	const struct compare_row *one = a, *other = b;
	const double left = compare_size(one), right = compare_size(other);

	return left > right   ? -1
	       : left < right ? 1
			      : number_order(one->name, other->name) ?:
				number_order(one->measure, other->measure);
}

int compare_finish(struct compare *compare)
{
	unsigned counts[2] = { 0, 0 };
	bool more;
	int error;

	compare->judged = calloc(compare->row_count + 1, sizeof(*compare->judged));
	if (!compare->judged)
		return -ENOMEM;
	for (unsigned n = 0; n < compare->count; n++)
		counts[compare->sides[n]]++;
	more = counts[0] > 1 || counts[1] > 1;
	for (size_t n = 0; n < compare->row_count; n++) {
		struct compare_row *row = &compare->rows[n];

		if (compare_rules[row->measure].drawn)
			compare_pool(compare, row, more);
		row->judged = &compare->judged[n];
		row->judged->values = row->values;
		row->judged->group = row->measure;
		row->judged->wanted = compare_is_wanted(row, more);
	}
	compare->how = (struct significance){ .sides = compare->sides, .recordings = compare->count };
	for (unsigned n = 0; n < COMPARE_MEASURES; n++)
		compare->how.groups[n].between_min = compare_rules[n].between;
	error = significance_judge(&compare->how, compare->judged, compare->row_count);
	if (!error && compare->row_count)
		qsort(compare->rows, compare->row_count, sizeof(*compare->rows), compare_by_size);
	return error;
}

void compare_free(struct compare *compare)
{
	for (size_t n = 0; n < compare->row_count; n++)
		free(compare->rows[n].values);
	for (unsigned n = 0; compare->recordings && n < compare->count; n++)
		view_buffer_free(&compare->recordings[n].head);
	free(compare->rows);
	free(compare->judged);
	free(compare->recordings);
	view_strings_free(&compare->names);
	hash_table_free(&compare->numbers);
	*compare = (struct compare){ .count = 0 };
}
