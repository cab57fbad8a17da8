/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* See foreign.h. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwfl.h>

#include "foreign.h"

struct foreign {
	Dwfl *dwfl;
	pid_t pid;
	const struct user_regs_struct *user;
	const unsigned char *stack;
	size_t bytes;
	uint64_t *locations;
	unsigned count, max;
};

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	const struct foreign *foreign = context;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = context;
	return foreign->pid;
}

static bool read_stack(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *context)
{
	const struct foreign *foreign = context;
	const uint64_t offset = address - foreign->user->rsp;

	(void)dwfl;
	if (offset > foreign->bytes || foreign->bytes - offset < 8)
		return false;
	memcpy(value, foreign->stack + offset, 8);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct user_regs_struct *u = ((const struct foreign *)context)->user;
	const Dwarf_Word values[] = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8,
				      u->r9,  u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip };

	return dwfl_thread_state_registers(thread, 0, 17, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = next_thread,
							.memory_read = read_stack,
							.set_initial_registers = set_registers };
static char *no_debug_files;
static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
					  .find_debuginfo = dwfl_standard_find_debuginfo,
					  .debuginfo_path = &no_debug_files };

struct foreign *foreign_open(pid_t pid)
{
	struct foreign *foreign = calloc(1, sizeof(*foreign));

	if (!foreign)
		return NULL;
	foreign->pid = pid;
	foreign->dwfl = dwfl_begin(&callbacks);
	if (!foreign->dwfl || dwfl_linux_proc_report(foreign->dwfl, pid) ||
	    dwfl_report_end(foreign->dwfl, NULL, NULL) ||
	    !dwfl_attach_state(foreign->dwfl, NULL, pid, &thread_callbacks, foreign)) {
		foreign_close(foreign);
		return NULL;
	}
	return foreign;
}

void foreign_close(struct foreign *foreign)
{
	dwfl_end(foreign->dwfl);
	free(foreign);
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct foreign *foreign = context;
	Dwarf_Addr pc;
	bool exact;

	if (foreign->count == foreign->max || !dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	foreign->locations[foreign->count++] = exact ? pc : pc - 1;
	return DWARF_CB_OK;
}

unsigned foreign_frames(struct foreign *foreign, const struct user_regs_struct *user,
			const unsigned char *stack, size_t bytes, uint64_t *locations, unsigned max)
{
	foreign->user = user;
	foreign->stack = stack;
	foreign->bytes = bytes;
	foreign->locations = locations;
	foreign->count = 0;
	foreign->max = max;
	dwfl_getthread_frames(foreign->dwfl, foreign->pid, take_frame, foreign);
	return foreign->count;
}
