/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The libraries that are loaded with a program. */
#ifndef BURIN_CMD_RECORD_SOURCES_LOADED_FILES_H
#define BURIN_CMD_RECORD_SOURCES_LOADED_FILES_H

#include <stdbool.h>

/*
 * loaded_files_find - ask the program's dynamic loader, as ldd(1) does, but without executing the program: so each library is the
 * one that will be loaded in this environment. Libraries that the program opens later are not among them.
 * @file: the program's, open; it stays the caller's
 * @found: receives each path; none if the program is static, or its loader does not answer
 */
void loaded_files_find(const char *program, int file, void (*found)(void *data, const char *path),
		       void *data);

/* loaded_file_has_hooks - whether functions of a library were compiled with hooks for their calls. */
bool loaded_file_has_hooks(int file);

#endif
