/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Comparison of two sets of spans; see tail.h.
 *
 * Rows are many, so some intervals would exclude 0 by chance. A row is sure if all but 5 % / rows of the draws are on one side of 0: then
 * there is a wrong row in 5 % of the reports, not in 5 % of the rows.
 *
 * The slowest spans are chosen by their time, so whatever differs between spans at all is larger in them. Such a difference is true, but it
 * is no reason to look at it if the slowest are hardly slower than the others. So both limits in tail.h are about sizes.
 *
 * Taking a sample costs some 10 us of the thread that is sampled, 50 in some virtual machines. Spans that are shorter are among the slowest
 * because they have a sample, in whatever function it is. Samples represent the time that they are taken in, so such a set has many more than
 * its time explains. Then no function is sure.
 *
 * The numbers that draw are the same in each run.
 */
#include "view/blame/tail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"

/* Sums over a set. */
struct sums {
	double *parts; /* by number in the comparison: ns, or weights */
	double time, running, weights, samples;
	size_t count;
};

struct drawing {
	const struct blame_part *parts;
	size_t part_count;
	uint32_t *numbers; /* by part: its number in the comparison, from 1; 0: no vector has it */
	uint32_t count;	   /* the largest one */
	struct sums sums;
	uint64_t random;
	double *differences; /* by row and draw */
};

/* ---- Sums and means */

/* Number the parts that vectors have. A trace may have many more, for which no draw takes time. */
static void number_parts(struct drawing *drawing, struct tail_set set)
{
	for (size_t n = 0; n < set.count; n++)
		for (size_t at = 0; at < set.vectors[n]->count; at++) {
			uint32_t *number = &drawing->numbers[set.vectors[n]->shares[at].part];

			*number = *number ? *number : ++drawing->count;
		}
}

static void clear_sums(struct drawing *drawing)
{
	memset(drawing->sums.parts, 0, (drawing->count + (size_t)1) * sizeof(*drawing->sums.parts));
	drawing->sums = (struct sums){ .parts = drawing->sums.parts };
}

static void add_vector(struct drawing *drawing, const struct blame_vector *vector)
{
	struct sums *sums = &drawing->sums;

	sums->time += (double)vector->time;
	sums->running += (double)vector->running;
	sums->count++;
	for (size_t n = 0; n < vector->count; n++) {
		const struct blame_share *share = &vector->shares[n];

		sums->parts[drawing->numbers[share->part]] += (double)share->number;
		if (!blame_is_sampled(&drawing->parts[share->part]))
			continue;
		sums->weights += (double)share->number;
		sums->samples += (double)share->times;
	}
}

/* Whether a set has more samples than chance puts into the time that its spans ran: by 2.5 standard deviations, and half as many again. */
static bool has_too_many(const struct sums *sums)
{
	const double expected = sums->weights > 0 ? sums->running * sums->samples / sums->weights : 0;

	return sums->samples > expected + 2.5 * sqrt(expected) + 1 && sums->samples > 1.5 * expected;
}

/* The mean time of a part. Without any sample, all of the running time is without one. */
static double mean_of(const struct drawing *drawing, uint32_t part)
{
	const struct sums *sums = &drawing->sums;

	if (!sums->count)
		return 0;
	if (!blame_is_sampled(&drawing->parts[part]))
		return sums->parts[drawing->numbers[part]] / (double)sums->count;
	if (sums->weights == 0)
		return part == BLAME_UNSAMPLED ? sums->running / (double)sums->count : 0;
	return sums->running / (double)sums->count * (sums->parts[drawing->numbers[part]] / sums->weights);
}

static void sum_set(struct drawing *drawing, struct tail_set set)
{
	clear_sums(drawing);
	for (size_t n = 0; n < set.count; n++)
		add_vector(drawing, set.vectors[n]);
}

static void draw_set(struct drawing *drawing, struct tail_set set)
{
	clear_sums(drawing);
	for (size_t n = 0; n < set.count; n++)
		add_vector(drawing, set.vectors[random_next(&drawing->random) % set.count]);
}

/* ---- Rows */

static int larger_first(const void *a, const void *b)
{
	const struct tail_row *one = a, *other = b;
	const double left = fabs(one->slow - one->band), right = fabs(other->slow - other->band);

	return left > right ? -1 : left < right ? 1 : number_order(one->part, other->part);
}

static int more_first(const void *a, const void *b)
{
	const struct tail_row *one = a, *other = b;
	const double left = one->slow - one->band, right = other->slow - other->band;

	return left > right ? -1 : left < right ? 1 : number_order(one->part, other->part);
}

/* The parts that either set has, and their means. */
static int find_rows(struct tail *tail, struct drawing *drawing, struct tail_set slow, struct tail_set band,
		     bool in_ns)
{
	tail->rows = calloc(drawing->part_count, sizeof(*tail->rows));
	if (!tail->rows)
		return -ENOMEM;
	sum_set(drawing, slow);
	tail->by_samples = in_ns && has_too_many(&drawing->sums);
	tail->slow = slow.count ? drawing->sums.time / (double)slow.count : 0;
	for (uint32_t part = 1; part < drawing->part_count; part++)
		tail->rows[part] = (struct tail_row){ .part = part, .slow = mean_of(drawing, part) };
	sum_set(drawing, band);
	tail->band = band.count ? drawing->sums.time / (double)band.count : 0;
	for (uint32_t part = 1; part < drawing->part_count; part++) {
		struct tail_row row = tail->rows[part];

		row.band = mean_of(drawing, part);
		tail->more[drawing->parts[part].kind] += row.slow - row.band;
		if (row.slow > 0 || row.band > 0)
			tail->rows[tail->count++] = row;
	}
	if (tail->count)
		qsort(tail->rows, tail->count, sizeof(*tail->rows), larger_first);
	tail->left = tail->count > TAIL_ROWS ? tail->count - TAIL_ROWS : 0;
	tail->count -= tail->left;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const double *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static void judge_row(const struct tail *tail, struct tail_row *row, double *differences, bool enough,
		      bool is_sampled)
{
	const double extra = tail->slow - tail->band, size = fabs(row->slow - row->band);
	const size_t out = (size_t)(0.025 / (double)tail->count * TAIL_DRAWS);

	qsort(differences, TAIL_DRAWS, sizeof(*differences), by_number);
	row->low = differences[TAIL_DRAWS / 40];
	row->high = differences[TAIL_DRAWS - 1 - TAIL_DRAWS / 40];
	/* The others have no sample, so that all of their time is without one: that is no difference. */
	if (row->part == BLAME_UNSAMPLED && row->slow < row->band)
		enough = false;
	if (tail->by_samples && is_sampled)
		enough = false;
	row->sure = enough && (differences[out] > 0 || differences[TAIL_DRAWS - 1 - out] < 0) &&
		    extra * 100 >= TAIL_EXTRA_MIN * tail->band && size * 100 >= TAIL_ROW_MIN * extra;
}

static int draw_intervals(struct tail *tail, struct drawing *drawing, struct tail_set slow,
			  struct tail_set band)
{
	const bool enough = slow.count >= TAIL_SPANS_MIN && band.count >= TAIL_SPANS_MIN;

	drawing->differences = calloc(tail->count * TAIL_DRAWS + 1, sizeof(*drawing->differences));
	if (!drawing->differences)
		return -ENOMEM;
	for (size_t draw = 0; draw < TAIL_DRAWS && tail->count; draw++) {
		draw_set(drawing, slow);
		for (size_t n = 0; n < tail->count; n++)
			drawing->differences[n * TAIL_DRAWS + draw] = mean_of(drawing, tail->rows[n].part);
		draw_set(drawing, band);
		for (size_t n = 0; n < tail->count; n++)
			drawing->differences[n * TAIL_DRAWS + draw] -= mean_of(drawing, tail->rows[n].part);
	}
	for (size_t n = 0; n < tail->count; n++)
		judge_row(tail, &tail->rows[n], drawing->differences + n * TAIL_DRAWS, enough,
			  blame_is_sampled(&drawing->parts[tail->rows[n].part]));
	return 0;
}

/* The span with most of each part. @most: by part. */
static int find_examples(struct tail *tail, const struct drawing *drawing, struct tail_set slow)
{
	uint64_t *most = calloc(drawing->part_count, sizeof(*most));
	size_t *where = calloc(drawing->part_count, sizeof(*where)), room = 1;
	struct blame_share *shares;

	for (size_t n = 0; n < slow.count; n++)
		room = slow.vectors[n]->count + 1 > room ? slow.vectors[n]->count + 1 : room;
	shares = calloc(room, sizeof(*shares));
	for (size_t n = 0; most && where && shares && n < slow.count; n++) {
		const size_t count = blame_resolve(slow.vectors[n], drawing->parts, shares);

		for (size_t at = 0; at < count; at++) {
			const uint32_t part = shares[at].part;

			if (shares[at].number <= most[part])
				continue;
			most[part] = shares[at].number;
			where[part] = n;
		}
	}
	for (size_t n = 0; where && n < tail->count; n++)
		tail->rows[n].example = where[tail->rows[n].part];
	free(most);
	free(where);
	free(shares);
	return most && where && shares ? 0 : -ENOMEM;
}

int tail_make(struct tail *tail, const struct blame_part *parts, size_t part_count, struct tail_set slow,
	      struct tail_set band, bool in_ns)
{
	struct drawing drawing = { .parts = parts,
				   .part_count = part_count ? part_count : 1,
				   .random = RANDOM_BEGIN };
	int error;

	*tail = (struct tail){ .rows = NULL };
	drawing.numbers = calloc(drawing.part_count, sizeof(*drawing.numbers));
	if (!drawing.numbers)
		return -ENOMEM;
	number_parts(&drawing, slow);
	number_parts(&drawing, band);
	drawing.sums.parts = calloc((size_t)drawing.count + 1, sizeof(*drawing.sums.parts));
	error = drawing.sums.parts ? find_rows(tail, &drawing, slow, band, in_ns) : -ENOMEM;
	if (!error && slow.count && band.count)
		error = draw_intervals(tail, &drawing, slow, band);
	if (!error)
		error = find_examples(tail, &drawing, slow);
	if (!error && tail->count)
		qsort(tail->rows, tail->count, sizeof(*tail->rows), more_first);
	free(drawing.numbers);
	free(drawing.sums.parts);
	free(drawing.differences);
	return error;
}

void tail_free(struct tail *tail)
{
	free(tail->rows);
	*tail = (struct tail){ .rows = NULL };
}
