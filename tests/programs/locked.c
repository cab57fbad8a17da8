/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that locks its memory, and records ten events. It prints by how many KiB its memory grew.
 *
 *	locked current|future|both
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "burin/burin.h"

static int how_to_lock(const char *how)
{
	return (strcmp(how, "future") != 0 ? MCL_CURRENT : 0) |
	       (strcmp(how, "current") != 0 ? MCL_FUTURE : 0);
}

static long resident(void)
{
	char line[128];
	long kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	const long before = resident();

	if (mlockall(how_to_lock(argc > 1 ? argv[1] : "both")) != 0) {
		perror("mlockall");
		return 77;
	}
	for (int n = 0; n < 10; n++)
		BURIN_TRACE("locked.record", "n=%d", n);
	printf("%ld\n", resident() - before);
	return 0;
}
