/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that runs until a signal ends it: its threads answer made-up requests. Now and then a request takes
 * long.
 *
 *	server [THREADS] &
 *	burin enable server 'http.*' --where 'ms > 20'
 *	burin snapshot server
 *
 * It records nothing until a user switches events on.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "burin/burin.h"

BURIN_ENUM(statuses, { "OK", 200 }, { "NOT_FOUND", 404 });

enum {
	PATHS = 4,
	SLOW_MS = 30,
};

static const char *const paths[PATHS] = { "/", "/search", "/cart", "/pay" };

static void wait_ms(unsigned ms)
{
	const struct timespec pause = { .tv_nsec = (long)ms * 1000000 };

	nanosleep(&pause, NULL);
}

static void answer(const char *path, unsigned number)
{
	unsigned ms = 1 + number % 5;

	BURIN_SCOPE("http.request", "path=%s number=%u", path, number);
	if (number % 97 == 0) {
		BURIN_TRACE("db.lock", "table=%s holder=%u", "orders", number - 1);
		ms = SLOW_MS;
	}
	wait_ms(ms);
	BURIN_TRACE("http.reply", "path=%s status=%u{statuses} ms=%u", path, number % 50 ? 200 : 404, ms);
}

static void *serve(void *seed)
{
	uint32_t state = (uint32_t)(uintptr_t)seed;

	for (unsigned number = 1;; number++) {
		state = state * 1664525 + 1013904223;
		answer(paths[state >> 30], number);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;

	for (unsigned n = 0; n < threads; n++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, serve, (void *)(uintptr_t)(n + 1)) != 0)
			return 1;
	}
	for (;;)
		pause();
}
