/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Work with a known profile, to test profilers. Prints `key value` lines.
 *
 *	work deep BLOCKS CPU [HZ]	blocks of equal work, 25 functions deep; with HZ under the bare timer interrupt
 *	work shares MS			four functions that have 50, 30, 15 and 5 % of the time
 *	work threads N US		threads one after the other, US microseconds of processor time each
 *
 * `deep` prints the processor time of a block and of the whole process. The difference to a run without profiler is the
 * profiler's cost. The work is a chain of multiplications, whose time does not depend on the other half of the core.
 * A block's time is the mean of the faster half of all blocks, so that other load on the machine plays no part.
 *
 * The bare timer interrupt is a perf event of the same frequency whose ring is not mapped: the kernel takes each sample
 * but has no ring to write it to.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "timing.h"

enum {
	DEPTH = 25,
	TURNS = 20000000, /* of a block: some 20 ms */
	UNIT = 3000,	  /* turns of a function of `shares` at a time: far less than between two samples */
};

static double processor_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Each turn waits for the one before. A macro, so that no inlined function appears in the profile. */
#define CHAIN(value, factor, turns)              \
	for (unsigned n = 0; n < (turns); n++) { \
		(value) *= UINT64_C(factor);     \
		TIMING_USE(value);               \
	}

/* ---- deep ---- */

/* Frames of a usual size, and work after the call, so that it does not become a tail call without a frame. */
static __attribute__((noinline)) uint64_t deep(unsigned depth, uint64_t value)
{
	volatile uint64_t room[12];

	room[0] = value;
	if (depth > 1)
		return deep(depth - 1, room[0]) + room[0];
	CHAIN(value, 6364136223846793005, TURNS)
	return value + room[0];
}

static int bare_interrupt(unsigned hz)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.size = sizeof(attr),
					.sample_period = 1000000000 / hz,
					.sample_type = PERF_SAMPLE_IP };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int work_deep(unsigned blocks, int cpu, unsigned hz)
{
	double *times = calloc(blocks, sizeof(*times)), sum = 0;
	const unsigned half = (blocks + 1) / 2;
	uint64_t value = 1;

	if (!times)
		return 1;
	timing_pin(cpu);
	if (hz && bare_interrupt(hz) < 0) {
		perror("work: perf_event_open");
		return 1;
	}
	for (unsigned n = 0; n < blocks; n++) {
		const double begin = processor_ns(CLOCK_THREAD_CPUTIME_ID);

		value = deep(DEPTH, value);
		times[n] = processor_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	}
	TIMING_USE(value);
	timing_median(times, blocks); /* sorts them */
	for (unsigned n = 0; n < half; n++)
		sum += times[n];
	printf("block_ns %.0f\nprocess_ns %.0f\n", sum / half, processor_ns(CLOCK_PROCESS_CPUTIME_ID));
	free(times);
	return 0;
}

/* ---- shares ---- */

/* Each has its own factor; otherwise the compiler would merge the functions. */
#define SHARE(percent, factor)                                                    \
	static __attribute__((noinline)) uint64_t share_##percent(uint64_t value) \
	{                                                                         \
		CHAIN(value, factor, UNIT)                                        \
		return value;                                                     \
	}

SHARE(50, 6364136223846793005)
SHARE(30, 2862933555777941757)
SHARE(15, 3202034522624059733)
SHARE(5, 4768777513237032717)

/* In random order, so that no rhythm of the program meets the timer's. */
static int work_shares(unsigned ms)
{
	const uint64_t end = timing_ns() + ms * UINT64_C(1000000);
	uint64_t value = 1, lot = 1, units[4] = { 0 };

	while (timing_ns() < end) {
		for (unsigned n = 0; n < 100; n++) {
			unsigned drawn;

			lot = lot * UINT64_C(6364136223846793005) + 1442695040888963407;
			drawn = (unsigned)(lot >> 33) % 100;
			if (drawn < 50)
				value = share_50(value), units[0]++;
			else if (drawn < 80)
				value = share_30(value), units[1]++;
			else if (drawn < 95)
				value = share_15(value), units[2]++;
			else
				value = share_5(value), units[3]++;
		}
	}
	TIMING_USE(value);
	printf("share_50 %llu\nshare_30 %llu\nshare_15 %llu\nshare_5 %llu\n", (unsigned long long)units[0],
	       (unsigned long long)units[1], (unsigned long long)units[2], (unsigned long long)units[3]);
	return 0;
}

/* ---- threads ---- */

static void *short_thread(void *data)
{
	const unsigned *us = data;

	while (processor_ns(CLOCK_THREAD_CPUTIME_ID) < *us * 1e3)
		continue;
	return NULL;
}

static int work_threads(unsigned count, unsigned us)
{
	pthread_t thread;

	for (; count; count--) {
		if (pthread_create(&thread, NULL, short_thread, &us) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	printf("process_ns %.0f\n", processor_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "deep") == 0)
		return work_deep(timing_blocks(argv[2]), atoi(argv[3]),
				 argc > 4 ? (unsigned)atoi(argv[4]) : 0);
	if (argc == 3 && strcmp(argv[1], "shares") == 0)
		return work_shares((unsigned)atoi(argv[2]));
	if (argc == 4 && strcmp(argv[1], "threads") == 0)
		return work_threads((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	fprintf(stderr, "usage: work deep BLOCKS CPU [HZ] | work shares MS | work threads N US\n");
	return 2;
}
