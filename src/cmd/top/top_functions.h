/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that run, by samples of the kernel. A sample is the innermost function alone: a stack would need a copy
 * of up to 64 KiB for each sample, while the program waits.
 */
#ifndef BURIN_CMD_TOP_TOP_FUNCTIONS_H
#define BURIN_CMD_TOP_TOP_FUNCTIONS_H

#include "cmd/top/top_names.h"
#include "source/perf/sampler.h"

/* All 0 at first. */
struct top_functions {
	struct sampler sampler;
	bool open;
	char why[256];		/* why there are no samples, or not all; "": there are */
	struct top_names names; /* of places */
	uint64_t *counts;	/* samples in this interval, of each place */
	size_t count_room;
	uint64_t taken, lost; /* samples in this interval; samples lost before it */
	uint64_t unknown;     /* of those taken: they have no place */
	/*
	 * CLOCK_MONOTONIC, ns. The sampler passes the samples of a round on two rounds later: those before ->covered have come. An interval
	 * is from ->since until then.
	 */
	uint64_t since, covered, read, round;
	struct arena texts; /* of the rows of the last interval */
	struct top_function *rows;
	size_t row_count, row_room;
	struct hash_table row_numbers;
};

/*
 * top_functions_begin - sample from now on, with the processes' later children.
 * @processes: NULL: all of the machine
 * Without samples ->why says why not; all else works.
 */
void top_functions_begin(struct top_functions *functions, const uint64_t *processes, size_t count);

/* top_functions_round - read what is new. */
void top_functions_round(struct top_functions *functions);

/* top_functions_rows - end the interval: set its rows, which stay until the next call, and begin another one. */
void top_functions_rows(struct top_functions *functions, struct top_rows *rows);

void top_functions_end(struct top_functions *functions);

#endif
