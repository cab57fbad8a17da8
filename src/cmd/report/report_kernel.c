/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report of the kernel's events; see report_kernel.h. */
#include "cmd/report/report_kernel.h"

#include <errno.h>
#include <unistd.h>

#include "cmd/report/open_calls.h"
#include "view/sched/critical.h"
#include "view/sched/sched_report.h"
#include "view/syscalls/syscall_stats.h"

/* Write what was made. @error: why nothing was, or 0. Return: the exit code. */
static int report_kernel_write(struct view_buffer *out, const char *path, int error, const char *what,
			       const char *option)
{
	if (error == -ENODATA)
		return cmd_usage("%s: the trace has no %s; record some with: burin record %s -- COMMAND",
				 path, what, option);
	if (error == -EDOM)
		return cmd_where_failed();
	return error ? cmd_failed("%s: %s", path, cmd_error(error))
		     : cmd_profile_write(out, dup(STDOUT_FILENO), NULL);
}

int report_syscalls(const char *path, const struct view_report *report, enum call_order order)
{
	const unsigned parts = view_report_parts(report);
	struct view_buffer out = { .used = 0 };
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
		if (!error) {
			call_rows_sort(&stats.rows, order);
			syscall_stats_print(&stats, report, &out);
			syscall_stats_free(&stats);
		}
		result = report_kernel_write(&out, path, error, "system calls", "-k 'syscalls:*'");
	}
	return cmd_calls_close(&opened, path, result);
}

int report_sched(const char *path, const struct view_report *report)
{
	const unsigned parts = view_report_parts(report);
	struct view_buffer out = { .used = 0 };
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
		if (!error) {
			sched_report_print(&made, report, &out);
			sched_report_free(&made);
		}
		result = report_kernel_write(&out, path, error, "switches of threads", "--sched");
	}
	return cmd_calls_close(&opened, path, result);
}

int report_critical(const char *path, const char *span, const struct view_report *report)
{
	struct view_buffer out = { .used = 0 };
	struct cmd_calls opened;
	struct critical critical;
	int result = cmd_calls_open(&opened, path, cmd_profile_filter()), error;

	if (!result && opened.filter.symbols.count)
		result = cmd_usage("--symbol is for samples and calls; remove it");
	if (!result) {
		error = critical_make(&critical, opened.trace, span, &opened.filter);
		if (!error) {
			critical_print(&critical, report, &out);
			critical_free(&critical);
		}
		if (error == -ENOENT)
			result = cmd_usage(
				"--critical: the trace has no span %s, neither of events nor of system calls",
				span);
		else
			result = report_kernel_write(&out, path, error, "switches of threads", "--sched");
	}
	return cmd_calls_close(&opened, path, result);
}
