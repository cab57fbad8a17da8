/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For programs in C at the entries and exits of system calls: which call it is, and its arguments.
 *
 * The context is of a raw tracepoint: the registers of the process, then the number at an entry or the result at an exit. With the
 * kernel's types (BPF_NUMBER(typed)) a program loads from the registers; without, it copies those that it needs by a helper.
 *
 * Numbers of calls come from the process, so anything can be in the register. Those above the table and those of other interfaces (32
 * bits) have a row of their own each, and the number becomes a field. The kernel ignores the upper half, so programs do.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_CALL_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_CALL_C_H

#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/in_kernel/kernel_task_c.h"

static const unsigned kernel_argument_places[KERNEL_ARGUMENTS] = REGISTERS_ARGUMENTS;

/* Without types: copy the registers that are needed. A function, since the kernel limits the stack of those that run at once. */
BPF_FUNCTION void kernel_read_copy(const uint64_t *context, struct kernel_input *input)
{
	uint64_t copy[(REGISTERS_COPIED_END - REGISTERS_COPIED) / 8];

	bpf_probe_read_kernel(copy, sizeof(copy), (const void *)(context[0] + REGISTERS_COPIED));
	input->number = (uint32_t)copy[(REGISTERS_NUMBER - REGISTERS_COPIED) / 8];
	input->mode = (uint32_t)copy[(REGISTERS_MODE - REGISTERS_COPIED) / 8];
#pragma unroll
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++)
		input->arguments[n] = copy[(kernel_argument_places[n] - REGISTERS_COPIED) / 8];
}

/* Read the number of the call, and whose it is. */
BPF_INLINE void kernel_read_number(const uint64_t *context, struct kernel_input *input)
{
	if (!BPF_NUMBER(typed)) {
		kernel_read_copy(context, input);
		return;
	}
	input->number = BPF_MEMBER(uint32_t, (const void *)context[0], REGISTERS_NUMBER);
	input->mode = BPF_MEMBER(uint32_t, (const void *)context[0], REGISTERS_MODE);
}

BPF_INLINE void kernel_read_arguments(const uint64_t *context, struct kernel_input *input)
{
#pragma unroll
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++)
		if (BPF_NUMBER(typed))
			input->arguments[n] =
				BPF_MEMBER(uint64_t, (const void *)context[0], kernel_argument_places[n]);
	input->arguments[6] = input->arguments[7] = 0;
}

BPF_INLINE bool kernel_call_is_compat(const struct bpf_task *current, const struct kernel_input *input)
{
	const uint64_t status = BPF_NUMBER(task_status);

	if (BPF_NUMBER(typed) && status && BPF_NUMBER(task_id))
		return BPF_MEMBER(uint32_t, current, status) & TASK_COMPAT;
	return (input->mode & REGISTERS_MODE_MASK) == REGISTERS_MODE_32;
}

/*
 * The row of the current call in a table by number. Return: KERNEL_CALL_ENTRIES: none, at an exit that has KERNEL_CALL_NONE instead of the
 * number: that is the exit of a signal handler, or of a call that was refused.
 */
BPF_INLINE uint32_t kernel_call_row(const struct bpf_task *current, const uint64_t *context,
				    struct kernel_input *input, bool exits)
{
	kernel_read_number(context, input);
	if (kernel_call_is_compat(current, input))
		return KERNEL_CALL_COMPAT;
	if (input->number < KERNEL_CALLS)
		return input->number;
	return exits && input->number == (uint32_t)KERNEL_CALL_NONE ? KERNEL_CALL_ENTRIES
								    : KERNEL_CALL_UNNAMED;
}

BPF_INLINE bool kernel_call_is_followed(uint32_t thread)
{
	return !BPF_NUMBER(follows) || *kernel_follow_of(thread) >= KERNEL_FOLLOW_RECORDED;
}

#endif
