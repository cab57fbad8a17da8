/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin stat -- COMMAND: counts over runs of a command, and their output. */
#ifndef BURIN_CMD_CONTROL_STAT_COMMAND_H
#define BURIN_CMD_CONTROL_STAT_COMMAND_H

#include <stdint.h>

#include "source/perf/counter.h"
#include "view/buffer.h"
#include "view/records/selection.h"

enum {
	COUNT_ROWS_MAX = 64,
	COUNT_NAME = 160,
};

/* The source of a row's numbers. */
enum count_source {
	COUNT_KERNEL_AND_USER, /* the kernel's counter */
	COUNT_USER,	       /* the same, without the kernel's share */
	COUNT_USAGE, /* the resource usage of an ended child: always permitted, but without those of its
			children that it did not wait for */
	COUNT_TIME,  /* a time that needs no counter */
};

struct count_row {
	struct counter counter; /* ->fd is -1 between runs, and if there is none */
	bool user;		/* the user asked to exclude the kernel */
	enum count_source source;
	bool is_time; /* ns */
	int error;    /* -errno: why there is no number; 0: there is one */
	unsigned runs;
	double mean, squares; /* squares: sum of the squared distances from the mean */
	double share;	      /* the smallest fraction of a run in which the event was counted */
};

struct counts {
	struct count_row rows[COUNT_ROWS_MAX];
	unsigned count;
	unsigned runs;
	char **command;
	int status; /* exit code of the first run that failed */
};

struct stat_options {
	struct view_globs events; /* lists of events; empty: the usual ones */
	bool json, csv;
	uint64_t repeat;
	const char *output; /* NULL: standard error, since the command uses standard output */
};

/* count_add - add the number of a run. */
void count_add(struct count_row *row, double value, double share);

/* count_deviation - the standard deviation of one run. Return: 0 after a single run. */
double count_deviation(const struct count_row *row);

/* count_confidence - half the width of the 95 % confidence interval of the mean. Return: 0 after a single run. */
double count_confidence(const struct count_row *row);

/* count_find - find a row with numbers by its event. Return: NULL: there is none. */
const struct count_row *count_find(const struct counts *counts, const char *name);

/* Figures that are derived from a row and the others. */
enum count_figure {
	COUNT_CPUS, /* used */
	COUNT_PER_CYCLE,
	COUNT_OF_BRANCHES, /* percent */
	COUNT_PER_S,
	COUNT_FIGURES
};

/* count_figure - derive the figure of a row. Return: false: there is none. */
bool count_figure(const struct counts *counts, const struct count_row *row, double *figure,
		  enum count_figure *kind);

void count_print(const struct counts *counts, const struct stat_options *options, struct view_buffer *out);

/* stat_command - run a command, and count. Return: the exit code. */
int stat_command(const struct stat_options *options, char **command);

#endif
