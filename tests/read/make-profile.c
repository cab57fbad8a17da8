/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Makes a trace of samples, for the scripts *.test and for looking at:
 *
 *	make-profile DIR small [FACTOR]		see profile_sample.h
 *	make-profile DIR waits			the same, with sample.off-cpu
 *	make-profile DIR big [SAMPLES [STACKS]]
 *	make-profile DIR function IMAGE BUILD-ID OFFSET SIZE SOURCE LINE [OTHER]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_sample.h"

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: make-profile DIR small|waits|big|function [ARGUMENT...]\n");
		return 2;
	}
	if (!strcmp(argv[2], "small"))
		sample_small(argv[1], argc > 3 ? (unsigned)atoi(argv[3]) : 1, false);
	else if (!strcmp(argv[2], "waits"))
		sample_small(argv[1], 1, true);
	else if (!strcmp(argv[2], "function") && argc >= 9)
		sample_function(argv[1], argv[3], argv[4], strtoull(argv[5], NULL, 0),
				strtoull(argv[6], NULL, 0), argv[7], (uint32_t)atoi(argv[8]), argv[9]);
	else
		sample_big(argv[1], argc > 3 ? (uint32_t)atoi(argv[3]) : 1000000,
			   argc > 4 ? (uint32_t)atoi(argv[4]) : 100000);
	return 0;
}
