/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the files of the sampler share: sampler_read.c takes records out of rings, sampler_put.c puts them into the trace. */
#ifndef BURIN_SOURCE_SAMPLE_SAMPLER_PARTS_H
#define BURIN_SOURCE_SAMPLE_SAMPLER_PARTS_H

#include "source/sample/sampler.h"

/* ---- sampler_read.c */

/* All that is new in one ring waits for its turn. @fullest: raised to how full it was, in percent */
void sampler_read_ring(struct sampler *sampler, struct perf_ring *ring, unsigned *fullest);
/* A record's turn has come; for rounds_begin(). */
void sampler_take_entry(void *sampler, const struct rounds_entry *entry);

/* ---- sampler_put.c */

/* Where a sample was taken. What cannot be written need not be looked at. */
enum sample_loss sampler_place(struct sampler *sampler, const struct record *record,
			       struct attributed *place);
void sampler_put_sample(struct sampler *sampler, unsigned cpu, const struct record *record);
/* For waits_begin(). Its record has the time and the CPU of its end, so that each stream is in order. */
void sampler_put_wait(void *sampler, const struct waits_wait *wait);
/* What was put exists from now on: the tables first. */
void sampler_commit(struct sampler *sampler);

#endif
