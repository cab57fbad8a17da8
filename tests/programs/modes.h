/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A test program does one of several things, by the name in its first argument. */
#ifndef BURIN_TESTS_RECORD_MODES_H
#define BURIN_TESTS_RECORD_MODES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mode {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the mode's name */
};

/* The Nth argument as a number, or `otherwise`. */
static inline long mode_number(int argc, char **argv, int n, long otherwise)
{
	return n < argc ? strtol(argv[n], NULL, 0) : otherwise;
}

static inline int mode_run(const struct mode *modes, int argc, char **argv)
{
	for (; argc > 1 && modes->name; modes++)
		if (strcmp(modes->name, argv[1]) == 0)
			return modes->run(argc - 1, argv + 1);
	fprintf(stderr, "%s: no such mode\n", argv[0]);
	return 99;
}

#endif
