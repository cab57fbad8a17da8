/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The code of a line of the source, by the debug information of a file. */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_LINES_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_LINES_H

#include <stdint.h>

struct probe_lines {
	uint64_t *addresses; /* where its pieces begin, sorted, each once; the caller frees them */
	unsigned count;
	uint32_t before, behind; /* the nearest lines with code, if it has none; 0: there is none */
};

/*
 * probe_lines_find - find a line.
 * @path: of the file; @file: a descriptor of it; @source: the end of the source file's path
 * Context: forks, for some seconds at most. Return: 0, also if nothing is known; -E2BIG; -ENOMEM.
 */
int probe_lines_find(const char *path, int file, const char *source, uint32_t line, struct probe_lines *out);

#endif
