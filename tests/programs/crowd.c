/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that come, record a few events and go, each under a name of its own, which is also in its events; one
 * that stays all the while; then the program waits for its input to end.
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

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 10;

	events = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
	pthread_setname_np(pthread_self(), "host");
	for (unsigned n = 0; n < threads; n++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, visitor, &n) != 0)
			return 1;
		pthread_join(thread, NULL);
		if (n % 100 == 0)
			record("host", 1);
	}
	record("host", 1);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	return 0;
}
