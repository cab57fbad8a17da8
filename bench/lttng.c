/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For comparison: LTTng-UST, measured like event.c's mode `cost`. bench/run makes its session and runs it there.
 *
 *	lttng BLOCKS CPU [shapes]
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-provider.h"

#define SHAPE_BYTES	       shape_64
#define SHAPE_TRACE(name, ...) lttng_ust_tracepoint(bench, name, ##__VA_ARGS__)
#include "shapes.h"

static const char twelve[] = "twelve bytes";

static double block_clock(void)
{
	return TIMING_BLOCK(TIMING_USE(timing_clock()));
}

static __attribute__((noinline)) double block_two(void)
{
	return TIMING_BLOCK(lttng_ust_tracepoint(bench, two, i, ~i));
}

static __attribute__((noinline)) double block_string(void)
{
	return TIMING_BLOCK(lttng_ust_tracepoint(bench, string, twelve));
}

int main(int argc, char **argv)
{
	double medians[3];
	double (*const loops[])(void) = { block_clock, block_two, block_string };
	unsigned blocks;

	if (argc < 3) {
		fprintf(stderr, "Usage: lttng BLOCKS CPU [shapes]\n");
		return 2;
	}
	blocks = timing_blocks(argv[1]);
	timing_pin(atoi(argv[2]));
	printf("traced %d\n",
	       lttng_ust_tracepoint_enabled(bench, two) && lttng_ust_tracepoint_enabled(bench, string));
	if (argc > 3) {
		shapes_measure(blocks, atoi(argv[2]));
		return 0;
	}
	/* Warm up its buffers and the caches. */
	for (unsigned n = 0; n < 20; n++)
		block_two();
	timing_turns(blocks, loops, medians, 3);
	printf("clock_ns %.3f\ntwo_ns %.3f\nstring_ns %.3f\n", medians[0], medians[1], medians[2]);
	return 0;
}
