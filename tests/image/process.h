/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A process in the tests of unwinding: its code with the tables, its registers and its stack. */
#ifndef BURIN_TESTS_IMAGE_PROCESS_H
#define BURIN_TESTS_IMAGE_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "image/unwind/unwind.h"

struct process_mapping {
	uint64_t begin, end, bias;
	struct unwind_table *table;
	int executable;
	char path[512];
};

struct process {
	pid_t pid;
	struct process_mapping *mappings;
	size_t count;
};

/* process_open - read its current mappings. Return: 0 or a negative errno. */
int process_open(struct process *process, pid_t pid);
void process_close(struct process *process);

/* process_lookup - an unwind_lookup; the context is the process. */
struct unwind_table *process_lookup(void *context, uint64_t address, uint64_t *bias,
				    enum wire_truncation *why);

/* process_mapping - the mapping at an address, or NULL. */
const struct process_mapping *process_mapping(const struct process *process, uint64_t address);

/* process_stack - copy the stack from an address to the end of its mapping. Return: bytes. */
size_t process_stack(const struct process *process, uint64_t from, unsigned char *copy, size_t max);

/* process_registers - in perf's format. */
void process_registers(const struct user_regs_struct *user, struct unwind_registers *registers);

/* process_chain - the kernel's chain by frame pointers. Return: entries. */
unsigned process_chain(pid_t pid, const struct user_regs_struct *user, uint64_t *chain, unsigned max);

#endif
