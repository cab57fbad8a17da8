/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls, counted: how many, how many failed and with which errors, how long they took; by call, and by thread or
 * program.
 *
 * A call of which only one end is in the trace counts, without a time.
 */
#ifndef BURIN_VIEW_KERNEL_SYSCALL_STATS_H
#define BURIN_VIEW_KERNEL_SYSCALL_STATS_H

#include "view/calls/call_stats.h"
#include "view/kernel/kernel_view.h"

struct syscall_error {
	int error;
	uint64_t calls;
};

struct syscall_row {
	uint32_t task[VIEW_TASK_PARTS]; /* strings; 0: part not selected */
	uint32_t call;			/* string; 0: not selected */
	uint64_t calls, errors;
	uint64_t timed; /* calls with both ends */
	/* Ticks, of these. */
	uint64_t time, min, max;
	struct call_histogram durations;
	struct syscall_error *by_error; /* most calls first */
	size_t error_count, error_room;
};

struct syscall_stats {
	const struct burin_trace *trace;
	struct view_strings strings;
	struct syscall_row **rows;
	size_t count, room;
	uint64_t calls, errors, time;
	uint64_t unbegun,
		unended; /* calls without one end; those that never end by their nature are not among them */
	size_t threads;
};

/*
 * syscall_stats_make - count the system calls that a filter selects: those that began and ended within its times, of its
 * threads, and with names that match its symbols.
 * @parts: 1 << enum view_part; VIEW_SYMBOL is the system call
 * Context: allocates. Return: 0; -ENODATA: the trace has no system calls; -ENOMEM.
 */
int syscall_stats_make(struct syscall_stats *stats, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, unsigned parts);
void syscall_stats_free(struct syscall_stats *stats);

/* Most time first, or by calls, average, p99 or max. */
void syscall_stats_sort(struct syscall_stats *stats, enum call_order order);

/* syscall_stats_choose - as call_stats_choose(). Return: how many rows are printed. */
size_t syscall_stats_choose(const struct syscall_stats *stats, const struct call_report *report);

const char *syscall_row_text(const struct syscall_stats *stats, const struct syscall_row *row,
			     enum view_part part);
uint64_t syscall_row_average(const struct syscall_row *row);
uint64_t syscall_row_quantile(const struct syscall_row *row, unsigned percent);

/* The key of a part in JSON and CSV. */
const char *syscall_part_name(enum view_part part);

/* ---- syscall_stats_text.c, syscall_stats_data.c: docs/schema/report-syscalls.json */
void syscall_stats_text(const struct syscall_stats *stats, const struct call_report *report,
			struct view_buffer *out);
void syscall_stats_json(const struct syscall_stats *stats, const struct call_report *report,
			struct view_buffer *out);
void syscall_stats_csv(const struct syscall_stats *stats, const struct call_report *report,
		       struct view_buffer *out);

#endif
