/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of counted records; see hist_rows.h. */
#include "view/hist/hist_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "view/bar.h"

static uint64_t hist_hash(const struct hist_key *key)
{
	uint64_t hash = hash_pair(hash_pair(key->event, key->value), key->slot);

	for (unsigned n = 0; n < HIST_BY_MAX; n++)
		hash = hash_pair(hash, key->by[n]);
	return hash;
}

/* Return: 0; -E2BIG; -ENOMEM. */
static int hist_new_row(struct hist *hist, const struct hist_key *key, struct hist_row **row)
{
	if (hist->count == HIST_ROWS_MAX)
		return -E2BIG;
	*row = calloc(1, sizeof(**row));
	if (!*row || !array_reserve(hist->rows, hist->room, hist->count + 1)) {
		free(*row);
		return -ENOMEM;
	}
	(*row)->key = *key;
	hist->rows[hist->count++] = *row;
	return 0;
}

int hist_find_row(struct hist *hist, const struct hist_key *key, struct hist_row **row)
{
	const uint64_t hash = hist_hash(key);
	uint32_t number;
	int result;

	for (size_t at = 0; (number = hash_table_next(&hist->numbers, hash, &at));) {
		*row = hist->rows[number - 1];
		if (!memcmp(&(*row)->key, key, sizeof(*key)))
			return 0;
	}
	if (!hash_table_reserve(&hist->numbers))
		return -ENOMEM;
	result = hist_new_row(hist, key, row);
	if (!result)
		hash_table_add(&hist->numbers, hash, (uint32_t)hist->count);
	return result;
}

/* ---- Order */

static int by_group(const void *one, const void *other)
{
	const struct hist_key *a = &(*(const struct hist_row *const *)one)->key,
			      *b = &(*(const struct hist_row *const *)other)->key;
	int order = number_order(a->event, b->event);

	for (unsigned n = 0; n < HIST_BY_MAX && !order; n++)
		order = number_order(a->by[n], b->by[n]);
	order = order ? order : number_order(a->value, b->value);
	return order ? order : number_order(a->slot, b->slot);
}

static int by_records(const void *one, const void *other)
{
	const struct hist_row *a = *(const struct hist_row *const *)one,
			      *b = *(const struct hist_row *const *)other;
	const int order = number_order(b->records, a->records);

	return order ? order : by_group(one, other);
}

static bool same_group(const struct hist_row *one, const struct hist_row *other)
{
	struct hist_key key = one->key;

	key.slot = other->key.slot;
	return memcmp(&key, &other->key, sizeof(key)) == 0;
}

/* Add rows without records, for the intervals from @from on, below @to. */
static int hist_fill_gap(struct hist *hist, struct hist_key key, uint64_t from, uint64_t to)
{
	struct hist_row *row;
	int result = 0;

	for (key.slot = from; key.slot < to && !result; key.slot++)
		result = hist_new_row(hist, &key, &row);
	return result;
}

/* Add the intervals without records: a rate of 0 is a part of a series. Rows are in order of groups. Return: as hist_make(). */
static int hist_fill(struct hist *hist)
{
	const size_t count = hist->count;
	uint64_t first = UINT64_MAX, last = 0;
	int result = 0;

	for (size_t n = 0; n < count; n++) {
		first = hist->rows[n]->key.slot < first ? hist->rows[n]->key.slot : first;
		last = hist->rows[n]->key.slot > last ? hist->rows[n]->key.slot : last;
	}
	for (size_t n = 0; n < count && !result; n++) {
		const struct hist_key key = hist->rows[n]->key;
		const bool ends = n + 1 == count || !same_group(hist->rows[n], hist->rows[n + 1]);
		const uint64_t next = ends ? last + 1 : hist->rows[n + 1]->key.slot;

		if (n == 0 || !same_group(hist->rows[n - 1], hist->rows[n]))
			result = hist_fill_gap(hist, key, first, key.slot);
		if (!result)
			result = hist_fill_gap(hist, key, key.slot + 1, next);
	}
	return result;
}

int hist_sort(struct hist *hist)
{
	const uint64_t every = hist->options->every_ns;
	uint64_t most = 1;
	char text[32];
	int result = 0;

	if (hist->count)
		qsort(hist->rows, hist->count, sizeof(struct hist_row *), every ? by_group : by_records);
	if (every && hist->count) {
		result = hist_fill(hist);
		qsort(hist->rows, hist->count, sizeof(struct hist_row *), by_group);
	}
	for (size_t n = 0; n < hist->count; n++)
		most = hist->rows[n]->records > most ? hist->rows[n]->records : most;
	for (size_t n = 0; n < hist->count; n++) {
		struct hist_row *row = hist->rows[n];
		const uint64_t ns = every && hist->intervals ? hist->intervals[row->key.slot].begin_ns
							     : row->key.slot * every;

		row->bar = (unsigned)(((unsigned __int128)row->records * VIEW_BAR + most - 1) / most);
		snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
		row->begin_ns = every ? ns : UINT64_MAX;
		row->time = every ? view_string(&hist->strings, text) : 0;
	}
	return result ? result : hist->strings.failed ? -ENOMEM : 0;
}

void hist_set_rate(struct hist *hist, double seconds)
{
	for (size_t n = 0; n < hist->count; n++) {
		const double of =
			hist->intervals ? (double)hist->intervals[hist->rows[n]->key.slot].ns / 1e9 : seconds;
		const double rate = of > 0 ? (double)hist->rows[n]->records / of : 0;

		memcpy(&hist->rows[n]->rate_bits, &rate, sizeof(rate));
	}
}

void hist_free(struct hist *hist)
{
	for (size_t n = 0; n < hist->count; n++) {
		value_counts_free(&hist->rows[n]->values);
		free(hist->rows[n]);
	}
	free(hist->rows);
	hash_table_free(&hist->numbers);
	view_strings_free(&hist->strings);
}
