/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * compare emit | fill COUNT: the same program with Burin's tracepoint, with LTTng-UST's (COMPARE_LTTNG), and with
 * none (BURIN_DISABLE), for bench/compare.
 *
 * `emit` writes a byte to its output after each event. So after a kill the number of events is known: the number of
 * bytes, or one more. `fill` makes COUNT events as fast as it can. Both end when their input does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef COMPARE_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-provider.h"
#define EVENT(n) lttng_ust_tracepoint(bench, two, n, ~(n))
#else
#include <burin/burin.h>
#define EVENT(n) BURIN_TRACE("bench.two", "a=%u b=%u", n, ~(n))
#endif

enum {
	BATCH = 50, /* events in about a millisecond */
};

static int input_has_ended(void)
{
	char byte;

	return read(STDIN_FILENO, &byte, 1) == 0;
}

static void emit(void)
{
	unsigned n = 0;

	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	for (; !input_has_ended(); usleep(1000))
		for (unsigned end = n + BATCH; n < end; n++) {
			EVENT(n);
			if (write(STDOUT_FILENO, ".", 1) != 1)
				return;
		}
}

static void fill(unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		EVENT(n);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return;
	while (!input_has_ended())
		;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "emit") == 0) {
		emit();
	} else if (argc > 2 && strcmp(argv[1], "fill") == 0) {
		fill((unsigned)atoi(argv[2]));
	} else {
		fprintf(stderr, "Usage: compare emit | fill COUNT\n");
		return 2;
	}
	return 0;
}
