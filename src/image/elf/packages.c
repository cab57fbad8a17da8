/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packages of files; see packages.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "file/foreign.h"
#include "image/elf/packages.h"

static const char folder[] = "/var/lib/dpkg/info";

enum {
	LIST_MAX = 64 << 20,  /* bytes of one list */
	LIST_READ = 64 << 10, /* bytes that are read at once, at least: nine of ten lists */
};

/* A library may be in /usr/lib while the list has /lib, or the other way round. */
static const char *without_usr(const char *path)
{
	return !strncmp(path, "/usr/", 5) ? path + 4 : path;
}

static int packages_compare(const void *one, const void *other)
{
	const struct packages_file *const *a = one, *const *b = other;

	return strcmp(without_usr((*a)->path), without_usr((*b)->path));
}

static int compare_line(const void *line, const void *file)
{
	return strcmp(line, without_usr((*(const struct packages_file *const *)file)->path));
}

/* The files whose packages are searched for. */
struct search {
	struct packages_file **files; /* sorted, without /usr */
	size_t count, found;
	bool last_bytes[UINT8_MAX + 1][UINT8_MAX + 1]; /* by the last two bytes of their paths */
};

static bool may_be_wanted(const struct search *search, const char *line, size_t bytes)
{
	return bytes > 1 &&
	       search->last_bytes[(unsigned char)line[bytes - 2]][(unsigned char)line[bytes - 1]];
}

/* @name: of the list, which is `package.list` or `package:architecture.list` */
static void packages_take_line(struct search *search, const char *line, const char *name)
{
	struct packages_file **files = search->files,
			     **found = bsearch(without_usr(line), files, search->count,
					       sizeof(struct packages_file *), compare_line);

	if (!found)
		return;
	/* The same path may be among the files twice. */
	while (found > files && !packages_compare(&found[-1], found))
		found--;
	for (; found < files + search->count && !compare_line(without_usr(line), found); found++) {
		search->found += !(*found)->package[0];
		snprintf((*found)->package, PACKAGES_NAME_MAX, "%.*s", (int)strcspn(name, ":"), name);
	}
}

/* @text: with a NUL behind it */
static void read_list(struct search *search, char *text, size_t bytes, const char *name)
{
	char *const end = text + bytes;

	for (char *line = text, *next; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		if (!may_be_wanted(search, line, (size_t)(next - line)))
			continue;
		*next = 0;
		packages_take_line(search, line, name);
	}
}

/* The lists of this system are dpkg's. A list in another tree may be anything. Return: a descriptor or -errno. */
static int packages_open_list(int top, const char *name, bool foreign)
{
	int file;

	if (foreign)
		return foreign_open(&(struct foreign){ .bytes_max = LIST_MAX }, top, name);
	file = openat(top, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return file < 0 ? -errno : file;
}

/* Reads a whole list, which ends where a read returns less than it could. Return: its bytes; 0: it cannot be read. */
static size_t load_list(int file, char **text, size_t *room)
{
	size_t bytes = 0;
	ssize_t got;

	do {
		if (!array_reserve(*text, *room, bytes + LIST_READ + 1))
			break;
		got = read(file, *text + bytes, *room - bytes - 1);
		bytes += got > 0 ? (size_t)got : 0;
	} while (got > 0 && bytes == *room - 1 && bytes < LIST_MAX);
	if (bytes)
		(*text)[bytes] = 0;
	return bytes;
}

static void search_lists(struct search *search, DIR *lists, bool foreign)
{
	const struct dirent *entry;
	char *text = NULL;
	size_t room = 0;

	while (search->found < search->count && (entry = readdir(lists))) {
		const char *end = strrchr(entry->d_name, '.');
		char name[PACKAGES_NAME_MAX];
		size_t bytes;
		int file;

		if (!end || strcmp(end, ".list") != 0 || (size_t)(end - entry->d_name) >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(end - entry->d_name), entry->d_name);
		file = packages_open_list(dirfd(lists), entry->d_name, foreign);
		if (file < 0)
			continue;
		bytes = load_list(file, &text, &room);
		read_list(search, text, bytes, name);
		close(file);
	}
	free(text);
}

void packages_find(struct packages_file *files, size_t count, const char *root)
{
	struct search *search = calloc(1, sizeof(*search));
	char path[PATH_MAX];
	DIR *lists;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	lists = opendir(path);
	if (search)
		search->files = calloc(count + 1, sizeof(*search->files));
	for (size_t n = 0; n < count; n++) {
		const size_t bytes = strlen(files[n].path);

		files[n].package[0] = 0;
		if (!search || !search->files || bytes < 2)
			continue;
		search->files[search->count++] = &files[n];
		search->last_bytes[(unsigned char)files[n].path[bytes - 2]]
				  [(unsigned char)files[n].path[bytes - 1]] = true;
	}
	if (search && search->files && lists) {
		qsort(search->files, search->count, sizeof(*search->files), packages_compare);
		search_lists(search, lists, *root);
	}
	if (lists)
		closedir(lists);
	if (search)
		free(search->files);
	free(search);
}

void packages_debug(char out[PACKAGES_NAME_MAX + 16], const char *package)
{
	/* The C library's debug package is older than the naming rule. */
	snprintf(out, PACKAGES_NAME_MAX + 16, "%s", strcmp(package, "libc6") != 0 ? "" : "libc6-dbg");
	if (!*out)
		snprintf(out, PACKAGES_NAME_MAX + 16, "%s-dbgsym", package);
}
