/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that a kernel has of itself, as in its /proc/kallsyms (CONFIG_KALLSYMS). The kernels of distributions have no other names.
 *
 * There are several tables without names or sizes, in an order that depends on the kernel's version (5.0 or later; 64 bits):
 * before 6.4
 *	addresses, their base, the count of names, names, markers (, the order by names in 6.2 and 6.3), tokens, index
 * and since then
 *	the count of names, names, markers, tokens, index, addresses, their base, the order by names
 * each at a multiple of 8. A name is its length and that many bytes, of which each stands for a token, a text; the first
 * character is its type. A marker is the place of each 256th name. All of them must agree, otherwise there are no names.
 */
#ifndef BURIN_IMAGE_NAMES_KERNEL_KALLSYMS_H
#define BURIN_IMAGE_NAMES_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KALLSYMS_STEPS = 1 << 30, /* some seconds */
};

struct kallsyms_reader {
	bool (*is_base)(void *context, uint64_t address); /* whether addresses may be relative to this one */
	int (*add)(void *context, uint64_t address,
		   const char *name); /* in the order of addresses. Return: 0 or a negative errno */
	void *context;
	uint64_t steps; /* how much work is left: KALLSYMS_STEPS at first, for all parts of a file */
};

/*
 * kallsyms_read - find the tables in a part of a kernel, and add its functions.
 * @bytes: the part as it is loaded; it begins at a multiple of 8
 * Return: 0; -ENOEXEC: the tables are not there; -EUCLEAN: they do not agree, and nothing was added or what was is to be
 * dropped; -ENOMEM, or an error of add().
 */
int kallsyms_read(struct kallsyms_reader *reader, const unsigned char *bytes, size_t count);

#endif
