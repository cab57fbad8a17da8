/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The cost of a recorded call: a function that does nothing, called in a loop, beside two reads of the clock and beside
 * the same function without hooks. calls-leaf.c is built once for each kind of hooks (meson.build); this file has none.
 * bench/run runs it under `burin record --calls` and its peers.
 *
 *	calls cost BLOCKS CPU		the call, two reads of the clock, and a call without hooks
 *	calls nest BLOCKS CPU		the same, of a function and the four calls that it makes, for one call
 *	calls deep BLOCKS CPU		the same, of a recursion of 50 calls
 *	calls wait BLOCKS CPU		as cost, once a line has come from standard input
 *	calls pair BLOCKS CPU CPU	each of two threads alone, and both at once
 *	calls count COUNT CPU		COUNT calls, for traces of a known size
 */
#include <pthread.h>
#include <stdatomic.h>

#include "timing.h"

/* With hooks, and without (calls-leaf.c). */
int leaf(int value), leaf_nest(int value), leaf_deep(int value);
int bare(int value), bare_nest(int value), bare_deep(int value);

enum {
	NEST = 5,  /* calls of *_nest() */
	DEEP = 50, /* of *_deep(DEEP) */
};

static double block_clocks(void)
{
	return TIMING_BLOCK(TIMING_USE(timing_clock()); TIMING_USE(timing_clock()));
}

static double block_call(void)
{
	return TIMING_BLOCK(TIMING_USE(leaf((int)i)));
}

static double block_bare(void)
{
	return TIMING_BLOCK(TIMING_USE(bare((int)i)));
}

static double block_nest(void)
{
	return TIMING_TURNS(BLOCK / NEST, TIMING_USE(leaf_nest((int)i))) / NEST;
}

static double block_bare_nest(void)
{
	return TIMING_TURNS(BLOCK / NEST, TIMING_USE(bare_nest((int)i))) / NEST;
}

static double block_deep(void)
{
	return TIMING_TURNS(BLOCK / DEEP, TIMING_USE(leaf_deep(DEEP))) / DEEP;
}

static double block_bare_deep(void)
{
	return TIMING_TURNS(BLOCK / DEEP, TIMING_USE(bare_deep(DEEP))) / DEEP;
}

static struct thread {
	int cpu;
	unsigned blocks;
	double medians[2];
} threads[2];
static atomic_int waiting;

static void *run(void *data)
{
	static double (*const loops[])(void) = { block_call, block_clocks };
	struct thread *thread = data;

	timing_pin(thread->cpu);
	atomic_fetch_sub(&waiting, 1);
	while (atomic_load(&waiting) > 0)
		continue;
	for (unsigned n = 0; n < 2; n++) {
		double *values = calloc(thread->blocks, sizeof(*values));

		for (unsigned block = 0; values && block < thread->blocks; block++)
			values[block] = loops[n]();
		thread->medians[n] = values ? timing_median(values, thread->blocks) : 0;
		free(values);
	}
	return NULL;
}

/* @count: threads at once. Return: the mean of their medians, ns a call. */
static double together(unsigned count)
{
	pthread_t handles[2];
	double sum = 0;

	atomic_store(&waiting, (int)count);
	for (unsigned n = 0; n < count; n++)
		if (pthread_create(&handles[n], NULL, run, &threads[n]) != 0)
			exit(1);
	for (unsigned n = 0; n < count; n++)
		pthread_join(handles[n], NULL);
	for (unsigned n = 0; n < count; n++)
		sum += threads[n].medians[0];
	return sum / count;
}

static void pair(unsigned blocks, int one, int other)
{
	threads[0] = (struct thread){ .cpu = one, .blocks = blocks };
	threads[1] = (struct thread){ .cpu = other, .blocks = blocks };
	printf("alone_ns %.3f\n", together(1));
	printf("together_ns %.3f\n", together(2));
}

static void cost(unsigned blocks, int cpu, double (*call)(void), double (*without)(void))
{
	double (*const loops[])(void) = { block_clocks, call, without };
	double medians[3];

	timing_pin(cpu);
	timing_turns(blocks, loops, medians, 3);
	printf("clocks_ns %.3f\ncall_ns %.3f\nbare_ns %.3f\n", medians[0], medians[1], medians[2]);
}

static void count(unsigned long calls, int cpu)
{
	timing_pin(cpu);
	for (unsigned long n = 0; n < calls; n++)
		leaf((int)n);
	printf("calls %lu\n", calls);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[1] : "";

	if (strcmp(mode, "cost") == 0)
		cost(timing_blocks(argv[2]), atoi(argv[3]), block_call, block_bare);
	else if (strcmp(mode, "nest") == 0)
		cost(timing_blocks(argv[2]), atoi(argv[3]), block_nest, block_bare_nest);
	else if (strcmp(mode, "deep") == 0)
		cost(timing_blocks(argv[2]), atoi(argv[3]), block_deep, block_bare_deep);
	else if (strcmp(mode, "wait") == 0 && getchar() != EOF)
		cost(timing_blocks(argv[2]), atoi(argv[3]), block_call, block_bare);
	else if (strcmp(mode, "pair") == 0 && argc > 4)
		pair(timing_blocks(argv[2]), atoi(argv[3]), atoi(argv[4]));
	else if (strcmp(mode, "count") == 0)
		count(strtoul(argv[2], NULL, 10), atoi(argv[3]));
	else
		return 2;
	return 0;
}
