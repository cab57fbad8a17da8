/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Work that is known: three of four steps are hot()'s, one is cold()'s. The C library calls them back. With an argument, they lie
 * below a stack of so many KiB instead. A step is a multiplication that waits for the one before: it takes as long in both, however
 * the code lies. An addition in memory does not: some processors forward one loop's stores faster than the other's.
 */
#include <stdlib.h>
#include <string.h>

static volatile unsigned long sum;

__attribute__((noinline)) void hot(unsigned long steps)
{
	unsigned long last = sum;

	for (unsigned long n = 0; n < steps; n++)
		last = last * last + 3;
	sum = last;
}

__attribute__((noinline)) void cold(unsigned long steps)
{
	unsigned long last = sum;

	for (unsigned long n = 0; n < steps; n++)
		last = last * last + 5;
	sum = last;
}

__attribute__((noinline)) static int compare(const void *one, const void *other)
{
	hot(3000);
	cold(1000);
	return *(const int *)one - *(const int *)other;
}

__attribute__((noinline)) static void work(void)
{
	for (int n = 0; n < 60; n++) {
		int numbers[300];

		for (int at = 0; at < 300; at++)
			numbers[at] = (at * 7919 + n) % 301;
		qsort(numbers, 300, sizeof(numbers[0]), compare);
	}
}

__attribute__((noinline)) static int below(int kib)
{
	char bytes[1024];
	int last;

	memset(bytes, kib, sizeof(bytes));
	if (kib > 1)
		below(kib - 1);
	else
		for (int n = 0; n < 80000; n++)
			compare(&n, &n);
	last = bytes[kib];
	__asm__ volatile("" : : "r"(bytes) : "memory"); /* or the last call would not return here */
	return last;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return below(atoi(argv[1])) == 99;
	work();
	return 0;
}
