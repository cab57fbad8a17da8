/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The settings of the kernel's events: what each feed records. */
#ifndef BURIN_SOURCE_PERF_RINGS_PERF_ATTR_H
#define BURIN_SOURCE_PERF_RINGS_PERF_ATTR_H

#include "source/perf/rings/perf.h"

/* perf_attr_fill - the settings of a feed's events. */
void perf_attr_fill(const struct perf *perf, enum perf_feed feed, struct perf_event_attr *attr);

/* perf_attr_tree - those of a CPU's sampling event, whose program samples the tree. */
void perf_attr_tree(const struct perf *perf, struct perf_event_attr *attr);

/* perf_attr_carrier - those of an event that has no records and only carries an area. */
void perf_attr_carrier(const struct perf *perf, struct perf_event_attr *attr);

/* perf_attr_open - open an event, as perf_event_open(2) does. Return: a descriptor or -errno. */
int perf_attr_open(const struct perf_event_attr *attr, pid_t tid, int cpu);

#endif
