/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Removing traces; see discard.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "drain/discard.h"

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* All but the streams. The recording goes first: without it nobody takes the rest for a whole trace. */
static void remove_tables(int directory)
{
	static const char *const files[] = { ".burin/recording", ".burin/draft",       ".burin/origin",
					     ".burin/events",	 ".burin/profile",     ".burin/images",
					     ".burin/tasks",	 ".burin/stacks",      ".burin/spots",
					     ".burin/symbols",	 ".burin/symbols.new", "metadata" };

	for (unsigned n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		unlinkat(directory, files[n], 0);
	unlinkat(directory, ".burin", AT_REMOVEDIR);
}

static void remove_streams(int directory)
{
	int copy = dup(directory);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		if (!strncmp(entry->d_name, "cpu", 3) || !strncmp(entry->d_name, "locked", 6) ||
		    !strncmp(entry->d_name, "names", 5) || !strncmp(entry->d_name, "samples", 7))
			unlinkat(directory, entry->d_name, 0);
	}
	if (entries)
		closedir(entries);
	else if (copy >= 0)
		close(copy);
}

static void remove_trace(const char *path, bool streams)
{
	int directory = open_directory(path);

	if (directory < 0)
		return;
	remove_tables(directory);
	if (streams)
		remove_streams(directory);
	close(directory);
	rmdir(path); /* fails, and rightly, if there is anything else in it */
}

void drain_discard(const char *path)
{
	remove_trace(path, false);
}

void drain_remove(const char *path)
{
	remove_trace(path, true);
}
