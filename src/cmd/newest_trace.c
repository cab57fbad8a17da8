/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The newest trace; see newest_trace.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/newest_trace.h"

static bool newest_trace_ends_in(const char *name, const char *end)
{
	const size_t bytes = strlen(name), wanted = strlen(end);

	return bytes > wanted && !strcmp(name + bytes - wanted, end);
}

/* @time: set to when it was last written to */
static bool is_recording(int directory, const char *name, bool all, struct timespec *time)
{
	char path[NAME_MAX + 32];
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(status.st_mode) ||
	    (!all && status.st_uid != geteuid()))
		return false;
	*time = status.st_mtim;
	snprintf(path, sizeof(path), "%s/.burin/recording", name);
	if (fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW))
		return newest_trace_ends_in(name, ".burin");
	*time = status.st_mtim;
	return true;
}

static bool newest_trace_is_later(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec != other->tv_sec ? one->tv_sec > other->tv_sec : one->tv_nsec > other->tv_nsec;
}

void newest_trace(const char *directory, bool all, char name[NAME_MAX + 1])
{
	DIR *entries = opendir(directory);
	struct timespec time, last = { .tv_sec = 0 };
	const struct dirent *entry;

	*name = '\0';
	while (entries && (entry = readdir(entries))) {
		if (*entry->d_name == '.' || !is_recording(dirfd(entries), entry->d_name, all, &time) ||
		    (*name && !newest_trace_is_later(&time, &last)))
			continue;
		last = time;
		snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (entries)
		closedir(entries);
}
