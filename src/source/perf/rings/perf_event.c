/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Events by name; see perf.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "file/tracefs_open.h"
#include "source/perf/rings/perf.h"

const char *const perf_graph_names[PERF_GRAPHS + 1] = {
	[PERF_GRAPH_NONE] = "none",
	[PERF_GRAPH_FP] = "fp",
	[PERF_GRAPH_DWARF] = "dwarf",
	[PERF_GRAPH_BOTH] = "both",
};

static const struct perf_choice events[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, false },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true, false },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, false },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false, false },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, false },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false, false },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false, false },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, true },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false, true },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false, true },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false, true },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false, true },
};

/* Open a file of a tracepoint in tracefs. Return: NULL, and *error. */
static FILE *open_tracepoint(const char *name, const char *part, int *error)
{
	const char *colon = strchr(name, ':');
	const int folder = tracefs_open();
	FILE *opened = NULL;
	char path[256];
	int file;

	*error = folder < 0 ? folder : 0;
	if (folder < 0)
		return NULL;
	snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(colon - name), name, colon + 1, part);
	file = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (file >= 0)
		opened = fdopen(file, "r");
	if (!opened)
		*error = -errno;
	if (file >= 0 && !opened)
		close(file);
	close(folder);
	return opened;
}

/* Read a tracepoint's id. Return: 0 or -errno. */
static int tracepoint_id(const char *name, uint64_t *id)
{
	unsigned long long number = 0;
	int error;
	FILE *file = open_tracepoint(name, "id", &error);

	if (!file)
		return error;
	error = fscanf(file, "%llu", &number) == 1 ? 0 : -EIO;
	fclose(file);
	*id = number;
	return error;
}

int perf_event_field(const char *tracepoint, const char *field, unsigned *offset)
{
	char line[512], found[64];
	unsigned at, size;
	int error;
	FILE *file = open_tracepoint(tracepoint, "format", &error);

	if (!file)
		return error;
	error = -ENOENT;
	while (error && fgets(line, sizeof(line), file))
		/*
		 * A type of one word, as pid_t: those of several words and arrays do not match, and are not
		 * needed.
		 */
		if (sscanf(line, " field:%*s %63[^;]; offset:%u; size:%u;", found, &at, &size) == 3 &&
		    strcmp(found, field) == 0 && size == sizeof(uint32_t)) {
			*offset = at;
			error = 0;
		}
	fclose(file);
	return error;
}

/*
 * The name becomes a path in tracefs. So it has no dot and no slash, with which it could lead out of there.
 */
static bool is_tracepoint(const char *name)
{
	const char *colon = strchr(name, ':');

	if (!colon || colon == name || !colon[1] || strlen(name) > 100)
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-' && c != colon)
			return false;
	return true;
}

int perf_event_find(struct perf_choice *event, const char *name, char *why, size_t bytes)
{
	int error;

	for (unsigned n = 0; n < sizeof(events) / sizeof(*events); n++) {
		if (strcmp(events[n].name, name) == 0) {
			*event = events[n];
			return 0;
		}
	}
	if (!is_tracepoint(name)) {
		snprintf(why, bytes,
			 "unknown event '%.60s'; known are cpu-clock, cycles, page-faults, context-switches, "
			 "..., and the kernel's tracepoints, such as sched:sched_switch",
			 name);
		return -EINVAL;
	}
	*event = (struct perf_choice){ .type = PERF_TYPE_TRACEPOINT };
	snprintf(event->name, sizeof(event->name), "%s", name);
	error = tracepoint_id(name, &event->config);
	if (error == -EACCES || error == -EPERM)
		snprintf(why, bytes, "%.60s: no permission to read tracefs; run as root", name);
	else if (error == -ENODEV)
		snprintf(why, bytes, "%.60s: the kernel has no tracefs", name);
	else if (error)
		snprintf(why, bytes, "%.60s: the kernel has no such tracepoint", name);
	return error ? -EINVAL : 0;
}
