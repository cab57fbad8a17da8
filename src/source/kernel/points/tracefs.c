/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracefs; see tracefs.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/glob.h"
#include "source/kernel/points/tracefs.h"

enum {
	TRACEFS_TEXT = 16 << 10, /* a format is a page, or a few with its print format, which is not needed */
	TRACEFS_NAME = 2 * TRACEPOINT_NAME + 16,
};

/* Records of the kernel's own tracers: they are no tracepoints. */
static const char records_of_tracers[] = "ftrace";

/* ---- the walk */

struct names {
	char (*names)[TRACEPOINT_NAME];
	size_t count, room;
};

static int tracefs_by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The folders in a folder, sorted. @folder: is closed. Return: 0 or -errno. */
static int tracefs_list(int folder, struct names *names)
{
	DIR *in = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;
	int error = 0;

	names->count = 0;
	if (!in) {
		error = -errno;
		if (folder >= 0)
			close(folder);
		return error;
	}
	while (errno = 0, !error && (entry = readdir(in))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    strlen(entry->d_name) >= TRACEPOINT_NAME)
			continue;
		if (!array_reserve(names->names, names->room, names->count + 1))
			error = -ENOMEM;
		else
			strcpy(names->names[names->count++], entry->d_name);
	}
	if (!error)
		error = -errno;
	closedir(in);
	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), tracefs_by_name);
	return error;
}

static bool tracefs_is_wanted(const char *const *globs, const char *system, const char *name)
{
	char whole[TRACEFS_NAME];

	if (!*globs)
		return true;
	snprintf(whole, sizeof(whole), "%s:%s", system, name);
	for (; *globs; globs++)
		if (glob_match(*globs, whole))
			return true;
	return false;
}

/* Whether a glob may match tracepoints of a system: its part before the colon does. */
static bool has_wanted(const char *const *globs, const char *system)
{
	bool wanted = !*globs;

	for (; *globs && !wanted; globs++) {
		const char *colon = strchr(*globs, ':');
		char part[TRACEPOINT_NAME];

		if (!colon || (size_t)(colon - *globs) >= sizeof(part))
			return true;
		memcpy(part, *globs, (size_t)(colon - *globs));
		part[colon - *globs] = 0;
		wanted = glob_match(part, system);
	}
	return wanted;
}

/* Read the description of a tracepoint. Return: 1, 0: there is none, which may have gone with its module, or -errno. */
static int read_format(int events, const char *system, const char *name, char text[TRACEFS_TEXT])
{
	char path[TRACEFS_NAME + 16];
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "%s/%s/format", system, name);
	file = openat(events, path, O_RDONLY | O_CLOEXEC);
	got = file < 0 ? -1 : read(file, text, TRACEFS_TEXT - 1);
	if (got < 0)
		got = errno == ENOENT || errno == ENODEV ? 0 : -errno;
	if (file >= 0)
		close(file);
	text[got > 0 ? got : 0] = 0;
	return (int)(got > 0 ? 1 : got);
}

struct walk {
	int events;
	const char *const *globs;
	bool by_name;
	struct tracepoint exit; /* the first one of a system call, if by name */
	bool has_exit;
	unsigned exits; /* so far */
};

static bool is_exit(const char *system, const char *name)
{
	static const char start[] = "sys_exit_";

	return strcmp(system, TRACEPOINT_SYSCALLS) == 0 && strncmp(name, start, sizeof(start) - 1) == 0;
}

/* Exits that return a socket's address have one more field than others: they are read by themselves. Return: as read_format() */
static int tracefs_read_one(struct walk *walk, const char *system, const char *name, struct tracepoint *out)
{
	char text[TRACEFS_TEXT];
	const bool exits = walk->by_name && is_exit(system, name);
	int found = 1;

	if (exits && walk->has_exit && !tracepoint_has_memory(name)) {
		tracepoint_copy(out, &walk->exit);
		snprintf(out->name, sizeof(out->name), "%s", name);
		tracepoint_make_event(out);
	} else if ((found = read_format(walk->events, system, name, text)) <= 0 ||
		   !tracepoint_parse(out, system, name, text)) {
		return found < 0 ? found : 0;
	} else if (exits && !tracepoint_has_memory(name)) {
		tracepoint_copy(&walk->exit, out);
		walk->has_exit = true;
	}
	if (exits)
		out->id = TRACEFS_FIRST_ID + walk->exits++;
	return 1;
}

static int walk_system(struct walk *walk, const char *system, struct names *names,
		       int (*take)(void *context, const struct tracepoint *), void *context)
{
	struct tracepoint point;
	int error = tracefs_list(openat(walk->events, system, O_RDONLY | O_DIRECTORY | O_CLOEXEC), names);

	if (error == -ENOENT) /* it has gone with its module */
		return 0;
	for (size_t n = 0; n < names->count && !error; n++) {
		if (!tracefs_is_wanted(walk->globs, system, names->names[n]))
			continue;
		error = tracefs_read_one(walk, system, names->names[n], &point);
		if (error > 0)
			error = take(context, &point);
	}
	return error;
}

static int tracefs_walk_all(struct walk *walk, int (*take)(void *context, const struct tracepoint *),
			    void *context)
{
	struct names systems = { .count = 0 }, names = { .count = 0 };
	int error = tracefs_list(openat(walk->events, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &systems);

	for (size_t s = 0; s < systems.count && !error; s++)
		if (strcmp(systems.names[s], records_of_tracers) != 0 &&
		    has_wanted(walk->globs, systems.names[s]))
			error = walk_system(walk, systems.names[s], &names, take, context);
	free(systems.names);
	free(names.names);
	return error;
}

int tracefs_each(int events, const char *const *globs, int (*take)(void *context, const struct tracepoint *),
		 void *context)
{
	struct walk walk = { .events = events, .globs = globs };

	return tracefs_walk_all(&walk, take, context);
}

int tracefs_each_by_name(int events, const char *const *globs,
			 int (*take)(void *context, const struct tracepoint *), void *context)
{
	struct walk walk = { .events = events, .globs = globs, .by_name = true };

	return tracefs_walk_all(&walk, take, context);
}
