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

static uint64_t order_number(const struct call_row *row, enum call_order order)
{
	switch (order) {
	case CALL_BY_TOTAL:
		return row->total;
	case CALL_BY_CALLS:
		return row->calls;
	case CALL_BY_AVERAGE:
		return call_durations_average(&row->durations);
	case CALL_BY_P99:
		return call_durations_quantile(&row->durations, 990);
	case CALL_BY_MAX:
		return row->durations.max;
	default:
		return row->self;
	}
}

static int by_order(const void *a, const void *b, void *order)
{
	const struct call_row *one = *(const struct call_row *const *)a,
			      *other = *(const struct call_row *const *)b;
	const enum call_order by = *(const enum call_order *)order;

	return number_order(order_number(other, by), order_number(one, by)) ?:
	       number_order(other->self, one->self) ?:
	       number_order(other->total, one->total) ?:
	       number_order(other->calls, one->calls) ?:
	       number_order(one->key, other->key) ?:
	       memcmp(one->task, other->task, sizeof(one->task));
}

void call_rows_sort(struct call_rows *rows, enum call_order order)
{
	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), by_order, &order);
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
