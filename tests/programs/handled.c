/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A timer interrupts calls of small functions, and the handler calls some, too: it comes between any two instructions of their hooks. The
 * program prints how many calls of each function there were.
 *
 *	handled TICKS		at once
 *	handled TICKS wait	after a line of its input
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

__attribute__((noinline)) long leaf(long value)
{
	__asm__ volatile("");
	return value + 1;
}

__attribute__((noinline)) long handler_leaf(long value)
{
	__asm__ volatile("");
	return value * 2 + 1;
}

__attribute__((noinline)) void on_tick(int number)
{
	if (handler_leaf(number) != 2 * number + 1)
		abort();
	ticks++;
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	const int most = argc > 1 ? atoi(argv[1]) : 400;
	long calls = 0;

	if (argc > 2 && getchar() == EOF)
		return 1;
	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < most)
		calls = leaf(calls);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("leaf %ld\nhandler_leaf %d\non_tick %d\n", calls, ticks, ticks);
	return 0;
}
