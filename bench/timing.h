/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What both programs that measure events share, so that Burin and its peer are measured by the same code:
 * time, CPUs, medians, and the loop of bare clock reads.
 *
 * How a loop is measured. One block is BLOCK turns, less than a tenth of a millisecond: short enough that most blocks
 * are not interrupted. Blocks of the loops that are compared take turns, so that all see the same state of the
 * machine, and the median of all blocks is the result.
 *
 * A core is two processors to the system. While another program (another machine's, on a rented one) runs on the
 * other half, instructions take up to twice their time, whereas a read of the clock, which waits, does not: the
 * comparison is void. A block counts only if the core was ours before and after it. If it hardly ever is, all blocks
 * count, and the output says so.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BLOCK = 5000,	    /* turns of a block */
	TRIES = 20,	    /* times as many blocks as are wanted, at most, to find the core undisturbed */
	ENOUGH = 20,	    /* undisturbed blocks; if a loop has fewer, all blocks of all loops count */
	ALONE = 2000,	    /* turns to find out whether it is */
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

/* Nanoseconds per turn of so many turns of a statement, in which `i` counts them. */
#define TIMING_TURNS(turns, ...)                                \
	({                                                      \
		uint64_t timing_begin = timing_ns();            \
		for (unsigned i = 0; i < (turns); i++) {        \
			__VA_ARGS__;                            \
		}                                               \
		(double)(timing_ns() - timing_begin) / (turns); \
	})
#define TIMING_BLOCK(statement) TIMING_TURNS(BLOCK, statement)

/*
 * Whether this core is ours alone: it carries out four independent additions in a cycle, on two halves not even three. A
 * chain of multiplications, which wait for each other three cycles each whatever else runs, gives the length of a cycle.
 */
static inline bool timing_alone(void)
{
#if defined(__x86_64__)
	uint64_t a = 0, b = 0, c = 0, d = 0, value = 3, begin = timing_ns(), middle;

	for (unsigned i = 0; i < ALONE; i++)
		__asm__ __volatile__(
			".rept 4\n\taddq $1, %0\n\taddq $1, %1\n\taddq $1, %2\n\taddq $1, %3\n\t.endr"
			: "+r"(a), "+r"(b), "+r"(c), "+r"(d)
			:
			: "cc");
	middle = timing_ns();
	for (unsigned i = 0; i < ALONE; i++)
		__asm__ __volatile__("imulq %0, %0" : "+r"(value) : : "cc");
	return (double)(middle - begin) / 4 < (double)(timing_ns() - middle) / 3 * 1.2;
#else
	return true;
#endif
}

/* The blocks of a loop. */
struct timing_loop {
	double *all, *good; /* ns a turn; those that were measured while the core was ours alone */
	unsigned tried, kept;
};

/* Measures a block, unless there are as many as wanted. Return: whether there are now, or too many were tried. */
static inline bool timing_loop_turn(struct timing_loop *loop, double (*block)(void), unsigned blocks)
{
	const unsigned slot = loop->tried % blocks;
	bool before;

	if (loop->kept >= blocks || loop->tried >= TRIES * blocks)
		return true;
	before = timing_alone();
	loop->all[slot] = block();
	if (before && timing_alone())
		loop->good[loop->kept++] = loop->all[slot];
	loop->tried++;
	return false;
}

/*
 * Measures loops in turns: the median of each. The first tenth, in which memory and caches warm up, is not kept.
 * Prints `alone`, the share of blocks in which the core was, and `disturbed 1` if all were taken for want of better.
 */
static inline void timing_turns(unsigned blocks, double (*const loops[])(void), double *medians,
				unsigned count)
{
	struct timing_loop *each = calloc(count, sizeof(*each));
	double *values = calloc((size_t)count * blocks * 2, sizeof(*values));
	unsigned tried = 0, kept = 0;
	bool enough = true, over = false;

	if (!each || !values)
		exit(1);
	for (unsigned n = 0; n < count; n++) {
		each[n].all = values + (size_t)n * blocks * 2;
		each[n].good = each[n].all + blocks;
		for (unsigned warm = blocks / 10 + 1; warm > 0; warm--)
			loops[n]();
	}
	while (!over) {
		over = true;
		for (unsigned n = 0; n < count; n++)
			over &= timing_loop_turn(&each[n], loops[n], blocks);
	}
	for (unsigned n = 0; n < count; n++) {
		tried += each[n].tried;
		kept += each[n].kept;
		enough &= each[n].kept >= ENOUGH || each[n].kept >= blocks;
	}
	for (unsigned n = 0; n < count; n++)
		medians[n] =
			timing_median(enough ? each[n].good : each[n].all, enough ? each[n].kept : blocks);
	printf("alone %.3f\ndisturbed %d\n", (double)kept / tried, !enough);
	free(values);
	free(each);
}

/* A number of blocks from the command line. */
static inline unsigned timing_blocks(const char *text)
{
	long blocks = strtol(text, NULL, 10);

	return blocks < 3 ? 3 : blocks > BLOCKS_MAX ? BLOCKS_MAX : (unsigned)blocks;
}

#endif
