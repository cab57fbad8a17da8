/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_SYS_MMAN_H
#define BURIN_KERNEL_SYS_MMAN_H

#include <linux/vmalloc.h>

#define MAP_FAILED    NULL
#define PROT_READ     0
#define PROT_WRITE    0
#define MAP_PRIVATE   0
#define MAP_ANONYMOUS 0
#define MAP_NORESERVE 0

/* Private memory, for src/session/event_index.c. */
static inline void *mmap(void *where, size_t bytes, int protection, int flags, int file, long offset)
{
	return vzalloc(bytes);
}

static inline void munmap(void *memory, size_t bytes)
{
	vfree(memory);
}

#endif
