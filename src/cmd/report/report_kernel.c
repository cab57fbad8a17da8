/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report of the kernel's events; see report_kernel.h. */
#include "cmd/report/report_kernel.h"

#include <errno.h>
#include <unistd.h>

#include "cmd/report/open_calls.h"
#include "view/sched/critical.h"
#include "view/sched/sched_report.h"
#include "view/syscalls/syscall_stats.h"

static int report_kernel_failed(const char *path, int error, const char *what, const char *option)
{
	if (error == -ENODATA)
		return cmd_usage("%s: the trace has no %s; record some with: burin record %s -- COMMAND",
				 path, what, option);
	return cmd_failed("%s: %s", path, cmd_error(error));
}

static int print_syscalls(struct syscall_stats *stats, const struct view_report *report,
			  enum call_order order)
{
	struct view_buffer out = { .used = 0 };

	call_rows_sort(&stats->rows, order);
	syscall_stats_print(stats, report, &out);
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

int report_syscalls(const char *path, const struct view_report *report, enum call_order order)
{
	const unsigned parts = view_report_parts(report);
	struct cmd_calls opened;
	struct syscall_stats stats;
	int result, error;

	if (parts & (1u << VIEW_IMAGE | 1u << VIEW_LINE))
		return cmd_usage(
			"--by %s is for samples and calls; give syscall, program, thread, pid or tid",
			parts & 1u << VIEW_IMAGE ? "image" : "line");
	result = cmd_calls_open(&opened, path, cmd_profile_filter());
	if (!result) {
		error = syscall_stats_make(&stats, opened.trace, &opened.filter, parts);
		result = error ? report_kernel_failed(path, error, "system calls", "-k 'syscalls:*'")
			       : print_syscalls(&stats, report, order);
		if (!error)
			syscall_stats_free(&stats);
	}
	return cmd_calls_close(&opened, path, result);
}

static int print_sched(struct sched_report *made, const struct view_report *report)
{
	struct view_buffer out = { .used = 0 };

	sched_report_print(made, report, &out);
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

int report_sched(const char *path, const struct view_report *report)
{
	const unsigned parts = view_report_parts(report);
	struct cmd_calls opened;
	struct sched_report made;
	int result, error;

	if (parts >> VIEW_TASK_PARTS)
		return cmd_usage("--sched: --by may name program, thread, pid and tid");
	result = cmd_calls_open(&opened, path, cmd_profile_filter());
	if (!result && opened.filter.symbols.count)
		result = cmd_usage("--symbol is for samples and calls; remove it");
	if (!result) {
		error = sched_report_make(&made, opened.trace, &opened.filter, parts);
		result = error ? report_kernel_failed(path, error, "switches of threads", "--sched")
			       : print_sched(&made, report);
		if (!error)
			sched_report_free(&made);
	}
	return cmd_calls_close(&opened, path, result);
}

static int print_critical(const struct critical *critical, const struct view_report *report)
{
	struct view_buffer out = { .used = 0 };

	critical_print(critical, report, &out);
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

int report_critical(const char *path, const char *span, const struct view_report *report)
{
	struct cmd_calls opened;
	struct critical critical;
	int result = cmd_calls_open(&opened, path, cmd_profile_filter()), error;

	if (!result && opened.filter.symbols.count)
		result = cmd_usage("--symbol is for samples and calls; remove it");
	if (!result) {
		error = critical_make(&critical, opened.trace, span, &opened.filter);
		if (error == -ENOENT)
			result = cmd_usage(
				"--critical: the trace has no span %s, neither of events nor of system calls",
				span);
		else
			result = error ? report_kernel_failed(path, error, "switches of threads", "--sched")
				       : print_critical(&critical, report);
		if (!error)
			critical_free(&critical);
	}
	return cmd_calls_close(&opened, path, result);
}
