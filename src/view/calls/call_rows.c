/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows of counted calls; see call_rows.h.
 *
 * Rows are allocated one by one, since users keep pointers to them while more are added. Each order ends with all
 * parts of a row (by_self()): no two rows are equal, so the output is the same in each run, whatever order threads
 * have decoded spans in.
 */
#include "view/calls/call_rows.h"

#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"

struct call_row *call_rows_find(struct call_rows *rows, const struct call_threads *threads, uint32_t group,
				uint32_t key, size_t size)
{
	const struct call_group *task = group ? &threads->groups[group] : NULL;
	const uint64_t hash = hash_pair(group, key);
	struct call_row *row;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&rows->numbers, hash, &at));) {
		row = rows->rows[number - 1];
		if (row->key == key && (!task || !memcmp(row->task, task->task, sizeof(row->task))))
			return row;
	}
	if (!array_reserve(rows->rows, rows->room, rows->count + 1) || !hash_table_reserve(&rows->numbers))
		return NULL;
	row = calloc(1, size);
	if (!row)
		return NULL;
	row->key = key;
	if (task)
		memcpy(row->task, task->task, sizeof(row->task));
	rows->rows[rows->count++] = row;
	hash_table_add(&rows->numbers, hash, (uint32_t)rows->count);
	return row;
}

/* ---- Order */

static int by_self(const void *a, const void *b)
{
	const struct call_row *const *one = a, *const *other = b;

	return number_order((*other)->self, (*one)->self) ?:
	       number_order((*other)->total, (*one)->total) ?:
	       number_order((*other)->calls, (*one)->calls) ?:
	       number_order((*one)->key, (*other)->key) ?:
	       memcmp((*one)->task, (*other)->task, sizeof((*one)->task));
}

static int by_total(const void *a, const void *b)
{
	const struct call_row *const *one = a, *const *other = b;

	return number_order((*other)->total, (*one)->total) ?: by_self(a, b);
}

static int by_calls(const void *a, const void *b)
{
	const struct call_row *const *one = a, *const *other = b;

	return number_order((*other)->calls, (*one)->calls) ?: by_self(a, b);
}

static int by_average(const void *a, const void *b)
{
	const struct call_row *const *one = a, *const *other = b;

	return number_order(call_durations_average(&(*other)->durations),
			    call_durations_average(&(*one)->durations))
		       ?: by_self(a, b);
}

static int by_p99(const void *a, const void *b)
{
	const struct call_row *const *one = a, *const *other = b;

	return number_order(call_durations_quantile(&(*other)->durations, 99),
			    call_durations_quantile(&(*one)->durations, 99))
		       ?: by_self(a, b);
}

static int by_max(const void *a, const void *b)
{
	const struct call_row *const *one = a, *const *other = b;

	return number_order((*other)->durations.max, (*one)->durations.max) ?: by_self(a, b);
}

void call_rows_sort(struct call_rows *rows, enum call_order order)
{
	static int (*const orders[])(const void *a, const void *b) = {
		[CALL_BY_SELF] = by_self,	[CALL_BY_TOTAL] = by_total, [CALL_BY_CALLS] = by_calls,
		[CALL_BY_AVERAGE] = by_average, [CALL_BY_P99] = by_p99,	    [CALL_BY_MAX] = by_max,
	};

	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), orders[order]);
}

size_t call_rows_choose(struct call_rows *rows, const struct view_report *report)
{
	size_t kept = 0;

	for (size_t n = 0; n < rows->count && kept < report->limit; n++) {
		struct call_row *row = rows->rows[n];

		if ((double)row->total * 100 < report->min * (double)rows->time)
			continue;
		rows->rows[n] = rows->rows[kept];
		rows->rows[kept++] = row;
	}
	return kept;
}

void call_rows_free(struct call_rows *rows)
{
	for (size_t n = 0; n < rows->count; n++) {
		call_durations_free(&rows->rows[n]->durations);
		free(rows->rows[n]);
	}
	free(rows->rows);
	hash_table_free(&rows->numbers);
	*rows = (struct call_rows){ .rows = NULL };
}
