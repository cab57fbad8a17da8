/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What both programs that measure events share, so that Burin and its peer are measured by the same code:
 * time, CPUs, medians, and the loop of bare clock reads.
 *
 * How a loop is measured. One block is BLOCK turns, about a millisecond: short enough that most blocks are
 * not interrupted. Blocks of the loops that are compared take turns, so that both see the same state of the
 * machine, and the median of all blocks is the result.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BLOCK = 100000,	    /* turns of a block */
	BLOCKS_MAX = 10000, /* of each loop */
};

static inline uint64_t timing_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void timing_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0) {
		perror("bench: this thread cannot be pinned to its CPU");
		exit(1);
	}
}

static inline int timing_compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts the values. */
static inline double timing_median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), timing_compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* One read of the clock, as the ring reads it. Volatile: it must neither vanish nor be done once for all. */
static inline uint64_t timing_clock(void)
{
#if defined(__x86_64__)
	uint64_t low, high;

	__asm__ __volatile__("rdtsc\n\tshlq $32, %%rdx\n\torq %%rdx, %%rax" : "=a"(low), "=d"(high) : : "cc");
	return low;
#else
	return timing_ns();
#endif
}

/* The compiler must assume that this looks at the value; it costs no instruction. */
#define TIMING_USE(value) __asm__ __volatile__("" : : "r"(value))

/* Nanoseconds per turn of a block of `statement`, in which `i` counts the turns. */
#define TIMING_BLOCK(statement)                               \
	({                                                    \
		uint64_t timing_begin = timing_ns();          \
		for (unsigned i = 0; i < BLOCK; i++) {        \
			statement;                            \
		}                                             \
		(double)(timing_ns() - timing_begin) / BLOCK; \
	})

/* A number of blocks from the command line. */
static inline unsigned timing_blocks(const char *text)
{
	long blocks = strtol(text, NULL, 10);

	return blocks < 3 ? 3 : blocks > BLOCKS_MAX ? BLOCKS_MAX : (unsigned)blocks;
}

#endif
