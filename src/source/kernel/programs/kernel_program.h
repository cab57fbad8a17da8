/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that the kernel runs at its tracepoints. Each appends one record to one of the rings below.
 */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_PROGRAM_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_PROGRAM_H

#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/bpf/kernel_put.h"
#include "source/kernel/in_kernel/kernel_follow_state.h"
#include "source/kernel/in_kernel/kernel_input.h"

/*
 * kernel_program_write - write the program of a tracepoint that is no system call's: BPF_PROG_TYPE_TRACEPOINT.
 * @filter: of the event; NULL: none
 * @id: of the event in the session; 0, of a probe: the cookie of the place has it
 * Return: false: its record or its program would be too long.
 */
bool kernel_program_write(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint *point, const struct wire_filter *filter, uint16_t id);

/* kernel_program_least - the least state of a task whose events at a tracepoint are recorded. */
enum kernel_follow_state kernel_program_least(const struct tracepoint *point);

/* kernel_program_named - the field of a tracepoint that names another task whose membership counts, too; NULL: there is none. */
const struct tracepoint_field *kernel_program_named(const struct tracepoint *point);

/* kernel_program_put_named - write kernel_named(): return the number that this field has. */
void kernel_program_put_named(struct bpf_program *to, const struct tracepoint_field *field);

/*
 * kernel_program_finds - the value that the kernel's record lacks and a field needs.
 * @value: set to its substitute where the kernel cannot know it
 */
enum kernel_found kernel_program_finds(const struct kernel_layout *layout, const struct tracepoint *point,
				       int *value);

#endif
