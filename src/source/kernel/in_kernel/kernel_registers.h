/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The registers of a process in the kernel, and what programs find from them. Programs in C have this header, too. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_REGISTERS_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_REGISTERS_H

/* In struct pt_regs: the number of the system call, and the mode of the program's code. */
enum {
#ifdef __x86_64__
	REGISTERS_NUMBER = 120, /* orig_ax */
	REGISTERS_MODE = 136,	/* cs */
	REGISTERS_STACK = 152,	/* sp */
	REGISTERS_MODE_MASK = 0xffff,
	REGISTERS_MODE_64 = 0x33,
	REGISTERS_MODE_32 = 0x23,
	/* The registers that programs copy on a kernel without types: r10 to cs. */
	REGISTERS_COPIED = 56,
	REGISTERS_COPIED_END = 144,
#else
	REGISTERS_NUMBER = 280, /* syscallno */
	REGISTERS_MODE = 264,	/* pstate */
	REGISTERS_STACK = 248,	/* sp */
	REGISTERS_MODE_MASK = 0x1f,
	REGISTERS_MODE_64 = 0,
	REGISTERS_MODE_32 = 0x10,
	/* The registers that programs copy on a kernel without types: x1 to syscallno. */
	REGISTERS_COPIED = 8,
	REGISTERS_COPIED_END = 288,
#endif
	/* Bytes of a thread's stack in the kernel; larger if the kernel was built with KASAN. */
	REGISTERS_STACK_OF_TASK = 16 << 10,
};

/* The arguments of a system call. */
#ifdef __x86_64__
#define REGISTERS_ARGUMENTS              \
	{                                \
		112, 104, 96, 56, 72, 64 \
	} /* rdi, rsi, rdx, r10, r8, r9 */
#else
#define REGISTERS_ARGUMENTS            \
	{                              \
		272, 8, 16, 24, 32, 40 \
	} /* orig_x0, since x0 has the result; x1 to x5 */
#endif

enum {
	TASK_COMPAT = 2, /* TS_COMPAT in struct thread_info's `status` */
};

enum kernel_call {
	KERNEL_CALL_NONE = -1, /* the kernel itself stores it in the number's place where there is no call */
	KERNEL_CALL_UNKNOWN = -2,
};

/* The field `interrupt` of sched_waking. */
enum kernel_interrupt {
	KERNEL_INTERRUPT_UNKNOWN = -1,
	KERNEL_INTERRUPT_NONE,	 /* the current thread wakes */
	KERNEL_INTERRUPT,	 /* the current thread was only interrupted */
	KERNEL_INTERRUPT_PACKET, /* by a soft interrupt that delivers a packet of its own */
};

#endif
