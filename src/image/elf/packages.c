/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packages of files; see packages.h. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/foreign.h"
#include "image/elf/packages.h"

static const char folder[] = "/var/lib/dpkg/info";

enum {
	LIST_MAX = 64 << 20, /* bytes of one list */
};

/* A library may be in /usr/lib while the list has /lib, or the other way round. */
static const char *without_usr(const char *path)
{
	return !strncmp(path, "/usr/", 5) ? path + 4 : path;
}

static int compare(const void *one, const void *other)
{
	const struct packages_file *const *a = one, *const *b = other;

	return strcmp(without_usr((*a)->path), without_usr((*b)->path));
}

static int compare_line(const void *line, const void *file)
{
	return strcmp(line, without_usr((*(const struct packages_file *const *)file)->path));
}

/* Reads the files of a list, which is named `package.list` or `package:architecture.list`. */
static void read_list(struct packages_file **files, size_t count, FILE *list, const char *name)
{
	char line[PATH_MAX];

	while (fgets(line, sizeof(line), list)) {
		struct packages_file **found;

		line[strcspn(line, "\n")] = 0;
		found = bsearch(without_usr(line), files, count, sizeof(struct packages_file *),
				compare_line);
		if (!found)
			continue;
		/* The same path may be in @files twice. */
		while (found > files && !compare(&found[-1], found))
			found--;
		for (; found < files + count && !compare_line(without_usr(line), found); found++)
			snprintf((*found)->package, PACKAGES_NAME_MAX, "%.*s", (int)strcspn(name, ":"), name);
	}
}

void packages_find(struct packages_file *files, size_t count, const char *root)
{
	struct packages_file **sorted = calloc(count + 1, sizeof(struct packages_file *));
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *lists;
	int top;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	lists = opendir(path);
	top = lists ? dirfd(lists) : -1;
	for (size_t n = 0; n < count; n++) {
		files[n].package[0] = 0;
		if (sorted)
			sorted[n] = &files[n];
	}
	if (sorted)
		qsort(sorted, count, sizeof(struct packages_file *), compare);
	while (sorted && lists && (entry = readdir(lists))) {
		const char *end = strrchr(entry->d_name, '.');
		char name[PACKAGES_NAME_MAX];
		int file;
		FILE *list;

		if (!end || strcmp(end, ".list") != 0 || (size_t)(end - entry->d_name) >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(end - entry->d_name), entry->d_name);
		file = foreign_open(&(struct foreign){ .bytes_max = LIST_MAX }, top, entry->d_name);
		list = file < 0 ? NULL : fdopen(file, "r");
		if (list)
			read_list(sorted, count, list, name);
		if (list)
			fclose(list);
		else if (file >= 0)
			close(file);
	}
	if (lists)
		closedir(lists);
	free(sorted);
}

void packages_debug(char out[PACKAGES_NAME_MAX + 16], const char *package)
{
	/* The C library's debug package is older than the naming rule. */
	snprintf(out, PACKAGES_NAME_MAX + 16, "%s", strcmp(package, "libc6") != 0 ? "" : "libc6-dbg");
	if (!*out)
		snprintf(out, PACKAGES_NAME_MAX + 16, "%s-dbgsym", package);
}
