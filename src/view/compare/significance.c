/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Judging rows; see significance.h. All variances here are of relative differences: of logarithms, or of differences by the mean. */
#include "view/compare/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "view/compare/student.h"

enum {
	SLICES_FREEDOM = 20, /* degrees of freedom of a variance from slices, of both sides */
	WEIGHT_MAX = 100,    /* then a variance is as good as known */
	ROWS_MIN = 8,	     /* of which variances are compared with each other */
	BISECTIONS = 60,
	UNSTEADY =
		4, /* times the common variance: then a row has one of its own, such as a function of the kernel */
};

/* The middle half of the logarithms of variances, in standard deviations: 1.16 to 1.33, by the degrees of freedom. */
#define MIDDLE_HALF 1.25

/* A row that is judged. */
struct judged {
	struct significance_row *row;
	bool ratios;	   /* the difference is that of logarithms */
	double scale;	   /* of differences: the mean of both sides' means, or 1 of ratios */
	double difference; /* of the means */
	double own;	   /* its variance by the exactness of the values */
	double seen;	   /* its variance by the differences between recordings of one side */
	double spread;	   /* 1/a + 1/b: what one unit of variation between recordings makes of it */
	double freedom;	   /* of `seen`; 0: there is none */
	double chance;
};

/* The rows of a group. */
struct judging {
	struct significance_group *how;
	struct judged *list;
	size_t count;
	double freedom; /* of rows that all recordings have */
	double factor;	/* of `own`: below 1, if recordings differ less than slices make expect */
};

static int significance_by_number(const void *a, const void *b)
{
	const double *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

/* @numbers: put in order */
static double significance_median(double *numbers, size_t count)
{
	if (!count)
		return 0;
	qsort(numbers, count, sizeof(*numbers), significance_by_number);
	return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* A value, or its logarithm, in which differences are ratios; with its variance. */
static struct significance_value significance_scaled(struct significance_value value, bool ratios)
{
	if (ratios) {
		value.variance /= value.value * value.value;
		value.value = log(value.value);
	}
	return value;
}

/* Means of a row, or of the logarithms of its values. */
struct significance_sums {
	double mean[2], variance[2];
	double squares; /* of the distances from the mean of a side */
	unsigned counts[2];
};

static void significance_sum_values(const struct significance *how, const struct significance_row *row,
				    bool ratios, struct significance_sums *out)
{
	*out = (struct significance_sums){ 0 };
	for (unsigned n = 0; n < how->recordings; n++) {
		const struct significance_value value = significance_scaled(row->values[n], ratios);
		const unsigned side = how->sides[n];

		if (isnan(row->values[n].value))
			continue;
		out->mean[side] += value.value;
		out->variance[side] += value.variance;
		out->counts[side]++;
	}
	for (unsigned side = 0; side < 2; side++) {
		out->mean[side] = out->counts[side] ? out->mean[side] / out->counts[side] : NAN;
		out->variance[side] /= (double)out->counts[side] * out->counts[side];
	}
	for (unsigned n = 0; n < how->recordings; n++) {
		const double apart =
			significance_scaled(row->values[n], ratios).value - out->mean[how->sides[n]];

		out->squares += isnan(row->values[n].value) ? 0 : apart * apart;
	}
}

/* Disturbances make a time longer by a part of it: so ratios are judged. A value of 0 has none. */
static bool significance_has_ratios(const struct significance *how, const struct significance_row *row)
{
	for (unsigned n = 0; n < how->recordings; n++)
		if (!isnan(row->values[n].value) &&
		    !(row->values[n].value > 0 && isfinite(row->values[n].value)))
			return false;
	return true;
}

/* Means of a row. Return: whether each side has a value. */
static bool significance_sum(const struct significance *how, struct significance_row *row, struct judged *to)
{
	struct significance_sums sums;
	double scale;

	significance_sum_values(how, row, false, &sums);
	row->mean[0] = sums.mean[0];
	row->mean[1] = sums.mean[1];
	row->low = row->high = row->chance = NAN;
	if (!sums.counts[0] || !sums.counts[1])
		return false;
	*to = (struct judged){ .row = row,
			       .ratios = significance_has_ratios(how, row),
			       .spread = 1.0 / sums.counts[0] + 1.0 / sums.counts[1],
			       .freedom = sums.counts[0] + sums.counts[1] - 2.0 };
	scale = to->ratios ? 1 : (row->mean[0] + row->mean[1]) / 2;
	if (!(scale > 0) || !isfinite(scale))
		return false;
	if (to->ratios) {
		significance_sum_values(how, row, true, &sums);
		row->mean[0] = exp(sums.mean[0]);
		row->mean[1] = exp(sums.mean[1]);
	}
	to->scale = scale;
	to->difference = (sums.mean[1] - sums.mean[0]) / scale;
	to->own = (sums.variance[0] + sums.variance[1]) / scale / scale;
	if (to->freedom > 0)
		to->seen = sums.squares / to->freedom * to->spread / scale / scale;
	return isfinite(to->own);
}

static int significance_by_exactness(const void *a, const void *b)
{
	const struct judged *one = a, *other = b;

	return one->own < other->own ? -1 : one->own > other->own;
}

/*
 * The rows that are known best show the variation of all: an eighth of them, at least ROWS_MIN. The others differ by their own
 * inexactness anyway. The rows are in order of it.
 */
static size_t significance_best(const struct judging *judging)
{
	const size_t part = judging->count / 8;

	if (judging->count < ROWS_MIN)
		return judging->count;
	return part > ROWS_MIN ? part : ROWS_MIN;
}

/*
 * The median of the rows' squared differences, each divided by its variance if recordings vary by @between. With the true one it is the
 * median of a variance. Differences of single recordings are from their median: a row that takes more of the time makes all
 * other shares smaller.
 */
static double significance_excess(const struct judging *judging, double between, double middle, double *room)
{
	const size_t best = significance_best(judging);
	size_t used = 0;

	for (size_t n = 0; n < best; n++) {
		const struct judged *row = &judging->list[n];
		const double apart = row->difference - middle,
			     square = judging->freedom > 0 ? row->seen : apart * apart,
			     variance = row->own + between * between * row->spread;

		if (row->freedom == judging->freedom && variance > 0)
			room[used++] = square / variance;
	}
	return significance_median(room, used);
}

static void significance_find_between(struct judging *judging, double *room)
{
	const double wanted = student_variance_median(judging->freedom > 0 ? judging->freedom : 1);
	double low = 0, high = 1, middle = 0, excess;

	judging->factor = 1;
	judging->how->between = 0;
	if (judging->freedom <= 0) {
		const size_t best = significance_best(judging);

		for (size_t n = 0; n < best; n++)
			room[n] = judging->list[n].difference;
		middle = significance_median(room, best);
	}
	excess = significance_excess(judging, 0, middle, room);
	if (excess > wanted && judging->count >= ROWS_MIN) {
		for (int n = 0; n < BISECTIONS; n++) {
			const double half = (low + high) / 2;

			if (significance_excess(judging, half, middle, room) > wanted)
				low = half;
			else
				high = half;
		}
		judging->how->between = high;
	} else if (judging->freedom > 0 && judging->count >= ROWS_MIN) {
		judging->factor = fmax(excess / wanted, 1e-9);
	}
	if (judging->freedom <= 0)
		judging->how->between = fmax(judging->how->between, judging->how->between_min);
}

/* The variance of a row's difference, by what all rows have in common. */
static double significance_common(const struct judging *judging, const struct judged *row)
{
	return judging->factor * row->own + judging->how->between * judging->how->between * row->spread;
}

/*
 * The weight of the common variance: the logarithms of the rows' own variances, divided by it, vary as far as their few degrees of freedom make
 * them, and by how much the true ones differ. The middle half shows how far: rows of another kind are judged by themselves.
 */
static void significance_find_weight(struct judging *judging, double *room)
{
	double variance, low = 0.1, high = WEIGHT_MAX;
	size_t used = 0;

	judging->how->weight = 0;
	for (size_t n = 0; n < judging->count; n++) {
		const struct judged *row = &judging->list[n];
		const double common = significance_common(judging, row);

		if (row->freedom == judging->freedom && common > 0)
			room[used++] = log(fmax(row->seen / common, 1e-6));
	}
	if (used < ROWS_MIN)
		return;
	qsort(room, used, sizeof(*room), significance_by_number);
	variance = (room[used * 3 / 4] - room[used / 4]) / MIDDLE_HALF;
	variance = variance * variance - student_trigamma(judging->freedom / 2);
	for (int n = 0; n < BISECTIONS; n++) {
		const double middle = (low + high) / 2;

		if (student_trigamma(middle / 2) > variance)
			low = middle;
		else
			high = middle;
	}
	judging->how->weight = high;
}

/* The difference of values that a relative one is. */
static double significance_change(const struct judged *row, double difference)
{
	return row->ratios ? row->row->mean[0] * expm1(difference) : row->scale * difference;
}

static void significance_judge_row(const struct judging *judging, struct judged *row)
{
	const double common = significance_common(judging, row), weight = judging->how->weight;
	double variance = common, freedom = SLICES_FREEDOM, error;

	if (row->freedom > 0 && weight > 0 && row->seen <= UNSTEADY * common) {
		freedom = row->freedom + weight;
		variance = (row->freedom * row->seen + weight * common) / freedom;
	} else if (row->freedom > 0) { /* few rows, or one of another kind */
		freedom = row->freedom;
		variance = fmax(row->seen, common);
	} else if (judging->freedom > 0) { /* this row has one recording on each side, others have more */
		freedom = fmax(weight, 1);
	}
	error = sqrt(variance);
	row->chance = row->difference == 0 ? 1 : student_chance(row->difference / error, freedom);
	error *= student_bound(SIGNIFICANCE_LEVEL, freedom);
	row->row->low = significance_change(row, row->difference - error);
	row->row->high = significance_change(row, row->difference + error);
}

static int significance_by_chance(const void *a, const void *b)
{
	const struct judged *one = a, *other = b;

	return one->chance < other->chance ? -1 : one->chance > other->chance;
}

/* Benjamini and Hochberg. */
static void significance_adjust(struct judged *list, size_t count)
{
	double least = 1;

	if (count)
		qsort(list, count, sizeof(*list), significance_by_chance);
	for (size_t n = count; n--;) {
		least = fmin(least, list[n].chance * (double)count / (double)(n + 1));
		list[n].row->chance = least;
	}
}

/* Judge the rows of a group. @list, @room: for them */
static void significance_judge_group(struct significance *how, struct significance_row *rows, size_t count,
				     unsigned group, struct judged *list, double *room)
{
	struct judging judging = { .how = &how->groups[group], .list = list };

	for (size_t n = 0; n < count; n++) {
		struct judged *next = &list[judging.count];

		if (rows[n].group != group || !significance_sum(how, &rows[n], next) || !rows[n].wanted)
			continue;
		judging.freedom = fmax(judging.freedom, next->freedom);
		judging.count++;
	}
	how->groups[group].judged = judging.count;
	how->groups[group].between = how->groups[group].weight = 0;
	how->judged += judging.count;
	how->between_known |= judging.freedom > 0;
	if (!judging.count)
		return;
	qsort(list, judging.count, sizeof(*list), significance_by_exactness);
	significance_find_between(&judging, room);
	if (judging.freedom > 0)
		significance_find_weight(&judging, room);
	for (size_t n = 0; n < judging.count; n++)
		significance_judge_row(&judging, &list[n]);
}

int significance_judge(struct significance *how, struct significance_row *rows, size_t count)
{
	double *room = calloc(count + 1, sizeof(*room));
	struct judged *list = calloc(count + 1, sizeof(*list));
	const int result = room && list ? 0 : -ENOMEM;

	how->judged = 0;
	how->between_known = false;
	for (unsigned group = 0; !result && group < SIGNIFICANCE_GROUPS; group++)
		significance_judge_group(how, rows, count, group, list + how->judged, room);
	if (!result)
		significance_adjust(list, how->judged);
	free(room);
	free(list);
	return result;
}
