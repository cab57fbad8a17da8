/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 *	steady			reads numbers, a line each. For N it has N events steady.event, N spans steady.outer with a span steady.inner in
 *				each, N spans steady.request with ids that begin in one thread and end in another, and N/2 spans
 *				steady.half that do not end; then it says "done"
 *	steady RATE SECONDS	has RATE events a second, in turns of a millisecond: half of them the ends of spans. Says the time of
 *				the median turn, ns: what others do to the machine makes some turns longer, not that one
 */
#include <burin/burin.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned amount;

static void *end_requests(void *unused)
{
	(void)unused;
	for (unsigned n = 0; n < amount; n++)
		BURIN_SPAN_END(n, "steady.request", "status=%u", n);
	return NULL;
}

static void some(void)
{
	pthread_t thread;

	for (unsigned n = 0; n < amount; n++) {
		BURIN_TRACE("steady.event", "n=%u", n);
		BURIN_BEGIN("steady.outer", "n=%u", n);
		BURIN_BEGIN("steady.inner");
		BURIN_END("steady.inner");
		BURIN_END("steady.outer");
		BURIN_SPAN_BEGIN(n, "steady.request", "n=%u", n);
		if (n % 2)
			BURIN_BEGIN("steady.half");
	}
	if (pthread_create(&thread, NULL, end_requests, NULL) != 0 || pthread_join(thread, NULL) != 0)
		exit(1);
	puts("done");
	fflush(stdout);
}

static long long steady_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int steady_by_number(const void *a, const void *b)
{
	const long long *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static void paced(unsigned rate, unsigned seconds)
{
	long long *turns = calloc(seconds * 1000, sizeof(*turns));
	struct timespec next;

	if (!turns)
		exit(1);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned turn = 0; turn < seconds * 1000; turn++) {
		const long long begin = steady_ns();

		for (unsigned n = 0; n < rate / 1000 / 4; n++) {
			BURIN_TRACE("steady.event", "n=%u", n);
			BURIN_TRACE("steady.other", "n=%u turn=%u", n, turn);
			BURIN_BEGIN("steady.outer", "n=%u", n);
			BURIN_END("steady.outer");
		}
		turns[turn] = steady_ns() - begin;
		next.tv_nsec += 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	qsort(turns, seconds * 1000, sizeof(*turns), steady_by_number);
	printf("%lld\n", turns[seconds * 500]);
	free(turns);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		paced((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
		return 0;
	}
	while (scanf("%u", &amount) == 1)
		some();
	return 0;
}
