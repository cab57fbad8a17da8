/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A file of a trace that is replaced as a whole: readers see the former one or the new one. */
#ifndef BURIN_DRAIN_REPLACE_H
#define BURIN_DRAIN_REPLACE_H

#include <stddef.h>

/*
 * replace_file - give a file of a trace new content, by rename.
 * @directory: of the trace; @name: such as ".burin/events"
 * Return: 0 or -errno: the former one stays.
 */
int replace_file(int directory, const char *name, const void *data, size_t bytes);

#endif
