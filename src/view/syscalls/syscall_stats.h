/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls, counted: how many, how many failed and with which errors, how long they took; by call, and by thread or
 * program.
 *
 * A call of which only one end is in the trace counts, without a time.
 */
#ifndef BURIN_VIEW_SYSCALLS_SYSCALL_STATS_H
#define BURIN_VIEW_SYSCALLS_SYSCALL_STATS_H

#include "view/calls/call_rows.h"
#include "view/kernel/kernel_view.h"

struct syscall_error {
	int error;
	uint64_t calls;
};

struct syscall_row {
	struct call_row
		row; /* its key is the string of the call; self and total are the sum of its durations */
	uint64_t errors;
	struct syscall_error *by_error; /* most calls first */
	size_t error_count, error_room;
};

struct syscall_stats {
	const struct burin_trace *trace;
	struct view_strings strings;
	struct call_rows rows; /* of struct syscall_row */
	uint64_t calls, errors;
	uint64_t unbegun,
		unended; /* calls without one end; those that never end by their nature are not among them */
	size_t threads;
};

/*
 * syscall_stats_make - count the system calls that a filter selects: those that began and ended within its times, of its
 * threads, and with names that match its symbols.
 * @parts: 1 << enum view_part; VIEW_SYMBOL is the system call
 * Context: allocates. Return: 0; -ENODATA: the trace has no system calls; -EDOM: see the filter's ->where; -ENOMEM.
 */
int syscall_stats_make(struct syscall_stats *stats, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, unsigned parts);
void syscall_stats_free(struct syscall_stats *stats);

/* Rows in the form of the report: text has what is missing below, JSON is as docs/schema/report-syscalls.json. */
void syscall_stats_print(struct syscall_stats *stats, const struct view_report *report,
			 struct view_buffer *out);

#endif
