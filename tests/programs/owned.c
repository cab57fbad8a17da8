/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of the C library that a program has itself: their hooks or tracepoints must not call them, and their results are not
 * what the C library's are. It prints how often each was called by the program.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef POINTS
#include <burin/burin.h>
#define POINT() BURIN_TRACE("owned.call", "")
#else
#define POINT() (void)0
#endif

static int calls;

__attribute__((noinline)) int helper(int value)
{
	__asm__ volatile("");
	POINT();
	return value;
}

__attribute__((noinline)) pid_t getpid(void)
{
	return helper(7);
}

__attribute__((noinline)) pid_t getppid(void)
{
	return helper(8);
}

__attribute__((noinline)) ssize_t write(int file, const void *data, size_t bytes)
{
	calls += helper(1);
	return syscall(SYS_write, file, data, bytes);
}

__attribute__((noinline)) size_t strlen(const char *text)
{
	size_t bytes = (size_t)helper(0);

	while (text[bytes])
		bytes++;
	return bytes;
}

__attribute__((noinline)) int strcmp(const char *one, const char *other)
{
	while (helper(1) && *one && *one == *other) {
		one++;
		other++;
	}
	return *one - *other;
}

__attribute__((noinline)) char *getenv(const char *name)
{
	static char text[] = "mine";

	return helper(1) && name ? text : NULL;
}

__attribute__((noinline)) int sched_yield(void)
{
	return helper(0);
}

int main(int argc, char **argv)
{
	int wrong = 0;

	for (int n = 0; n < 10; n++)
		wrong += getpid() != 7 || getppid() != 8 || strlen(argv[0]) == 0 || strcmp("a", "b") != -1 ||
			 getenv("x") == NULL || sched_yield() != 0;
	write(STDOUT_FILENO, wrong ? "wrong\n" : "right\n", 6);
	return wrong + argc - 1;
}
