/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Texts and structures of system calls whose pages are not in memory at the entry. Programs of the kernel do not wait for them; the kernel
 * itself reads them during the call, so they are there at the exit. The program at the entry notes such a call of its thread
 * in a map, and the one at the exit reads all arguments again and writes them as a record of their own (tracepoint_late()). A
 * filter that depends on such a text is decided there, too.
 *
 * An exec that succeeds has other registers and another memory at its exit. The kernel's record of it, sched_process_exec, has the
 * path; the note has the other arguments.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_LATE_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_LATE_H

#include "source/kernel/bpf/kernel_put.h"

enum {
	KERNEL_LATE_CALLS = 4096,  /* that wait at one moment */
	KERNEL_LATE_ARGUMENTS = 3, /* all of an exec */
};

/* A value of the map; the key is the thread's id. */
struct kernel_late {
	uint64_t time;				   /* of the entry's record; without one, of the entry; ns */
	uint64_t arguments[KERNEL_LATE_ARGUMENTS]; /* the first ones */
	uint32_t number;			   /* of the call */
	uint32_t accepted;			   /* the entry has a record */
};

/* kernel_late_make - make the map. Return: a descriptor, -errno. */
int kernel_late_make(void);

/* kernel_late_note - note the call of the current thread. @accepted: it has a record. Changes registers 0 to 5 and KERNEL_STACK_TEXT. */
void kernel_late_note(struct bpf_program *to, const struct kernel_layout *layout, bool accepted);

/*
 * kernel_late_take - end the program unless the current call was noted; it is then noted no more.
 * @entered: offset on the stack: set to the time of the entry
 * Register 7: whether its filter has accepted it.
 */
void kernel_late_take(struct bpf_program *to, const struct kernel_layout *layout, int map, int entered);

/*
 * kernel_late_take_exec - end the program unless the exec of thread KERNEL_STACK_TID was noted; it is then noted no more. The
 * program has its own registers and no context of a system call.
 * @number: of the exec; @entered: as above
 * KERNEL_STACK_REGISTERS: the noted arguments, and zeros. Register 7: as above.
 */
void kernel_late_take_exec(struct bpf_program *to, const struct kernel_layout *layout, int number,
			   int entered);

/* kernel_late_count_unread - count a call whose text could not be read. Changes registers 0 to 5. */
void kernel_late_count_unread(struct bpf_program *to, const struct kernel_layout *layout);

#endif
