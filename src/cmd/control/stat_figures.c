/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The arithmetic of counts; see stat_command.h. */
#include <math.h>
#include <string.h>

#include "cmd/control/stat_command.h"

void count_add(struct count_row *row, double value, double share)
{
	const double distance = value - row->mean;

	row->runs++;
	row->mean += distance / row->runs;
	row->squares += distance * (value - row->mean);
	if (row->runs == 1 || share < row->share)
		row->share = share;
}

double count_deviation(const struct count_row *row)
{
	return row->runs > 1 ? sqrt(row->squares / (row->runs - 1)) : 0;
}

/* Student's t at 97.5 %, by the first terms of its expansion around the normal distribution; the error is below 0.2 %. */
static double student_t(unsigned freedom)
{
	static const double first[] = { 0, 12.706, 4.303, 3.182, 2.776 };
	const double n = freedom;

	if (freedom < sizeof(first) / sizeof(*first))
		return first[freedom];
	return 1.95996 + 2.37227 / n + 2.82250 / (n * n) + 2.55585 / (n * n * n);
}

double count_confidence(const struct count_row *row)
{
	return row->runs > 1 ? student_t(row->runs - 1) * count_deviation(row) / sqrt(row->runs) : 0;
}

const struct count_row *count_find(const struct counts *counts, const char *name)
{
	for (unsigned n = 0; n < counts->count; n++)
		if (!counts->rows[n].error && strcmp(counts->rows[n].counter.event.name, name) == 0)
			return &counts->rows[n];
	return NULL;
}

static double mean_of(const struct counts *counts, const char *name)
{
	const struct count_row *row = count_find(counts, name);

	return row ? row->mean : 0;
}

/* The CPU time of the command, ns. */
static double cpu_time(const struct counts *counts)
{
	return mean_of(counts, "task-clock") ?: mean_of(counts, "user") + mean_of(counts, "system");
}

bool count_figure(const struct counts *counts, const struct count_row *row, double *figure,
		  enum count_figure *kind)
{
	static const struct {
		const char *name, *by;
		enum count_figure kind;
		double factor;
	} ratios[] = {
		{ "task-clock", "elapsed", COUNT_CPUS, 1 },
		{ "instructions", "cycles", COUNT_PER_CYCLE, 1 },
		{ "branch-misses", "branches", COUNT_OF_BRANCHES, 100 },
	};

	for (unsigned n = 0; n < sizeof(ratios) / sizeof(*ratios); n++) {
		const double by = mean_of(counts, ratios[n].by);

		if (strcmp(row->counter.event.name, ratios[n].name) == 0 && by > 0) {
			*figure = row->mean / by * ratios[n].factor;
			*kind = ratios[n].kind;
			return true;
		}
	}
	if (row->is_time || cpu_time(counts) <= 0)
		return false;
	*figure = row->mean * 1e9 / cpu_time(counts);
	*kind = COUNT_PER_S;
	return true;
}
