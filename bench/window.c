/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * window SECONDS CPU: a writer at full speed that records its own rate over time. For each block of events it prints
 * CLOCK_MONOTONIC and the processor time of the thread so far, both in ns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "burin/burin.h"
#include "timing.h"

enum {
	WINDOW_BLOCK = 20000, /* events in less than a millisecond */
	WINDOW_BLOCKS_MAX = 1 << 18,
};

static uint64_t at[WINDOW_BLOCKS_MAX], had[WINDOW_BLOCKS_MAX];

static uint64_t processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t number = 0, end;
	unsigned blocks = 0;

	if (argc < 3 || !burin_active()) {
		fprintf(stderr, "Usage: burin record -- window SECONDS CPU\n");
		return 2;
	}
	timing_pin(atoi(argv[2]));
	end = timing_ns() + strtoull(argv[1], NULL, 10) * 1000000000;
	do {
		for (unsigned n = 0; n < WINDOW_BLOCK; n++, number++)
			BURIN_TRACE("bench.window", "number=%llu twice=%llu", (unsigned long long)number,
				    (unsigned long long)(2 * number));
		at[blocks] = timing_ns();
		had[blocks] = processor_ns();
	} while (at[blocks++] < end && blocks < WINDOW_BLOCKS_MAX);
	for (unsigned n = 0; n < blocks; n++)
		printf("%" PRIu64 " %" PRIu64 "\n", at[n], had[n]);
	return 0;
}
