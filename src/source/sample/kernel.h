/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What lies where in the kernel: its own code, its modules, and what it makes at run time (BPF, trampolines). Looked at
 * when the first address in the kernel is asked for.
 */
#ifndef BURIN_SOURCE_SAMPLE_KERNEL_H
#define BURIN_SOURCE_SAMPLE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "source/sample/mappings.h"

struct kernel {
	struct images *images;
	struct sample_image *image; /* NULL: not looked at */
	uint64_t text; /* address of _text; 0: hidden from us (kernel.kptr_restrict), offsets are addresses */
	struct mappings modules;
};

/* kernel_init - @images: the caller's, lives as long */
void kernel_init(struct kernel *kernel, struct images *images);

/* kernel_take - learn from a record of code that the kernel has made or taken away. */
void kernel_take(struct kernel *kernel, const struct record *record);

/* kernel_find - where an address lies. Context: the first call reads files of /proc. Return: NULL: no memory. */
struct sample_image *kernel_find(struct kernel *kernel, uint64_t address, uint64_t *offset);

void kernel_free(struct kernel *kernel);

#endif
