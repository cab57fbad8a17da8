/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names of a few functions of the running kernel, as the kernel itself prints them (%pS): by a BPF program of a dozen
 * instructions, some 2 us each. /proc/kallsyms has all names, and only all of them, in 50 ms (kernel_names.h).
 *
 * See docs/decisions/0040-kernel-names-one-by-one.md.
 */
#ifndef BURIN_IMAGE_NAMES_KERNEL_KERNEL_LOOKUP_H
#define BURIN_IMAGE_NAMES_KERNEL_KERNEL_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/containers/arena.h"

enum {
	KERNEL_LOOKUP_MAX = 8192, /* addresses; for more, /proc/kallsyms takes less time */
};

struct kernel_function {
	const char *name;     /* NULL: none */
	uint64_t begin, size; /* as of kernel_names_find() */
};

/*
 * kernel_lookup - name the functions at offsets; the results are those of kernel_names_find(). Code behind the kernel's own has
 * no name: it is made at run time.
 * @module: "" for the kernel, otherwise a module's name in brackets
 * @functions: receives @count of them; their names are in @texts, which the caller frees
 * Return: 0; otherwise no function is valid, and /proc/kallsyms is the source: -EPERM, -EINVAL: the kernel does not run
 * the program, or hides its addresses; -E2BIG: too many; or another -errno.
 */
int kernel_lookup(const char *module, const uint64_t *offsets, size_t count,
		  struct kernel_function *functions, struct arena *texts);

#endif
