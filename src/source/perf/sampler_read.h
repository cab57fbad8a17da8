/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sampler reads rings, and processes the records in order of time. */
#ifndef BURIN_SOURCE_PERF_SAMPLER_READ_H
#define BURIN_SOURCE_PERF_SAMPLER_READ_H

#include "source/perf/sampler_state.h"

/* sampler_read_ring - read one ring; its records wait to be sorted. @fullest: raised to the ring's fill, in percent */
void sampler_read_ring(struct sampler *sampler, struct perf_ring *ring, unsigned *fullest);

/* sampler_take_entry - process the next record in order of time; for rounds_begin(). */
void sampler_take_entry(void *sampler, const struct rounds_entry *entry);

#endif
