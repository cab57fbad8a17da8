/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How much stack calls take: each thread makes calls on a piece of memory that was painted before, and looks how deep the paint is gone.
 * Without hooks that is what the calls themselves take. The program prints the most of all threads, in bytes:
 *
 *	first N		the first call of a thread
 *	later N		many calls afterwards
 *	deep N		calls of 600 levels
 *	context N	calls of a coroutine, which goes to and fro
 *
 * and how many calls there were. Other threads call for the first time by a signal handler, on an alternate stack of 8 KiB, of which the
 * kernel takes up to a half. x86-64 only.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
	THREADS = 3,
	CALLS = 30000,
	LEVELS = 600,
	ROOM = 256 << 10,
	PAGE = 4096,
	SMALL = 8192,
	TURNS = 50,
	PAINT = 0xa5,
};

#define NO_HOOK __attribute__((noinline, no_instrument_function, patchable_function_entry(0, 0), NO_SLED))
#ifdef __clang__
#define NO_SLED xray_never_instrument
#else
#define NO_SLED noclone
#endif

__attribute__((noinline)) long leaf(long a, const char *text)
{
	__asm__ volatile("" : : "r"(text));
	return a + 1;
}

__attribute__((noinline)) long level(long left)
{
	long below = left ? level(left - 1) : 0;

	__asm__ volatile("" : "+r"(below)); /* no loop */
	return below + 1;
}

NO_HOOK static long once(void)
{
	return leaf(1, "once");
}

NO_HOOK static long often(void)
{
	long sum = 0;

	for (int n = 0; n < CALLS; n++)
		sum += leaf(n, "often");
	return sum;
}

NO_HOOK static long deep(void)
{
	return level(LEVELS - 1);
}

/* Call a function on other memory. Return: how many bytes of it were used. */
NO_HOOK static size_t used_by(long (*function)(void), char *room)
{
	char *top = room + ROOM;
	size_t left = 0;

	memset(room, PAINT, ROOM);
	__asm__ volatile("movq %%rsp, %%rbx\n\tmovq %0, %%rsp\n\tcall *%1\n\tmovq %%rbx, %%rsp"
			 : "+r"(top), "+r"(function)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
			   "cc", "memory");
	while (left < ROOM && (unsigned char)room[left] == PAINT)
		left++;
	return ROOM - left;
}

NO_HOOK static char *map(size_t bytes)
{
	char *memory = mmap(NULL, PAGE + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + PAGE, bytes, PROT_READ | PROT_WRITE) != 0)
		abort();
	return memory + PAGE; /* what is below cannot be used */
}

static size_t first, later, most;

NO_HOOK static void *measure(void *unused)
{
	char *room = map(ROOM);
	size_t bytes = used_by(once, room);

	first = bytes > first ? bytes : first;
	bytes = used_by(often, room);
	later = bytes > later ? bytes : later;
	bytes = used_by(deep, room);
	most = bytes > most ? bytes : most;
	return unused;
}

static ucontext_t caller, coroutine;

NO_HOOK static void take_turns(void)
{
	for (int n = 0; n < TURNS; n++) {
		leaf(n, "turn");
		swapcontext(&coroutine, &caller);
	}
}

NO_HOOK static size_t used_by_coroutine(void)
{
	char *stack = map(SMALL);
	size_t left = 0;

	memset(stack, PAINT, SMALL);
	getcontext(&coroutine);
	coroutine.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = SMALL };
	coroutine.uc_link = &caller;
	makecontext(&coroutine, take_turns, 0);
	for (int n = 0; n <= TURNS; n++)
		swapcontext(&caller, &coroutine);
	while (left < SMALL && (unsigned char)stack[left] == PAINT)
		left++;
	return SMALL - left;
}

NO_HOOK static void on_signal(int number)
{
	leaf(number, "handler");
}

NO_HOOK static void *handle(void *unused)
{
	const stack_t small = { .ss_sp = map(SMALL), .ss_size = SMALL };

	if (sigaltstack(&small, NULL) != 0 || pthread_kill(pthread_self(), SIGUSR1) != 0)
		abort();
	return unused;
}

NO_HOOK static void in_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) != 0 || pthread_join(thread, NULL) != 0)
		abort();
}

NO_HOOK int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaction(SIGUSR1, &action, NULL);
	for (int n = 0; n < THREADS; n++) {
		in_thread(measure);
		in_thread(handle);
	}
	printf("first %zu\nlater %zu\ndeep %zu\ncontext %zu\n", first, later, most, used_by_coroutine());
	printf("leaf %d\nlevel %d\n", THREADS * (CALLS + 2) + TURNS, THREADS * LEVELS);
	return 0;
}
