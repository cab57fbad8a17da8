/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The files of a directory for uftrace: made under free names, and removed together if the export fails. */
#ifndef BURIN_EXPORT_UFTRACE_UFTRACE_DIRECTORY_H
#define BURIN_EXPORT_UFTRACE_UFTRACE_DIRECTORY_H

#include "base/containers/arena.h"
#include "view/buffer.h"

/* Zero it before use, but for the directory. */
struct uftrace_directory {
	int fd; /* owned by the caller */
	struct arena strings;
	const char **names;
	size_t count, room;
	uint64_t bytes; /* of text files */
};

/* uftrace_directory_make - make a file. Return: a descriptor, the caller's; -errno. */
int uftrace_directory_make(struct uftrace_directory *directory, const char *name);

/* uftrace_directory_write - make a file of text; frees the text. Return: 0 or -errno. */
int uftrace_directory_write(struct uftrace_directory *directory, const char *name, struct view_buffer *text);

/* uftrace_directory_remove - remove all files that were made. */
void uftrace_directory_remove(const struct uftrace_directory *directory);

void uftrace_directory_free(struct uftrace_directory *directory);

/* uftrace_put_name - append a name, without characters that end a line or control a terminal: they become `?`. */
void uftrace_put_name(struct view_buffer *text, const char *bytes);

/* uftrace_put_path - append a path; blanks and quotes become `_`, too, since uftrace reads a path up to a blank. */
void uftrace_put_path(struct view_buffer *text, const char *bytes);

#endif
