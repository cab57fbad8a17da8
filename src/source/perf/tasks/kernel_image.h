/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The layout of the kernel: its own code, its modules, and code generated at run time (BPF, trampolines). It is read when
 * the first kernel address is looked up.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_KERNEL_IMAGE_H
#define BURIN_SOURCE_PERF_TASKS_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/perf/tasks/mappings.h"

struct kernel {
	struct images *images;
	struct sample_image *image; /* NULL: not read yet */
	uint64_t text; /* address of _stext; 0: hidden (kernel.kptr_restrict), so offsets are addresses */
	struct mappings modules;
};

/* kernel_init - @images: the caller's; must live as long as @kernel */
void kernel_init(struct kernel *kernel, struct images *images);

/* kernel_take - process a record of code that the kernel has generated or removed. */
void kernel_take(struct kernel *kernel, const struct record *record);

/* kernel_find - find an address' image and offset. The first call reads files in /proc. Return: NULL: no memory. */
struct sample_image *kernel_find(struct kernel *kernel, uint64_t address, uint64_t *offset);

void kernel_free(struct kernel *kernel);

#endif
