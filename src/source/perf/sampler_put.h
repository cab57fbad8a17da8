/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sampler writes samples and waits as records of the trace. */
#ifndef BURIN_SOURCE_PERF_SAMPLER_PUT_H
#define BURIN_SOURCE_PERF_SAMPLER_PUT_H

#include "source/perf/sampler_state.h"

/* sampler_attribute - attribute a sample. Skipped after a write error. */
enum wire_sample sampler_attribute(struct sampler *sampler, const struct record *record,
				   struct attributed *context);

void sampler_put_sample(struct sampler *sampler, unsigned cpu, const struct record *record);

/* sampler_put_wait - for offcpu_begin(). The record has the time and CPU of the wait's end: each stream is in order. */
void sampler_put_wait(void *sampler, const struct offcpu_wait *wait);

/* sampler_put_waker - the same for wake-ups. The record has the time and CPU of the wake-up, and the thread that woke. */
void sampler_put_waker(void *sampler, const struct offcpu_waker *waker);

/* sampler_commit - commit the written samples; the tables first, since samples refer to them. */
void sampler_commit(struct sampler *sampler);

#endif
