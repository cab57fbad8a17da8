/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Instances of tracefs; see tracefs_instance.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"
#include "source/kernel/mechanisms/tracefs_instance.h"

enum {
	NAME = 64,
};

static const char form[] = "burin-%" PRIu32 "-%" PRIu64;

static void own_name(char out[NAME])
{
	const uint32_t pid = (uint32_t)getpid();

	snprintf(out, NAME, form, pid, session_start_time(pid));
}

static int open_instances(int events)
{
	const int instances = openat(events, "../instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return instances < 0 ? -errno : instances;
}

int tracefs_instance_make(int events)
{
	const int instances = open_instances(events);
	char name[NAME];
	int result;

	if (instances < 0)
		return instances;
	own_name(name);
	result = mkdirat(instances, name, 0700) == 0
			 ? openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			 : -1;
	result = result < 0 ? -errno : result;
	close(instances);
	return result;
}

static int remove_named(int events, const char *name)
{
	const int instances = open_instances(events);
	int error;

	if (instances < 0)
		return instances;
	error = unlinkat(instances, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
	close(instances);
	return error;
}

int tracefs_instance_remove(int events)
{
	char name[NAME];

	own_name(name);
	return remove_named(events, name);
}

/* Whether it was made by a recorder that has ended. */
static bool is_left(const char *name)
{
	char again[NAME];
	uint32_t pid;
	uint64_t start;

	if (sscanf(name, "burin-%" SCNu32 "-%" SCNu64, &pid, &start) != 2)
		return false;
	snprintf(again, sizeof(again), form, pid, start);
	return strcmp(again, name) == 0 && session_start_time(pid) != start;
}

unsigned tracefs_instance_sweep(int events)
{
	const int instances = open_instances(events);
	DIR *in = instances < 0 ? NULL : fdopendir(instances);
	const struct dirent *entry;
	unsigned removed = 0;

	if (!in) {
		if (instances >= 0)
			close(instances);
		return 0;
	}
	while ((entry = readdir(in)))
		if (is_left(entry->d_name) && unlinkat(instances, entry->d_name, AT_REMOVEDIR) == 0)
			removed++;
	closedir(in);
	return removed;
}

int tracefs_instance_write(int folder, const char *path, const char *text)
{
	const int file = openat(folder, path, O_WRONLY | O_CLOEXEC);
	const ssize_t wrote = file < 0 ? -1 : write(file, text, strlen(text));
	const int error = wrote < 0 ? -errno : 0;

	if (file >= 0)
		close(file);
	return error;
}
