/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Removing traces; see discard.h. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "writer/discard.h"
#include "file/create.h"
#include "wire/wire_terms.h"

/* All but the streams. `.burin/recording` goes first: without it no reader takes the rest for a whole trace. */
static void remove_tables(int directory)
{
	static const char *const files[] = { ".burin/recording",
					     CREATE_DRAFT,
					     ".burin/origin",
					     ".burin/events",
					     ".burin/profile",
					     ".burin/images",
					     ".burin/tasks",
					     ".burin/stacks",
					     ".burin/contexts",
					     ".burin/symbols",
					     ".burin/symbols.new",
					     ".burin/calls.images",
					     ".burin/calls.functions",
					     ".burin/calls.open",
					     ".burin/calls.values",
					     ".burin/calls.counts",
					     ".burin/calls.symbols",
					     ".burin/calls.symbols.new",
					     "metadata" };

	for (unsigned n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		create_remove(directory, files[n]);
	/* Only known names are removed. The directory may have files of its user, and then stays. */
	unlinkat(directory, ".burin", AT_REMOVEDIR);
}

static bool is_stream(const char *name)
{
	for (unsigned kind = 0; kind < WIRE_FILE_KINDS; kind++)
		if (!strncmp(name, wire_file_keys[kind], strlen(wire_file_keys[kind])))
			return true;
	return false;
}

static void remove_streams(int directory)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (is_stream(entry->d_name))
			create_remove(directory, entry->d_name);
	if (entries)
		closedir(entries);
	else if (copy >= 0)
		close(copy);
}

int discard_trace(int directory, const char *path)
{
	remove_tables(directory);
	remove_streams(directory);
	return create_remove_directory(directory, path);
}

int discard_below(int parent, const char *name)
{
	int directory = create_enter(parent, name), error;

	if (directory < 0)
		return directory;
	error = discard_trace(directory, name);
	close(directory);
	return error;
}
