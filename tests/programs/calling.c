/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose calls are known (tests/cmd/calls.test), built with -finstrument-functions. A round is
 *
 *	serve
 *	  net_read
 *	    crc
 *	  disk_write
 *	    crc
 *	crc
 *
 * `called N` makes N rounds. Without N it reads numbers of rounds from its standard input, and answers each with a line;
 * it stops in deep_in() at "hang". `slow` in front of N: each disk_write() takes 2 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static int is_slow;

static APART int crc(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static APART int net_read(int n)
{
	n = crc(n);
	__asm__ volatile("" : "+r"(n));
	return n;
}

static APART int disk_write(int n)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	n = crc(n);
	if (is_slow)
		nanosleep(&pause, NULL);
	__asm__ volatile("" : "+r"(n));
	return n;
}

static APART int serve(int n)
{
	n = net_read(n);
	n = disk_write(n);
	__asm__ volatile("" : "+r"(n));
	return n;
}

static APART void deep_in(int n)
{
	puts("hangs");
	fflush(stdout);
	for (;;)
		sleep(1000);
	crc(n);
}

static APART void deep(int n)
{
	deep_in(n);
	crc(n);
}

static APART void rounds(int count)
{
	for (int n = 0; n < count; n++) {
		serve(n);
		crc(n);
	}
}

int main(int argc, char **argv)
{
	char line[64];

	is_slow = argc > 1 && !strcmp(argv[1], "slow");
	if (argc > 1) {
		rounds(atoi(argv[argc - 1]));
		return 0;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "hang\n"))
			deep(1);
		rounds(atoi(line));
		puts("done");
		fflush(stdout);
	}
	return 0;
}
