/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads /proc; see proc_scan.h.
 *
 * The side band reports what changes, so what was there before the recording is read from /proc. Events are
 * open by then, so a mapping that is added during the scan is also reported. Scanned mappings fill gaps only
 * (mappings_fill()), and reported ones replace them (mappings_add()).
 *
 * Reading `maps` needs the lock of a process's memory, which its user can hold for ever. foreign_maps() has a
 * deadline for processes of other users; what was not read is counted by process (budget_over()).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/foreign_file.h"
#include "source/perf/tasks/proc_scan.h"

enum {
	LINES_MAX = 1 << 18, /* of a process' mappings; the kernel permits 65,530 by default */
};

/* Parse a line of /proc/PID/maps. Return: 0; -ENOENT: the mapping is not executable. */
static int parse_mapping(char *line, struct record_map *map)
{
	const char *blank = strchr(line, ' ');
	uint64_t end;
	char rights[8];
	int at = 0;

	*map = (struct record_map){ 0 };
	if (!blank || strnlen(blank, 4) < 4 || blank[3] != 'x')
		return -ENOENT;
	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &map->begin, &end,
		   rights, &map->offset, &map->major, &map->minor, &map->inode, &at) < 7 ||
	    !at || end <= map->begin)
		return -ENOENT;
	map->bytes = end - map->begin;
	/* As the kernel's MMAP2 names such a mapping. */
	map->path = line[at] ? line + at : "//anon";
	return 0;
}

static void proc_scan_add_mapping(struct tasks *tasks, struct sample_process *process,
				  const struct record_map *map)
{
	struct sample_image *image = images_find(tasks->images, process->pid, map);
	struct mapping mapping;

	if (!image)
		return;
	mapping = tasks_mapping(process, image, map);
	if (mappings_fill(&process->mappings, &mapping) != 0)
		budget_over(&tasks->images->budget, BUDGET_MAPPINGS, process->pid);
}

static void scan_mappings(struct tasks *tasks, struct sample_process *process)
{
	char path[64], exe[4096], line[4096 + 128];
	unsigned lines = 0;
	ssize_t bytes;
	FILE *file;
	int maps;

	snprintf(path, sizeof(path), "/proc/%u/exe", process->pid);
	bytes = readlink(path, exe, sizeof(exe) - 1);
	exe[bytes < 0 ? 0 : bytes] = 0;
	budget_round(&tasks->images->budget);
	maps = foreign_maps(process->pid);
	if (maps == -ETIMEDOUT || maps == -EFBIG)
		budget_over(&tasks->images->budget, maps == -EFBIG ? BUDGET_MAPPINGS : BUDGET_WAITS,
			    process->pid);
	file = maps < 0 ? NULL : fdopen(maps, "r");
	if (maps >= 0 && !file)
		close(maps);
	while (file && lines++ < LINES_MAX && fgets(line, sizeof(line), file)) {
		struct record_map map;

		if (parse_mapping(line, &map))
			continue;
		if (!process->program && strcmp(map.path, exe) == 0)
			images_set(&process->program, images_find(tasks->images, process->pid, &map));
		proc_scan_add_mapping(tasks, process, &map);
	}
	if (lines > LINES_MAX)
		budget_over(&tasks->images->budget, BUDGET_MAPPINGS, process->pid);
	if (file)
		fclose(file);
}

/* Call for each entry of a directory that is a number. */
static void each_number(const char *path, void (*call)(struct tasks *tasks, uint32_t number, uint32_t pid),
			struct tasks *tasks, uint32_t pid)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			call(tasks, (uint32_t)strtoul(entry->d_name, NULL, 10), pid);
	if (directory)
		closedir(directory);
}

static void scan_thread(struct tasks *tasks, uint32_t tid, uint32_t pid)
{
	char name[FOREIGN_NAME_MAX];

	foreign_name(pid, tid, name);
	tasks_add(tasks, pid, tid, name);
}

void scan_process(struct tasks *tasks, uint32_t pid)
{
	char path[64];
	struct sample_task *leader;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	if (access(path, F_OK) != 0)
		return;
	scan_thread(tasks, pid, pid); /* first: it creates the process */
	each_number(path, scan_thread, tasks, pid);
	leader = tasks_find(tasks, pid);
	if (leader)
		scan_mappings(tasks, leader->process);
}

static void scan_one(struct tasks *tasks, uint32_t pid, uint32_t unused)
{
	(void)unused;
	scan_process(tasks, pid);
}

void scan_all(struct tasks *tasks)
{
	each_number("/proc", scan_one, tasks, 0);
}

bool scan_is_blocked(uint32_t pid, uint32_t tid)
{
	char path[64], line[512];
	const char *state = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file))
		state = strrchr(line, ')'); /* the last: a thread's name may contain some */
	if (file)
		fclose(file);
	return state && state[1] == ' ' && state[2] && !strchr("RXZ", state[2]);
}
