/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writes the sample trace for scripts: make-sample DIR; prints how many records it has. */
#include <inttypes.h>
#include <stdio.h>

#include "synth.h"

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make-sample DIR\n");
		return 2;
	}
	printf("%" PRIu64 "\n", synth_sample(argv[1]));
	return 0;
}
