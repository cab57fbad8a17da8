/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's own types (BTF), by which programs load from its structures without a helper. */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_TYPES_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_TYPES_H

#include <stdint.h>

/*
 * kernel_types_find - find the types of raw tracepoints.
 * @names, @types: receive for each name of a typedef its number
 * Return: 0 or -errno: the kernel has no BTF, or it lacks one of the names.
 */
int kernel_types_find(const char *const *names, uint32_t *types, unsigned count);

/* kernel_types_calls - the same for sys_enter and sys_exit. It takes some milliseconds. */
int kernel_types_calls(uint32_t types[2]);

/* The parts of struct task_struct that programs need; all 0: unknown. */
struct kernel_task_type {
	unsigned id, stack;	/* offsets of a thread's id, and of the address of its stack in the kernel */
	unsigned status;	/* of its flags, on x86-64 */
	unsigned state, memory; /* of its state, and of the address of its memory */
	/* How that leads to the name of its program: where the memory has the file, the file its entry, the entry the name. */
	unsigned file, entry, name;
	uint32_t type, cast; /* numbers of the structure, and of the function bpf_rdonly_cast (Linux 6.2) */
	uint32_t each;	     /* ... and of bpf_iter_task (Linux 5.8) */
};

/* kernel_types_task - look it up. */
void kernel_types_task(struct kernel_task_type *out);

#endif
