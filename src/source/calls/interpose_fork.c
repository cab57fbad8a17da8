/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions that fork, but run no handler of pthread_atfork(): _Fork(), and syscall() with the numbers of such calls. They are replaced by
 * ones that do for calls what these handlers do, so that the child has its own copy of what is open, as that of fork().
 */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/calls/call_fork.h"
#include "source/calls/stack/call_thread.h"

#define REPLACED __attribute__((visibility("default")))

static long plain_fork(const long arguments[7])
{
	register long fourth __asm__("r10") = arguments[4], fifth __asm__("r8") = arguments[5],
			     sixth __asm__("r9") = arguments[6];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(arguments[0]), "D"(arguments[1]), "S"(arguments[2]), "d"(arguments[3]),
			   "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
}

/* The handlers of a fork that this one interrupts have done it. */
static long fork_by(long (*how)(const long *), const long *arguments)
{
	const bool alone = !call_thread.forking;
	const int saved = errno;
	long result;

	if (alone)
		call_fork_before();
	result = how(arguments);
	if (alone && result == 0)
		call_fork_child();
	else if (alone)
		call_fork_after();
	errno = saved;
	return result;
}

static long c_library_fork(const long *unused)
{
	static pid_t (*known)(void);
	pid_t (*found)(void) = __atomic_load_n(&known, __ATOMIC_RELAXED);
	pid_t result;

	(void)unused;
	if (!found) {
		*(void **)&found = dlsym(RTLD_NEXT, "_Fork") ?: dlsym(RTLD_DEFAULT, "_Fork");
		__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	}
	result = found();
	return result < 0 ? -errno : result;
}

static long answer(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

REPLACED pid_t _Fork(void)
{
	return (pid_t)answer(fork_by(c_library_fork, NULL));
}

/* syscall() below calls it; then the C library's error. */
__attribute__((used, visibility("hidden"))) long interpose_fork(long number, long a, long b, long c, long d,
								long e, long f);
__attribute__((used, visibility("hidden"))) long interpose_fork_failed(long result);

long interpose_fork(long number, long a, long b, long c, long d, long e, long f)
{
	const long arguments[7] = { number, a, b, c, d, e, f };

	return answer(fork_by(plain_fork, arguments));
}

long interpose_fork_failed(long result)
{
	return answer(result);
}

static_assert(SYS_clone == 56 && SYS_fork == 57 && CLONE_VM == 0x100, "numbers in the code below");

/*
 * A child may come back on another stack, or on its parent's: so it is code, and goes to a function of C only for forks that copy memory and
 * keep the stack. clone3() is called with its own stack by all who call it; its child is found by the hooks.
 */
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	".cfi_startproc\n"
	"	cmpq $56, %rdi\n"
	"	je 1f\n"
	"	cmpq $57, %rdi\n"
	"	je interpose_fork\n"
	"2:	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	cmpq $-4095, %rax\n"
	"	jae 3f\n"
	"	ret\n"
	"3:	movq %rax, %rdi\n"
	"	jmp interpose_fork_failed\n"
	"1:	testl $0x100, %esi\n"
	"	jnz 2b\n"
	"	testq %rdx, %rdx\n"
	"	jnz 2b\n"
	"	jmp interpose_fork\n"
	".cfi_endproc\n"
	".size syscall, . - syscall\n");

#endif
