/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The descriptors that hold programs, maps and what attaches them, until the end of a recording. */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_FILES_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_FILES_H

#include <stddef.h>

struct kernel_files {
	int *files;
	size_t count, room;
	int *programs; /* of those: the programs */
	size_t program_count, program_room;
};

/* kernel_files_keep - keep a descriptor; an error is passed on. Return: 0 or -errno. */
int kernel_files_keep(struct kernel_files *files, int file);

/* kernel_files_keep_program - keep a loaded program. Return: its descriptor, -errno. */
int kernel_files_keep_program(struct kernel_files *files, int program);

/* kernel_files_close - close all of them; kernel_files_free - free the memory. */
void kernel_files_close(struct kernel_files *files);
void kernel_files_free(struct kernel_files *files);

/* kernel_files_raise_limit - let this process have as many descriptors as it may: each tracepoint needs two. */
void kernel_files_raise_limit(void);

/*
 * kernel_files_hold - let another process hold all descriptors of this one until kernel_files_release(), and close them then. Closing
 * a tracepoint for the last time waits for all CPUs, some 50 ms each; so this process does not.
 */
int kernel_files_hold(void);
void kernel_files_release(int holder);

#endif
