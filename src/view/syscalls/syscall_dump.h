/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Print the system calls of a trace, a line each when it ends, as strace does. Memory: one line for each thread, and each path
 * that a descriptor had.
 */
#ifndef BURIN_VIEW_SYSCALLS_SYSCALL_DUMP_H
#define BURIN_VIEW_SYSCALLS_SYSCALL_DUMP_H

#include "view/records/dump.h"

/*
 * view_syscall_dump - print the calls that a dump selects: by ->events, which match names of calls; by ->where; by processes, threads and CPUs;
 * those that begin and end within its times.
 * Return: 0; -ENODATA: the trace has no system calls; -EDOM: see ->where; -EPIPE; another negative errno.
 */
int view_syscall_dump(const struct burin_trace *trace, const struct view_dump *dump);

#endif
