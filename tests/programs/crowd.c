/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that come, record a few events and go, each under a name of its own, which is also in its events; one
 * that stays all the while; then one more, which records 2,000 events for each byte of its input, until that ends.
 *
 *	crowd THREADS EVENTS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "burin/burin.h"

static unsigned events;

static void record(const char *name, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		BURIN_TRACE("crowd.here", "name=%s n=%u", name, n);
}

static void *visitor(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "v%u", *(unsigned *)number);
	pthread_setname_np(pthread_self(), name);
	record(name, events);
	return NULL;
}

static void *last(void *unused)
{
	(void)unused;
	while (getchar() != EOF)
		record("last", 2000);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	pthread_t thread;

	events = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
	pthread_setname_np(pthread_self(), "host");
	for (unsigned n = 0; n < threads; n++) {
		if (pthread_create(&thread, NULL, visitor, &n) != 0)
			return 1;
		pthread_join(thread, NULL);
		if (n % 100 == 0)
			record("host", 1);
	}
	record("host", 1);
	puts("ready");
	fflush(stdout);
	if (pthread_create(&thread, NULL, last, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
