/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing whole files: all bytes, and as a new file that replaces the old one. */
#ifndef BURIN_FILE_WRITE_H
#define BURIN_FILE_WRITE_H

#include <stddef.h>
#include <stdint.h>

/* write_fully - write @bytes at offset @at of a file. Return: 0; -errno: a part of them may be written. */
int write_fully(int fd, const void *data, size_t bytes, uint64_t at);

/*
 * replace_file - replace a file of a trace, by rename: readers see the old file or the new one.
 * @directory: of the trace; @name: such as ".burin/events"
 * Return: 0; -errno: the old file stays.
 */
int replace_file(int directory, const char *name, const void *data, size_t bytes);

#endif
