/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The debug information of files that a command loads while it runs: plugins that it opens, programs that it executes.
 *
 * The process that loads one waits for what is known of it (source/calls/functions/call_facts.h), and records may come meanwhile from
 * others. So a child of the recorder reads these files, while the recorder drains.
 */
#ifndef BURIN_CMD_RECORD_SOURCES_LATER_FILES_H
#define BURIN_CMD_RECORD_SOURCES_LATER_FILES_H

#include <sys/types.h>

#include "cmd/record/sources/auto_arguments.h"

struct later_files {
	pid_t child; /* 0: there is none */
	struct session *session;
	struct auto_arguments *found; /* shared with the child */
};

/* later_files_begin - after auto_arguments_find(), whose counts the child continues. Without a process, none waits. */
void later_files_begin(struct later_files *files, struct session *session,
		       const struct auto_arguments *found);

/* later_files_ended - a child of the recorder has ended; if it is this one, no process waits any more. */
void later_files_ended(struct later_files *files, pid_t child);

/* later_files_finish - end the child, and receive its counts. */
void later_files_finish(struct later_files *files, struct auto_arguments *found);

#endif
