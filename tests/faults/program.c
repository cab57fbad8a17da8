/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What faults.test records: program EVENTS STATUS [MODE]. It traces so many events, says so, and ends with the status.
 *
 *	wait	after a line or the end of its input
 *	beat	the same; until then it passes another event, fault.beat, each millisecond
 *	last	the same, or when as many of those were recorded as there were events
 *
 * Nothing that happens to the command may change its output or its status.
 */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burin/burin.h"

/* The arguments of an event that is off are not evaluated. */
static void beat(unsigned limit)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned beats = 0;

	while (beats < limit && poll(&input, 1, 1) == 0)
		BURIN_TRACE("fault.beat", "n=%u", beats++);
}

int main(int argc, char **argv)
{
	const unsigned events = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	const char *mode = argc > 3 ? argv[3] : "";

	for (unsigned n = 0; n < events; n++)
		BURIN_TRACE("fault.count", "n=%u text=%s", n, "some text to fill the packet with");
	printf("done %u\n", events);
	fflush(stdout);
	if (!strcmp(mode, "beat"))
		beat(UINT_MAX);
	else if (!strcmp(mode, "last"))
		beat(events);
	else if (*mode)
		getchar();
	return argc > 2 ? atoi(argv[2]) : 0;
}
