/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Paths apart from the program's stack; see call_apart.h. This file is compiled for general registers only. */
#if defined(__x86_64__)

#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ring/ring_deps.h"
#include "source/calls/functions/call_apart.h"

enum {
	STACKS = 256, /* that are in use at one moment */
	WORD_BITS = 64,
	STACK_BYTES =
		128 << 10, /* of which the deepest path takes a quarter; what is not used is no memory */
	GUARD_BYTES = 4096,
	STATE_BYTES = 2816, /* of all vector registers, as xsave stores them */
	STATE_MASK = 0xe7,  /* x87, SSE, AVX, AVX-512 */
	STATE_X87_SSE = 3,
};

/* At the end of each stack. */
struct apart_stack {
	uint64_t number;
	uint64_t reserved;
};

static uint64_t in_use[STACKS / WORD_BITS]; /* a bit for each */
static struct apart_stack *stacks[STACKS];  /* NULL: not made yet; the thread that has the bit makes it */

uint32_t call_apart_state; /* of xsave; 0: there is only fxsave */

/* Called by the code below. */
struct apart_stack *call_apart_take(void);
void call_apart_give(struct apart_stack *stack);

void call_apart_begin(void)
{
	uint32_t a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	low &= STATE_MASK;
	__cpuid_count(13, 0, a, b, c, d);
	call_apart_state = b <= STATE_BYTES ? low : low & STATE_X87_SSE;
}

void call_apart_fork(void)
{
	for (unsigned n = 0; n < STACKS / WORD_BITS; n++)
		in_use[n] = 0;
}

/* Not by the C library, whose functions may use vector registers. */
static long system_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t fourth __asm__("r10") = d, fifth __asm__("r8") = UINT64_MAX,
				 sixth __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
}

static __attribute__((noinline)) struct apart_stack *make(uint64_t number)
{
	const long memory = system_call(SYS_mmap, 0, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	struct apart_stack *stack;

	if (memory < 0 && memory > -GUARD_BYTES) /* an error's number */
		return NULL;
	system_call(SYS_mprotect, (uint64_t)memory, GUARD_BYTES, PROT_NONE, 0);
	stack = (struct apart_stack *)(uintptr_t)(memory + GUARD_BYTES + STACK_BYTES) - 1;
	stack->number = number;
	return stack;
}

/* Acquire: the bit was given back by another thread. Pairs with the release in call_apart_give(). */
static bool take_bit(uint64_t *word, unsigned *bit)
{
	uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (~seen) {
		*bit = (unsigned)__builtin_ctzll(~seen);
		if (__atomic_compare_exchange_n(word, &seen, seen | 1ull << *bit, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void give_bit(uint64_t number)
{
	__atomic_fetch_and(&in_use[number / WORD_BITS], ~(1ull << number % WORD_BITS), __ATOMIC_RELEASE);
}

/* A stack, by its end; NULL: there is none. */
struct apart_stack *call_apart_take(void)
{
	unsigned bit;

	for (unsigned n = 0; n < STACKS / WORD_BITS; n++) {
		const uint64_t base = (uint64_t)n * WORD_BITS;

		if (!take_bit(&in_use[n], &bit))
			continue;
		if (!stacks[base + bit])
			stacks[base + bit] = make(base + bit);
		if (!stacks[base + bit])
			give_bit(base + bit);
		return stacks[base + bit];
	}
	return NULL;
}

void call_apart_give(struct apart_stack *stack)
{
	give_bit(stack->number);
}

static_assert(SYS_rt_sigprocmask == 14 && SIG_SETMASK == 2 && STATE_BYTES == 2816 &&
		      sizeof(struct apart_stack) % 16 == 0,
	      "numbers in the code below");

/* clang-format off */

/* The frame: below %rbp the function, its arguments, the thread's signal mask, and the stack, 0 if none. */
#define ENTER(name) \
	".globl " #name "\n.hidden " #name "\n" \
	".type " #name ", @function\n" \
	#name ":\n\t" \
	".cfi_startproc\n\t" \
	"pushq %rbp\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	".cfi_rel_offset %rbp, 0\n\t" \
	"movq %rsp, %rbp\n\t" \
	".cfi_def_cfa_register %rbp\n\t" \
	"pushq %rdi\n\t" \
	"pushq %rsi\n\t" \
	"pushq %rdx\n\t"

#define LEAVE(name) \
	"movq -8(%rbp), %rax\n\t" \
	"leave\n\t" \
	".cfi_def_cfa %rsp, 8\n\t" \
	"ret\n\t" \
	".cfi_endproc\n" \
	".size " #name ", . - " #name "\n"

/* rt_sigprocmask(SIG_SETMASK, ...): rsi and rdx are set. */
#define SET_MASK \
	"movl $2, %edi\n\t" \
	"movl $8, %r10d\n\t" \
	"movl $14, %eax\n\t" \
	"syscall\n\t"

/* Call the function below %rsp; its result takes its place. */
#define RUN \
	"subq $2816, %rsp\n\t" \
	"andq $-64, %rsp\n\t" \
	"movq -16(%rbp), %rdi\n\t" \
	"movq -24(%rbp), %rsi\n\t" \
	"movl call_apart_state(%rip), %eax\n\t" \
	"xorl %edx, %edx\n\t" \
	"testl %eax, %eax\n\t" \
	"jz 1f\n\t" \
	"movq %rdx, 512(%rsp)\n\t" /* xrstor wants zeros in the header, where xsave leaves what was there */ \
	"movq %rdx, 520(%rsp)\n\t" \
	"movq %rdx, 528(%rsp)\n\t" \
	"movq %rdx, 536(%rsp)\n\t" \
	"movq %rdx, 544(%rsp)\n\t" \
	"movq %rdx, 552(%rsp)\n\t" \
	"movq %rdx, 560(%rsp)\n\t" \
	"movq %rdx, 568(%rsp)\n\t" \
	"xsave (%rsp)\n\t" \
	"call *-8(%rbp)\n\t" \
	"movq %rax, -8(%rbp)\n\t" \
	"movl call_apart_state(%rip), %eax\n\t" \
	"xorl %edx, %edx\n\t" \
	"xrstor (%rsp)\n\t" \
	"jmp 2f\n" \
	"1:\n\t" \
	"fxsave (%rsp)\n\t" \
	"call *-8(%rbp)\n\t" \
	"movq %rax, -8(%rbp)\n\t" \
	"fxrstor (%rsp)\n" \
	"2:\n\t"

__asm__(".pushsection .text.call_apart, \"ax\"\n"
	ENTER(call_here)
	"3:\n\t"
	RUN
	LEAVE(call_here)

	ENTER(call_apart)
	"movq ring_silent@gotpcrel(%rip), %rax\n\t"
	"cmpb $0, (%rax)\n\t"
	"jne 3b\n\t"
	"pushq $0\n\t"
	"leaq call_apart_signals(%rip), %rsi\n\t"
	"leaq -32(%rbp), %rdx\n\t"
	SET_MASK
	"testq %rax, %rax\n\t"
	"jnz 3b\n\t"
	"andq $-16, %rsp\n\t"
	"call call_apart_take\n\t"
	"leaq -32(%rbp), %rsp\n\t"
	"pushq %rax\n\t"
	"testq %rax, %rax\n\t"
	"jz 4f\n\t"
	"movq %rax, %rsp\n"
	"4:\n\t"
	RUN
	"leaq -40(%rbp), %rsp\n\t"
	"andq $-16, %rsp\n\t"
	"movq -40(%rbp), %rdi\n\t"
	"testq %rdi, %rdi\n\t"
	"jz 5f\n\t"
	"call call_apart_give\n"
	"5:\n\t"
	"leaq -32(%rbp), %rsi\n\t"
	"xorl %edx, %edx\n\t"
	SET_MASK
	LEAVE(call_apart)
	".popsection\n"
	".pushsection .rodata.call_apart, \"a\"\n"
	".balign 8\n"
	"call_apart_signals: .quad -1\n"
	".popsection");

/* clang-format on */

#endif
