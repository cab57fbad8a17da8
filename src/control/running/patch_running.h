/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changes of code that threads execute meanwhile: none of them stands still (x86-64; wire/wire_patch.h).
 *
 * The first byte is stored, so that a `test` results; then the others, which are its operand; then the first one again. Each byte is
 * stored at once, so a thread executes one of these three instructions. Between the steps each CPU enters the kernel, by which
 * it forgets code that it has read in advance. If the command is killed between them, the functions are not recorded, and nothing else happens.
 */
#ifndef BURIN_CONTROL_RUNNING_PATCH_RUNNING_H
#define BURIN_CONTROL_RUNNING_PATCH_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/running/process_memory.h"
#include "wire/wire_patch.h"

struct patch_change {
	uint64_t entry; /* address of the struct wire_patch in the process */
	struct wire_patch patch;
	bool wanted; /* the function is to be on */
	bool done;
	bool busy; /* a thread is in the way; try again */
	bool under_way;
};

/*
 * patch_running - make the changes that need no stop. The others are left as they are.
 * Context: no other command changes the process.
 */
void patch_running(const struct process_memory *memory, struct patch_change *changes, size_t count);

/* patch_note - store into the process's table what its code is now. */
void patch_note(const struct process_memory *memory, struct patch_change *change);

#endif
