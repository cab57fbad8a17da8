/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The files of a directory for uftrace; see uftrace_directory.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/text.h"
#include "export/uftrace/uftrace_directory.h"
#include "file/create.h"
#include "file/write.h"

int uftrace_directory_make(struct uftrace_directory *directory, const char *name)
{
	const char *kept = arena_keep(&directory->strings, name, strlen(name));
	int fd;

	if (!kept || !array_reserve(directory->names, directory->room, directory->count + 1))
		return -ENOMEM;
	fd = create_file(directory->fd, name);
	if (fd >= 0)
		directory->names[directory->count++] = kept;
	return fd;
}

int uftrace_directory_write(struct uftrace_directory *directory, const char *name, struct view_buffer *text)
{
	int error = text->failed ? -ENOMEM : 0, fd;

	fd = error ? error : uftrace_directory_make(directory, name);
	if (fd >= 0) {
		error = write_fully(fd, text->bytes, text->used, 0);
		if (close(fd) != 0 && !error)
			error = -errno;
		directory->bytes += text->used;
	}
	view_buffer_free(text);
	return fd < 0 ? fd : error;
}

void uftrace_directory_remove(const struct uftrace_directory *directory)
{
	for (size_t n = 0; n < directory->count; n++)
		create_remove(directory->fd, directory->names[n]);
}

void uftrace_directory_free(struct uftrace_directory *directory)
{
	free(directory->names);
	arena_free(&directory->strings);
}

static void uftrace_directory_put(struct view_buffer *text, const char *bytes, const char *others)
{
	const size_t count = strlen(bytes);
	char *out = view_buffer_reserve(text, count + 1);

	if (!out)
		return;
	memcpy(out, bytes, count + 1);
	text_mask(out);
	for (char *at = out; (at = strpbrk(at, others)) != NULL;)
		*at = '_';
	view_buffer_commit(text, out + count);
}

void uftrace_put_name(struct view_buffer *text, const char *bytes)
{
	uftrace_directory_put(text, bytes, "");
}

void uftrace_put_path(struct view_buffer *text, const char *bytes)
{
	uftrace_directory_put(text, bytes, " \"");
}
