/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin stat -- COMMAND: what is counted over runs of a command, and how that is told. */
#ifndef BURIN_CMD_COUNT_H
#define BURIN_CMD_COUNT_H

#include <stdint.h>

#include "source/sample/counter.h"
#include "view/buffer.h"

enum {
	COUNT_ROWS_MAX = 64,
	COUNT_NAME = 160,
};

/* Where a row's numbers come from. */
enum count_source {
	COUNT_KERNEL_AND_USER, /* the kernel's counter */
	COUNT_USER,	       /* the same, without what the kernel did for the program */
	COUNT_USAGE, /* what the kernel tells of a child that has ended: permitted always, but without those
			of its children that it did not wait for */
	COUNT_TIME,  /* a time that needs no counter */
};

struct count_row {
	struct counter counter; /* ->fd is -1 between runs, and if there is none */
	bool user;		/* asked for: not what the kernel does */
	enum count_source source;
	bool is_time; /* ns */
	int error;    /* why there is no number: -errno; 0: there is one */
	unsigned runs;
	double mean, squares; /* `squares`: of the distances from the mean, summed up */
	double share;	      /* the least part of a run in which it was counted */
};

struct counts {
	struct count_row rows[COUNT_ROWS_MAX];
	unsigned count;
	unsigned runs;
	char **command;
	int status; /* that the command is told to have ended with */
};

enum count_format {
	COUNT_TEXT,
	COUNT_JSON,
	COUNT_CSV
};

/* count_add - a run's number. */
void count_add(struct count_row *row, double value, double share);

/* count_deviation - the standard deviation of one run. Return: 0 if there was one run only. */
double count_deviation(const struct count_row *row);

/* count_confidence - the mean is that near to the true one, at 95 %. Return: as above. */
double count_confidence(const struct count_row *row);

/* count_find - a row that has numbers. Return: NULL: there is none of that name. */
const struct count_row *count_find(const struct counts *counts, const char *name);

/*
 * count_figure - what follows from a row and the others: CPUs used, instructions per cycle, times a second.
 * @unit: set to what it is
 * Return: false: nothing does.
 */
bool count_figure(const struct counts *counts, const struct count_row *row, double *figure,
		  const char **unit);

void count_print(const struct counts *counts, enum count_format format, struct view_buffer *out);

#endif
