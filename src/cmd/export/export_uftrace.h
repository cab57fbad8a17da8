/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin export uftrace; also for burin record --format uftrace. */
#ifndef BURIN_CMD_EXPORT_EXPORT_UFTRACE_H
#define BURIN_CMD_EXPORT_EXPORT_UFTRACE_H

#include <stdbool.h>

/*
 * export_uftrace_into - write the calls of a trace into an empty directory; print what uftrace will not show.
 * @trace, @output: paths, for messages
 * @trace_fd, @output_fd: the open directories, owned by the caller
 * @quiet: print problems only
 * Return: the exit code, after a message.
 */
int export_uftrace_into(const char *trace, int trace_fd, const char *output, int output_fd, bool quiet);

/* export_uftrace - make the directory @output and write the calls of the trace into it. Return: the exit code. */
int export_uftrace(const char *trace, const char *output);

#endif
