/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counting instead of sampling: how often an event occurs while a program runs, in its threads and children, too.
 *
 * A counter starts at the exec of a child that is forked after counter_open(), so burin itself is not counted.
 */
#ifndef BURIN_SOURCE_PERF_COUNTER_H
#define BURIN_SOURCE_PERF_COUNTER_H

#include "source/perf/rings/perf.h"

struct counter {
	struct perf_choice event;
	bool user; /* user space only: requested, or all that is permitted */
	int fd;	   /* -1: not open */
};

struct counter_value {
	uint64_t count;		   /* as read */
	uint64_t enabled, running; /* ns that it was enabled, and that it really counted */
};

/*
 * counter_open - @counter: with ->event, and ->user as requested
 * Return: 0; -ENOENT or -EOPNOTSUPP: the machine has no such event; another -errno.
 */
int counter_open(struct counter *counter);

/* counter_read - read the count so far. Return: 0 or -errno. */
int counter_read(const struct counter *counter, struct counter_value *value);

void counter_close(struct counter *counter);

/* counter_share - the part of the time in which it counted, 0 to 1: the kernel multiplexes counters if there are too few. */
static inline double counter_share(const struct counter_value *value)
{
	if (value->running >= value->enabled)
		return 1;
	return (double)value->running / (double)value->enabled;
}

/* counter_scaled - the count extrapolated to the whole time; 0 if it never ran. */
static inline double counter_scaled(const struct counter_value *value)
{
	return value->running || !value->enabled ? (double)value->count / counter_share(value) : 0;
}

#endif
