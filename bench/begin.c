/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * begin [wait]: a program that does nothing and has one tracepoint. It is built with Burin and without. The difference
 * is the cost of tracepoints in a program that is not traced: time from start to end, and memory while it waits for the
 * end of its input.
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
