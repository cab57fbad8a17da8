/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where a Linux guest has its tasks: which one a CPU runs, and what it is called. From the type information (BTF) of its
 * kernel, which may have been moved by KASLR.
 */
#ifndef BURIN_IMAGE_NAMES_KERNEL_GUEST_TASKS_H
#define BURIN_IMAGE_NAMES_KERNEL_GUEST_TASKS_H

#include <stdint.h>

/* Distances in bytes. */
struct guest_tasks {
	/*
	 * From the base of a CPU's own data: the pointer to its task, and a variable that has the base as its value. From Linux
	 * 6.15 on these are addresses in the kernel, which KASLR moves. Both 0: a register has the pointer, on aarch64.
	 */
	uint64_t current, base;
	/* From the begin of a task (struct task_struct). */
	uint64_t stack, pid, tgid, leader, name;
	uint64_t stack_bytes; /* of a stack in the kernel; 0: unknown */
};

/*
 * guest_tasks_read - read a kernel's type information.
 * @file: an ELF file with a section .BTF, or a copy of /sys/kernel/btf/vmlinux; the caller closes it
 * Return: 0; -ENOEXEC: it has no type information; -ENODATA: not that of a kernel with tasks; -ENOTSUP: only an ELF file
 * says where this kernel has its CPUs' data; -EFBIG, -ENOMEM, or another -errno.
 */
int guest_tasks_read(struct guest_tasks *tasks, int file);

#endif
