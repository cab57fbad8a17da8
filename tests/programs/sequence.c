/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program to record: sequence BURSTS RECORDS TEXT [PAUSE_MS]. On each of up to two CPUs a thread counts from 0, in
 * bursts, so that the recorder finds packets in all states. The program ends with status 0.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burin/burin.h"

static unsigned bursts, records, pause_ms;
static char *text;

static void *count(void *data)
{
	const unsigned cpu = (unsigned)(uintptr_t)data;
	unsigned n = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (unsigned burst = 0; burst < bursts; burst++) {
		for (unsigned k = 0; k < records; k++, n++)
			BURIN_TRACE("seq.count", "on=%u n=%u text=%s", cpu, n, text);
		usleep(pause_ms * 1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t other;

	if (argc < 4)
		return 2;
	bursts = (unsigned)atoi(argv[1]);
	records = (unsigned)atoi(argv[2]);
	text = calloc(1, (size_t)atoi(argv[3]) + 1);
	if (!text)
		return 3;
	memset(text, 'x', (size_t)atoi(argv[3]));
	pause_ms = argc > 4 ? (unsigned)atoi(argv[4]) : 10;
	if (cpus > 1 && pthread_create(&other, NULL, count, (void *)(uintptr_t)1) != 0)
		return 4;
	count(NULL);
	if (cpus > 1)
		pthread_join(other, NULL);
	return 0;
}
