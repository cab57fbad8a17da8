/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events of every shape, which both programs that measure events record: event.c and, for comparison, lttng.c. Before
 * this file each defines SHAPE_TRACE(name, ...), its event of a shape with its arguments.
 */
#ifndef BENCH_SHAPES_H
#define BENCH_SHAPES_H

#include "timing.h"

static const char shape_12[] = "twelve bytes", shape_40[] = "forty bytes, with the blanks between them..";
static char shape_200[201], shape_64[64];

/* clang-format off */
#define SHAPES(shape) \
	shape(none) \
	shape(int, (int)i) \
	shape(ints4, (int)i, (int)~i, (int)i, 7) \
	shape(ints8, (int)i, (int)~i, (int)i, 7, (int)i, (int)~i, (int)i, 7) \
	shape(double, (double)i) \
	shape(string12, shape_12) \
	shape(string40, shape_40 + sizeof(shape_40) - 41) \
	shape(string200, shape_200) \
	shape(int_string12, (int)i, shape_12) \
	shape(int_string40, (int)i, shape_40 + sizeof(shape_40) - 41) \
	shape(strings_int, shape_12, shape_12, (int)i) \
	shape(bytes64, SHAPE_BYTES)
/* clang-format on */

#define SHAPE_FUNCTION(name, ...)                                      \
	static __attribute__((noinline)) double shape_##name(void)     \
	{                                                              \
		return TIMING_BLOCK(SHAPE_TRACE(name, ##__VA_ARGS__)); \
	}
SHAPES(SHAPE_FUNCTION)

static double shape_clock(void)
{
	return TIMING_BLOCK(TIMING_USE(timing_clock()));
}

#define SHAPE_ENTRY(name, ...) shape_##name,
#define SHAPE_NAME(name, ...)  #name,

/* Measure all, and print a `..._ns` line for each. */
static void shapes_measure(unsigned blocks, int cpu)
{
	static double (*const loops[])(void) = { shape_clock, SHAPES(SHAPE_ENTRY) };
	static const char *const names[] = { "clock", SHAPES(SHAPE_NAME) };
	enum {
		COUNT = sizeof(loops) / sizeof(loops[0]),
	};
	double medians[COUNT];

	memset(shape_200, 'x', sizeof(shape_200) - 1);
	timing_pin(cpu);
	timing_turns(blocks, loops, medians, COUNT);
	for (unsigned n = 0; n < COUNT; n++)
		printf("%s_ns %.3f\n", names[n], medians[n]);
}

#endif
