/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linked into programs that are sampled: with TELL_USED in the environment they say at their end, on standard output, how much
 * CPU time they used, how often they were stopped although they could have gone on, and how often they waited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

__attribute__((destructor)) static void tell_used(void)
{
	struct rusage used;

	if (!getenv("TELL_USED") || getrusage(RUSAGE_SELF, &used) != 0)
		return;
	printf("used %ld us, stopped %ld times, waited %ld times\n",
	       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
		       used.ru_stime.tv_usec,
	       used.ru_nivcsw, used.ru_nvcsw);
	fflush(stdout);
}
