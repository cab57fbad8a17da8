/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * begin [wait]: a program that does nothing, with one tracepoint. Built twice, with Burin and without, it tells
 * what being traceable costs one that nobody traces: time from start to end, and memory while it waits, until
 * its input ends.
 */
#include <stdio.h>

#include <burin/burin.h>

int main(int argc, char **argv)
{
	BURIN_TRACE("begin.main", "arguments=%d program=%s", argc, argv[0]);
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	return 0;
}
