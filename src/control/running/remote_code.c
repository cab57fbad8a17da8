/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The code of calls in another process; see remote_code.h. */
#if defined(__x86_64__)

#include <assert.h>

#include "control/running/remote_code.h"

#define FIELD(name, offset) \
	static_assert(offsetof(struct remote_frame, name) == (offset), "the code has this offset")

FIELD(errno_location, 0);
FIELD(function, 8);
FIELD(arguments, 16);
FIELD(next, 32);
FIELD(next_name, 40);
FIELD(awaited, 48);
FIELD(pending, 56);
FIELD(waits, 64);
FIELD(result, 72);
FIELD(blocked, 88);
FIELD(registers, 96);
FIELD(state, 4480);

/* ebp: the steps; r13: the address of errno; r14d: its value. If a caller does not come for some tenths of a second, it is dead. */
__asm__(".pushsection .rodata.remote_code, \"a\"\n"
	".globl remote_code_begin, remote_code_end\n"
	".hidden remote_code_begin, remote_code_end\n"
	"remote_code_begin:\n\t"
	"call *(%rbx)\n\t"
	"movq %rax, %r13\n\t"
	"movl (%r13), %r14d\n\t"
	"movl $1, %ebp\n\t"
	"movq 16(%rbx), %rdi\n\t"
	"movq 24(%rbx), %rsi\n\t"
	"call *8(%rbx)\n\t"
	"cmpq $0, 32(%rbx)\n\t"
	"je 1f\n\t"
	"testq %rax, %rax\n\t"
	"jz 1f\n\t"
	"incl %ebp\n\t"
	"movq %rax, %rdi\n\t"
	"movq 40(%rbx), %rsi\n\t"
	"call *32(%rbx)\n\t"
	"testq %rax, %rax\n\t"
	"jz 1f\n\t"
	"incl %ebp\n\t"
	"call *%rax\n"
	"1:\n\t"
	"movl %r14d, (%r13)\n\t"
	"movq %rax, 8(%r12)\n\t"
	"movl $127, %eax\n\t" /* rt_sigpending() */
	"leaq 56(%rbx), %rdi\n\t"
	"movl $8, %esi\n\t"
	"syscall\n\t"
	"movq 56(%rbx), %rax\n\t"
	"andq 48(%rbx), %rax\n\t"
	"orq 64(%rbx), %rax\n\t"
	"jz 3f\n\t"
	"orl $0x100, %ebp\n\t" /* REMOTE_CODE_WAITS */
	"movq %rbp, (%r12)\n\t"
	"movl $262144, %r13d\n"
	"2:\n\t"
	"movl $24, %eax\n\t" /* sched_yield() */
	"syscall\n\t"
	"decl %r13d\n\t"
	"jnz 2b\n"
	"3:\n\t"
	"movq %rbp, (%r12)\n\t"
	"movl $-1, %eax\n\t"
	"cltd\n\t"
	"xrstor64 4480(%rbx)\n\t"
	"movl $14, %eax\n\t" /* rt_sigprocmask(SIG_SETMASK) */
	"movl $2, %edi\n\t"
	"leaq 88(%rbx), %rsi\n\t"
	"xorl %edx, %edx\n\t"
	"movl $8, %r10d\n\t"
	"syscall\n\t"
	"leaq 96(%rbx), %rsp\n\t"
	"popq %r15\n\t"
	"popq %r14\n\t"
	"popq %r13\n\t"
	"popq %r12\n\t"
	"popq %rbp\n\t"
	"popq %rbx\n\t"
	"popq %r11\n\t"
	"popq %r10\n\t"
	"popq %r9\n\t"
	"popq %r8\n\t"
	"popq %rax\n\t"
	"popq %rcx\n\t"
	"popq %rdx\n\t"
	"popq %rsi\n\t"
	"popq %rdi\n\t"
	"addq $8, %rsp\n\t" /* the number of its system call */
	"iretq\n"	    /* with rip, cs, eflags, rsp, ss */
	"remote_code_end:\n"
	".popsection");

#endif
