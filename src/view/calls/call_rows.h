/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows of counted calls: found by thread and key, put in order, and chosen for a report. Calls are a program's, or the system's. */
#ifndef BURIN_VIEW_CALLS_CALL_ROWS_H
#define BURIN_VIEW_CALLS_CALL_ROWS_H

#include "view/calls/call_durations.h"
#include "view/calls/call_threads.h"
#include "view/profile/profile_view.h"

/* The calls whose parts are equal. */
struct call_row {
	uint32_t task[VIEW_TASK_PARTS]; /* strings of the user; 0: part not selected */
	uint32_t key;			/* the user's */
	uint64_t calls;			/* with those that have no duration */
	uint64_t self, total;		/* ticks */
	struct call_durations durations;
};

struct call_rows {
	struct call_row **rows;
	size_t count, room;
	uint64_t time; /* ticks: the sum of all self times, which call_rows_choose() compares with */
	struct hash_table numbers; /* of rows, by group and key */
};

enum call_order {
	CALL_BY_SELF,
	CALL_BY_TOTAL,
	CALL_BY_CALLS,
	CALL_BY_AVERAGE,
	CALL_BY_P99,
	CALL_BY_MAX,
};

/*
 * call_rows_find - the row of a group of threads and a key; a new one is of zeros otherwise.
 * @group: 0: all threads are one group; @size: of a row, which begins with a struct call_row
 * Return: NULL: no memory.
 */
struct call_row *call_rows_find(struct call_rows *rows, const struct call_threads *threads, uint32_t group,
				uint32_t key, size_t size);
void call_rows_sort(struct call_rows *rows, enum call_order order);
/* call_rows_choose - put the rows that are printed first, in their order. Return: how many they are. */
size_t call_rows_choose(struct call_rows *rows, const struct view_report *report);
/* Also the rows; what a larger row owns is its user's. */
void call_rows_free(struct call_rows *rows);

#endif
