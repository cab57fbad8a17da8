/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks of a Linux guest: which one a vCPU runs, and what it is called.
 *
 * The recorder reads from the type information of the guest's kernel where these are. The plugin reads them in the guest's
 * memory when a vCPU comes to another stack. Without the type information there are no tasks, and nothing is read.
 */
#ifndef BURIN_SOURCE_GUEST_GUEST_TASK_H
#define BURIN_SOURCE_GUEST_GUEST_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "source/guest/guest_options.h"
#include "source/guest/qemu_plugin.h"

struct guest_task {
	uint64_t address; /* of its structure in the guest's kernel; 0: unknown */
	uint64_t stack;	  /* where its stack in the kernel begins */
	uint32_t pid, process;
	char name[GUEST_TASK_NAME],
		program[GUEST_TASK_NAME]; /* program: the name of the process's first thread */
};

/*
 * guest_task_read - a task at an address. It is read through the page tables that the vCPU has: in a program, those may be
 * without the kernel's memory.
 * @room: of the calling vCPU
 */
bool guest_task_read(struct qemu_bytes *room, uint64_t address, struct guest_task *task);

/* guest_task_is_base - whether a CPU's own data are at an address. They are not while the kernel begins, or if it is another. */
bool guest_task_is_base(struct qemu_bytes *room, uint64_t base);

/* guest_task_current - the address of the task of the CPU whose own data are at `base`; in the middle of a switch, the one
 * before; 0: unknown. */
uint64_t guest_task_current(struct qemu_bytes *room, uint64_t base);

/* guest_task_found - whether there was ever a task on its stack. */
bool guest_task_found(void);

/*
 * guest_task_announce - record the name of a stack's thread, and that of its process if it is new.
 * @since: clock; 0: now
 * Return: false: try again later.
 */
bool guest_task_announce(const struct guest_task *task, const char *level, uint32_t tid, uint64_t since);

#endif
