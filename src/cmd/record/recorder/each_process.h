/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Processes, and all that they have started. */
#ifndef BURIN_CMD_RECORD_RECORDER_EACH_PROCESS_H
#define BURIN_CMD_RECORD_RECORDER_EACH_PROCESS_H

#include <sys/types.h>

#include "view/records/selection.h"

/*
 * each_process - call a function for each process and its descendants.
 * @looks: how often; a second look finds what was started during the first one
 * @each: returns 0; -ESRCH: it has ended; another error ends the walk
 * Return: 0; that error; -ENOMEM.
 */
int each_process(const struct view_set *processes, int looks, int (*each)(void *context, pid_t process),
		 void *context);

#endif
