/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A list of processes, with all that they have started. */
#ifndef BURIN_SOURCE_PERF_RINGS_PROCESS_LIST_H
#define BURIN_SOURCE_PERF_RINGS_PROCESS_LIST_H

#include <stddef.h>
#include <sys/types.h>

struct process_list {
	pid_t *pids;
	size_t count, room;
};

/* process_list_add - append a process. Return: 0 or -ENOMEM. */
int process_list_add(struct process_list *list, pid_t pid);

/* process_list_extend - append the descendants that live now and are not in the list. Return: 0 or -ENOMEM. */
int process_list_extend(struct process_list *list);

void process_list_free(struct process_list *list);

#endif
