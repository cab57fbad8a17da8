/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The texts about processes, threads and the recording: task.txt, info, events.txt. */
#ifndef BURIN_EXPORT_UFTRACE_UFTRACE_TASKS_H
#define BURIN_EXPORT_UFTRACE_UFTRACE_TASKS_H

#include "export/uftrace/uftrace_order.h"

/* uftrace_tasks_write - write these files, after the first pass. Return: 0 or -errno. */
int uftrace_tasks_write(const struct uftrace_order *order, struct uftrace_directory *directory);

#endif
