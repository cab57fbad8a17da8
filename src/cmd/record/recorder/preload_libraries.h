/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The libraries that a recorded command loads before its own, and their settings. */
#ifndef BURIN_CMD_RECORD_RECORDER_PRELOAD_LIBRARIES_H
#define BURIN_CMD_RECORD_RECORDER_PRELOAD_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

enum {
	PRELOAD_PATH_MAX = 4096,
};

/*
 * preload_find - find a library next to this program, in the build directory or as installed.
 * @name: "libburin-calls.so"
 * Return: 0; -ENOENT; -EINVAL: its path has a space or a colon.
 */
int preload_find(const char *name, char *path, size_t bytes);

/* preload_problem - what to write behind the library's name for an error of preload_find(). */
const char *preload_problem(int error);

/* preload_fits - whether a command can load the libraries, which need the GNU C library: with musl it would not start. */
bool preload_fits(const char *command);

/*
 * preload_write - write assignments for the command's environment, each with its NUL.
 * @paths: libraries to load; "": none
 * Return: whether all was written.
 */
bool preload_write(int file, const char *const *paths, unsigned count);

#endif
