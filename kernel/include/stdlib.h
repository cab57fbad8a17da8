/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_STDLIB_H
#define BURIN_KERNEL_STDLIB_H

#include <linux/slab.h>

/* Context: may sleep. */
static inline void *realloc(void *memory, size_t bytes)
{
	return krealloc(memory, bytes, GFP_KERNEL);
}

static inline void free(void *memory)
{
	kfree(memory);
}

#endif
