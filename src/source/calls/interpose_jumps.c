/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions that leave others without returning from them: longjmp and contexts; and dlclose. Each is replaced by one that
 * takes note of the stack pointer that it sets, and then does what the replaced one does. setjmp marks the function that
 * calls it. hook_unwind.c has exceptions.
 */
#undef _FORTIFY_SOURCE /* by it <setjmp.h> gives all functions like longjmp one name, that of the one that checks */
#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <ucontext.h>

#include "source/calls/functions/call_functions.h"
#include "source/calls/stack/call_native.h"
#include "source/calls/interpose_jumps.h"

#define REPLACED __attribute__((visibility("default")))

typedef void jump(struct __jmp_buf_tag target[1], int value);

REPLACED jump __longjmp_chk __attribute__((noreturn));

#ifdef CALLS_STATIC
/* The names that the C library itself has for what is replaced. */
jump __libc_siglongjmp __attribute__((noreturn));
int __setcontext(const ucontext_t *to);
int __swapcontext(ucontext_t *from, const ucontext_t *to);
void __makecontext(ucontext_t *made, void (*function)(void), int count, ...);
#endif

/* What is replaced; NULL: not looked up yet. */
static struct {
	jump *longjmp, *_longjmp, *siglongjmp, *__longjmp_chk;
	int (*setcontext)(const ucontext_t *to);
	int (*swapcontext)(ucontext_t *from, const ucontext_t *to);
	void (*makecontext)(ucontext_t *made, void (*function)(void), int count, ...);
	int (*dlclose)(void *handle);
	void *setjmp, *_setjmp, *__sigsetjmp;
} real
#ifdef CALLS_STATIC
	= { .longjmp = __libc_siglongjmp,
	    ._longjmp = __libc_siglongjmp,
	    .siglongjmp = __libc_siglongjmp,
	    .__longjmp_chk = __libc_siglongjmp,
	    .setcontext = __setcontext,
	    .swapcontext = __swapcontext,
	    .makecontext = __makecontext }
#endif
;

#ifdef CALLS_STATIC
#define FIND(name) ((void)0)
#else
/* A library that was loaded late has no next one, but the program's comes before it. */
static void *find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	return found ? found : dlsym(RTLD_DEFAULT, name);
}

#define FIND(name) (real.name ? (void)0 : (void)(*(void **)&real.name = find(#name)))
#endif

void interpose_jumps_begin(void)
{
	FIND(longjmp);
	FIND(_longjmp);
	FIND(siglongjmp);
	FIND(__longjmp_chk);
	FIND(setcontext);
	FIND(swapcontext);
	FIND(makecontext);
	FIND(dlclose);
	FIND(setjmp);
	FIND(_setjmp);
	FIND(__sigsetjmp);
}

#if defined(__x86_64__)
/* The stack pointer that setjmp() has saved: mangled by the C library. */
static uint64_t saved_sp(const struct __jmp_buf_tag *target)
{
	enum {
		JMP_BUF_RSP = 6
	};
	uint64_t sp = (uint64_t)target->__jmpbuf[JMP_BUF_RSP];

	__asm__("rorq $17, %0\n\txorq %%fs:48, %0" : "+r"(sp));
	return sp;
}

static uint64_t context_sp(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[15]; /* REG_RSP */
}
#else
/* The stack pointer that setjmp() has saved, xor a secret of the C library. The secret follows from another one that is known. */
static __attribute__((noinline)) uint64_t saved_sp(const struct __jmp_buf_tag *target)
{
	enum {
		JMP_BUF_SP = 13
	};
	uint64_t here;
	jmp_buf known;

#ifdef CALLS_STATIC
	_setjmp(known);
#else
	FIND(_setjmp); /* ours would mark the innermost call */
	((int (*)(struct __jmp_buf_tag[1]))real._setjmp)(known);
#endif
	__asm__ volatile("mov %0, sp" : "=r"(here));
	return (uint64_t)target->__jmpbuf[JMP_BUF_SP] ^ (uint64_t)known[0].__jmpbuf[JMP_BUF_SP] ^ here;
}

static uint64_t context_sp(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}
#endif

#define JUMP(name)                                                                              \
	REPLACED __attribute__((noreturn)) void name(struct __jmp_buf_tag target[1], int value) \
	{                                                                                       \
		FIND(name);                                                                     \
		call_native_jump(saved_sp(target));                                             \
		real.name(target, value);                                                       \
		__builtin_unreachable();                                                        \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

REPLACED int setcontext(const ucontext_t *to)
{
	FIND(setcontext);
	call_native_move(context_sp(to));
	return real.setcontext(to);
}

/* Not inlined: the thread may be another one than before, and the compiler may have kept the address of its variables. */
static __attribute__((noinline)) void arrive(uint64_t sp)
{
	call_native_move(sp);
}

REPLACED int swapcontext(ucontext_t *from, const ucontext_t *to)
{
	int result;

	FIND(swapcontext);
	arrive(context_sp(to));
	result = real.swapcontext(from, to);
	/* A context that ended, and went here by itself, was not noticed. */
	arrive((uint64_t)(uintptr_t)__builtin_frame_address(0));
	return result;
}

/* Return: what is replaced. */
__attribute__((used, visibility("hidden"))) void *interpose_makecontext(const ucontext_t *context);

void *interpose_makecontext(const ucontext_t *context)
{
	FIND(makecontext);
	call_native_make(context->uc_stack.ss_sp, context->uc_stack.ss_size);
	return *(void **)&real.makecontext;
}

/* It has any number of arguments, which stay where they are. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl makecontext\n"
	".type makecontext, @function\n"
	"makecontext:\n"
	".cfi_startproc\n"
	"	pushq %rdi\n"
	"	pushq %rsi\n"
	"	pushq %rdx\n"
	"	pushq %rcx\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %rax\n"
	"	.cfi_adjust_cfa_offset 56\n"
	"	call interpose_makecontext\n"
	"	movq %rax, %r11\n"
	"	popq %rax\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rcx\n"
	"	popq %rdx\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -56\n"
	"	jmp *%r11\n"
	".cfi_endproc\n"
	".size makecontext, . - makecontext\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl makecontext\n"
	".type makecontext, @function\n"
	"makecontext:\n"
	".cfi_startproc\n"
	"	stp x29, x30, [sp, #-80]!\n"
	"	.cfi_adjust_cfa_offset 80\n"
	"	.cfi_rel_offset x29, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	stp x0, x1, [sp, #16]\n"
	"	stp x2, x3, [sp, #32]\n"
	"	stp x4, x5, [sp, #48]\n"
	"	stp x6, x7, [sp, #64]\n"
	"	bl interpose_makecontext\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x2, x3, [sp, #32]\n"
	"	ldp x4, x5, [sp, #48]\n"
	"	ldp x6, x7, [sp, #64]\n"
	"	ldp x29, x30, [sp], #80\n"
	"	.cfi_adjust_cfa_offset -80\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	br x16\n"
	".cfi_endproc\n"
	".size makecontext, . - makecontext\n");
#endif

#ifndef CALLS_STATIC /* there, setjmp has no other name; and nothing is unloaded */
/* setjmp returns twice, so it is left as it was entered: with the arguments and the stack of its caller. */
#define SETJMP(name)                                                              \
	__attribute__((used, visibility("hidden"))) void *interpose_##name(void); \
	void *interpose_##name(void)                                              \
	{                                                                         \
		FIND(name);                                                       \
		call_native_target();                                             \
		return real.name;                                                 \
	}                                                                         \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name     \
		":\n" SETJMP_CODE("interpose_" #name) ".size " #name ", . - " #name "\n")

#if defined(__x86_64__)
#define SETJMP_CODE(function)           \
	".cfi_startproc\n"              \
	"	pushq %rdi\n"                 \
	"	pushq %rsi\n"                 \
	"	subq $8, %rsp\n"              \
	"	.cfi_adjust_cfa_offset 24\n"  \
	"	call " function "\n"    \
	"	addq $8, %rsp\n"              \
	"	popq %rsi\n"                  \
	"	popq %rdi\n"                  \
	"	.cfi_adjust_cfa_offset -24\n" \
	"	jmp *%rax\n"                  \
	".cfi_endproc\n"
#elif defined(__aarch64__)
#define SETJMP_CODE(function)           \
	".cfi_startproc\n"              \
	"	stp x29, x30, [sp, #-32]!\n"  \
	"	.cfi_adjust_cfa_offset 32\n"  \
	"	.cfi_rel_offset x29, 0\n"     \
	"	.cfi_rel_offset x30, 8\n"     \
	"	stp x0, x1, [sp, #16]\n"      \
	"	bl " function "\n"      \
	"	mov x16, x0\n"                \
	"	ldp x0, x1, [sp, #16]\n"      \
	"	ldp x29, x30, [sp], #32\n"    \
	"	.cfi_adjust_cfa_offset -32\n" \
	"	.cfi_restore x29\n"           \
	"	.cfi_restore x30\n"           \
	"	br x16\n"                     \
	".cfi_endproc\n"
#endif

SETJMP(setjmp);
SETJMP(_setjmp);
SETJMP(__sigsetjmp);

REPLACED int dlclose(void *handle)
{
	int result;

	FIND(dlclose);
	result = real.dlclose(handle);
	call_functions_forget();
	return result;
}
#endif
