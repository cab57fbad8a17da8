/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The file of a command. */
#ifndef BURIN_FILE_PROGRAM_PATH_H
#define BURIN_FILE_PROGRAM_PATH_H

#include <limits.h>
#include <stdbool.h>

/* program_path - find the file that execvp(3) executes. @path: set to it, without links. Return: false: there is none. */
bool program_path(char path[PATH_MAX], const char *command);

#endif
