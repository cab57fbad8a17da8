/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Removing traces. Files are removed below an open directory, and no link is followed. A file that is not part of a
 * trace stays, and its directory stays with it.
 */
#ifndef BURIN_WRITER_DISCARD_H
#define BURIN_WRITER_DISCARD_H

/*
 * discard_trace - remove a trace with all its records.
 * @directory: its own directory; @path: any path that ends in its name
 * Return: 0; -errno: -ENOTEMPTY if the directory has other files, which stay.
 */
int discard_trace(int directory, const char *path);

/*
 * discard_below - remove the trace @name from the directory @parent.
 * Return: 0; -errno: it is not our directory, or it has other files.
 */
int discard_below(int parent, const char *name);

#endif
