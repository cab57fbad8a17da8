/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counting instead of sampling: how often an event comes while a program runs, its threads and children included.
 *
 * A counter begins with the next exec of a child of ours that is made after it: nothing of ours is counted.
 */
#ifndef BURIN_SOURCE_SAMPLE_COUNTER_H
#define BURIN_SOURCE_SAMPLE_COUNTER_H

#include "source/sample/perf.h"

struct counter {
	struct perf_choice event;
	bool user; /* only what is done outside the kernel; asked for, or all that is permitted */
	int fd;	   /* -1: not open */
};

struct counter_value {
	uint64_t count;		   /* as read */
	uint64_t enabled, running; /* ns: in which it was to count, and did */
};

/*
 * counter_open - @counter: with ->event, and ->user as it is asked for
 * Return: 0; -errno: it cannot be had, -ENOENT or -EOPNOTSUPP that the machine has no such event.
 */
int counter_open(struct counter *counter);

/* counter_read - what came so far. Return: 0 or -errno. */
int counter_read(const struct counter *counter, struct counter_value *value);

void counter_close(struct counter *counter);

/* counter_share - the part of the time in which it counted, 0 to 1: counters take turns if the machine has too few. */
static inline double counter_share(const struct counter_value *value)
{
	if (value->running >= value->enabled)
		return 1;
	return (double)value->running / (double)value->enabled;
}

/* counter_scaled - what would have come if it had counted all the time; 0 if it never did. */
static inline double counter_scaled(const struct counter_value *value)
{
	return value->running || !value->enabled ? (double)value->count / counter_share(value) : 0;
}

#endif
