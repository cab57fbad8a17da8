/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lists processes; see process_list.h. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "source/perf/rings/process_list.h"

int process_list_add(struct process_list *list, pid_t pid)
{
	if (!array_reserve(list->pids, list->room, list->count + 1))
		return -ENOMEM;
	list->pids[list->count++] = pid;
	return 0;
}

static bool process_list_has(const struct process_list *list, pid_t pid)
{
	for (size_t n = 0; n < list->count; n++)
		if (list->pids[n] == pid)
			return true;
	return false;
}

/* The parent of a process; 0: it has none, or has ended. */
static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	const char *end = NULL;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file))
		end = strrchr(line, ')'); /* the last: a name may contain some */
	if (file)
		fclose(file);
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* All processes, each followed by its parent. */
static int list_all(struct process_list *pairs)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	int error = directory ? 0 : -errno;

	while (errno = 0, !error && (entry = readdir(directory))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		error = process_list_add(pairs, pid);
		if (!error)
			error = process_list_add(pairs, parent_of(pid));
	}
	if (!error)
		error = -errno;
	if (directory)
		closedir(directory);
	return error;
}

int process_list_extend(struct process_list *list)
{
	struct process_list pairs = { 0 };
	int error = list_all(&pairs);
	size_t before = 0;

	/*
	 * A process may be listed before its parent, so one pass finds only some. /proc is read once for all
	 * passes.
	 */
	while (!error && before < list->count) { /* until a pass finds no more */
		before = list->count;
		for (size_t n = 0; !error && n < pairs.count; n += 2)
			if (process_list_has(list, pairs.pids[n + 1]) &&
			    !process_list_has(list, pairs.pids[n]))
				error = process_list_add(list, pairs.pids[n]);
	}
	process_list_free(&pairs);
	return error;
}

void process_list_free(struct process_list *list)
{
	free(list->pids);
	*list = (struct process_list){ 0 };
}
