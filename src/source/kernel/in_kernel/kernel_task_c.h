/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* For programs in C: the current task, whether it is recorded, the system call that it is in, and whether an interrupt runs instead of it. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_TASK_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_TASK_C_H

#include "bpf/bpf_c.h"
#include "source/kernel/in_kernel/kernel_registers.h"
#include "source/kernel/in_kernel/kernel_follow_state.h"

extern uint8_t members[KERNEL_FOLLOW_TASKS]; /* enum kernel_follow_state of each task */

BPF_INLINE uint8_t *kernel_follow_of(uint32_t task)
{
	return &members[task & (KERNEL_FOLLOW_TASKS - 1)];
}

/*
 * The current task. It is asked for once: the first helper that a program calls takes longest where returns are protected. NULL: the
 * kernel's types are unknown.
 */
BPF_INLINE const struct bpf_task *kernel_current(void)
{
	return BPF_NUMBER(task_id) ? bpf_get_current_task_btf() : NULL;
}

/* The current thread's id. @current: of kernel_current() */
BPF_INLINE uint32_t kernel_thread(const struct bpf_task *current)
{
	if (BPF_NUMBER(task_id))
		return BPF_MEMBER(uint32_t, current, BPF_NUMBER(task_id));
	return (uint32_t)bpf_get_current_pid_tgid();
}

/* The number in a process's registers, with its sign. */
BPF_INLINE int64_t kernel_number_of(const void *registers)
{
#ifdef __x86_64__
	return BPF_MEMBER(int64_t, registers, REGISTERS_NUMBER);
#else
	return BPF_MEMBER(int32_t, registers, REGISTERS_NUMBER);
#endif
}

BPF_INLINE bool kernel_is_of_64_bits(const void *registers)
{
	return (BPF_MEMBER(uint64_t, registers, REGISTERS_MODE) & REGISTERS_MODE_MASK) == REGISTERS_MODE_64;
}

/*
 * The number of the call that a task is in, or enum kernel_call. The kernel stores it with the registers of the process. A thread of
 * the kernel has no such registers. BPF_NUMBER(task_status): where a task has its flags; 0: unknown.
 */
BPF_INLINE int64_t kernel_call_of(const struct bpf_task *task)
{
	const uint64_t status = BPF_NUMBER(task_status);
	const void *registers;

	if (status && BPF_MEMBER(uint32_t, task, status) & TASK_COMPAT)
		return KERNEL_CALL_UNKNOWN;
	registers = bpf_task_pt_regs(task);
	return kernel_is_of_64_bits(registers) ? kernel_number_of(registers) : KERNEL_CALL_NONE;
}

/*
 * KERNEL_INTERRUPT if one runs instead of the current task, else KERNEL_INTERRUPT_NONE. An interrupt in the kernel has another stack than
 * the one that has the registers of the process at its end; one of a process shares it, but then no system call brought the
 * process into the kernel. A fault looks the same. A program finds on which stack it runs by its own, so it must not have one apart:
 * the kernel (6.13 and later) gives one to a function that takes 64 bytes.
 *
 * @scratch: in the value of a map. Numbers of addresses are taken by way of it, since the verifier does not compare addresses.
 */
BPF_INLINE enum kernel_interrupt kernel_interrupt(volatile uint64_t *scratch)
{
	const void *registers = bpf_task_pt_regs(bpf_get_current_task_btf());
	uint64_t end, here;

	*(const void *volatile *)scratch = registers;
	end = *scratch;
	asm volatile("*(u64 *)(%0 + 0) = r10" : : "r"(scratch) : "memory");
	here = *scratch;
	*scratch = 0;
	if (end - here >= REGISTERS_STACK_OF_TASK)
		return KERNEL_INTERRUPT;
	if (kernel_is_of_64_bits(registers) && kernel_number_of(registers) < 0)
		return KERNEL_INTERRUPT;
	return KERNEL_INTERRUPT_NONE;
}

#endif
