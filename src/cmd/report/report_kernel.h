/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report of the kernel's events. */
#ifndef BURIN_CMD_REPORT_REPORT_KERNEL_H
#define BURIN_CMD_REPORT_REPORT_KERNEL_H

#include "view/calls/call_stats.h"

/* burin report --syscalls. Return: the exit code. */
int report_syscalls(const char *path, const struct view_report *report, enum call_order order);
/* burin report --sched. Return: the exit code. */
int report_sched(const char *path, const struct view_report *report);
/* burin report --critical. @span: a glob. Return: the exit code. */
int report_critical(const char *path, const char *span, const struct view_report *report);

#endif
