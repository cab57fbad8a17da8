/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin count, and burin hist --live: the kernel's events, counted in the kernel while a command or processes run. */
#ifndef BURIN_CMD_LIVE_LIVE_COUNTS_H
#define BURIN_CMD_LIVE_LIVE_COUNTS_H

#include "cmd/option_table.h"
#include "view/hist/hist.h"

/* The options of the kernel's events that both have; see live_options. */
struct live_counts {
	struct view_globs globs; /* --kernel */
	bool all;
	struct view_set processes;
	uint64_t duration_ns; /* 0: until the end */
	unsigned rows;
	const char
		*output; /* NULL: standard output; of a command standard error, since the command has that */
	char **command;	 /* NULL: there is none */
};

extern struct live_counts live_counts;
extern const struct cmd_option live_options[];

struct live_wanted {
	const struct hist_options *hist; /* its words, field, interval, conditions */
	bool times;			 /* of system calls; the field is their name */
	struct view_report *report;
};

/* live_run - count, and print. Return: the exit code. */
int live_run(const struct live_wanted *wanted);

#endif
