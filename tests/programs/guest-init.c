// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The first process of a machine, or an ordinary program: known calls in threads, coroutines, signal handlers, forked processes, and
// behind longjmp and exceptions (guest-throws.cc). As the first process without an argument it also prints the kernel's functions: to the
// port 0xe9, or by semihosting. Compiled by
// tests/source/guest.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

#define KNOWN __attribute__((noinline, noclone))

static volatile int sum;
static jmp_buf back;
static ucontext_t around, inside;
static char stack[65536];

KNOWN void leaf(int n)
{
	sum += n;
}

KNOWN void recursion(int n)
{
	if (n)
		recursion(n - 1);
	leaf(n);
}

KNOWN void jumper(int n)
{
	if (!n)
		longjmp(back, 1);
	jumper(n - 1);
	sum++;
}

KNOWN void handler(int signal)
{
	leaf(signal);
}

KNOWN void busy(int n)
{
	leaf(n);
	if (n % 10 == 0)
		sched_yield();
}

// Wait for the turn of this process, then give it to the other one.
static void take_turn(volatile int *turn, int self)
{
	while (*turn != self)
		sched_yield();
	*turn = !self;
}

KNOWN void together(volatile int *turn, int self, int n)
{
	take_turn(turn, self);
	if (n)
		together(turn, self, n - 1);
	take_turn(turn, self);
}

// The same for two threads that spin, each on a processor of its own, and whose stacks lie side by side.
static char side_by_side[2][65536] __attribute__((aligned(65536)));
static volatile int turn_of_thread;

static void spin_for_turn(int self)
{
	while (turn_of_thread != self)
#ifdef __x86_64__
		__asm__ volatile("pause");
#else
		__asm__ volatile("yield");
#endif
	turn_of_thread = !self;
}

KNOWN void beside(int self, int n)
{
	spin_for_turn(self);
	if (n)
		beside(self, n - 1);
	spin_for_turn(self);
}

static void *spin(void *data)
{
	beside(data != NULL, 100);
	return data;
}

static void run_beside(void)
{
	pthread_t threads[2];
	pthread_attr_t where;

	pthread_attr_init(&where);
	for (int self = 0; self < 2; self++) {
		pthread_attr_setstack(&where, side_by_side[self], sizeof(side_by_side[self]));
		pthread_create(&threads[self], &where, spin, self ? side_by_side : NULL);
	}
	for (int self = 0; self < 2; self++)
		pthread_join(threads[self], NULL);
}

static void *work(void *data)
{
	for (int n = 0; n < 100; n++)
		busy(n);
	return data;
}

static void coroutine(void)
{
	for (int n = 0; n < 5; n++) {
		leaf(n);
		swapcontext(&inside, &around);
	}
}

static void run_threads(void)
{
	pthread_t threads[4];

	for (int n = 0; n < 4; n++)
		pthread_create(&threads[n], NULL, work, NULL);
	for (int n = 0; n < 4; n++)
		pthread_join(threads[n], NULL);
}

static void run_coroutine(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &around;
	makecontext(&inside, coroutine, 0);
	for (int n = 0; n < 5; n++)
		swapcontext(&around, &inside);
}

static void run_processes(void)
{
	for (int n = 0; n < 3; n++)
		if (fork() == 0) {
			recursion(20);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

// Two processes with one stack address call and return in turns.
static void run_together(void)
{
	volatile int *turn =
		mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int self = 0; self < 2; self++)
		if (fork() == 0) {
			together(turn, self, 10);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

// A page of code that processes have at different addresses, as a library: a function, and behind 64 bytes one that it calls.
static const unsigned char code[] = {
#ifdef __x86_64__
	0xe8,	     0x3b, 0x00, 0x00, 0x00, 0xc3, // call .+64; ret
	[64] = 0xc3,
#else
	0xfd,	     0x7b, 0xbf, 0xa9, 0x0f, 0x00, 0x00, 0x94, // stp x29, x30, [sp, #-16]!; bl .+60
	0xfd,	     0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6, // ldp x29, x30, [sp], #16; ret
	[64] = 0xc0, 0x03, 0x5f, 0xd6,
#endif
};

static void run_moved_code(void)
{
	const int file = memfd_create("code", 0);

	if (write(file, code, sizeof(code)) != sizeof(code))
		abort();
	for (long n = 1; n <= 3; n++) {
		if (fork() == 0) {
			void (*moved)(void) = mmap((void *)(n * 0x10000000), 4096, PROT_READ | PROT_EXEC,
						   MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);

			for (int calls = 0; calls < 10 * n; calls++)
				moved();
			_exit(0);
		}
		wait(NULL);
	}
}

extern void run_exceptions(void) __attribute__((weak)); // no compiler of C++: no exceptions

#ifdef __x86_64__
static void print(const char *text)
{
	static int opened;

	opened = opened || iopl(3) == 0;
	for (; *text; text++)
		outb((unsigned char)*text, 0xe9);
}
#else
static void print(const char *text)
{
	register long operation __asm__("x0") = 4; // SYS_WRITE0
	register const char *argument __asm__("x1") = text;

	__asm__ volatile("hlt #0xf000" : "+r"(operation) : "r"(argument) : "memory");
}
#endif

static void print_functions(void)
{
	FILE *names;
	char line[512];

	mount("proc", "/proc", "proc", 0, NULL);
	names = fopen("/proc/kallsyms", "r");
	while (names && fgets(line, sizeof(line), names))
		if (strchr("tTwW", line[17]))
			print(line);
}

// Processes at work at the same time: each calls recursion() 50 times in each turn.
static void run_work(int processes, int turns)
{
	for (int n = 0; n < processes; n++)
		if (fork() == 0) {
			for (int turn = 0; turn < turns; turn++)
				recursion(49);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

int main(int count, char **words)
{
	if (count > 3 && strcmp(words[count - 3], "work") == 0) {
		run_work(atoi(words[count - 2]), atoi(words[count - 1]));
		reboot(RB_AUTOBOOT);
	}
	if (count > 1 && strcmp(words[count - 1], "beside") == 0) {
		run_beside();
		reboot(RB_AUTOBOOT);
	}
	recursion(50);
	for (int n = 0; n < 3; n++)
		if (!setjmp(back))
			jumper(10);
	signal(SIGUSR1, handler);
	for (int n = 0; n < 7; n++)
		raise(SIGUSR1);
	run_threads();
	run_coroutine();
	run_processes();
	run_together();
	run_moved_code();
	if (run_exceptions)
		run_exceptions();
	if (getpid() != 1)
		return 0;
	if (count == 1)
		print_functions();
	reboot(RB_AUTOBOOT);
	return 1;
}
