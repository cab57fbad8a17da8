/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Of the sampler: samples and waits become records of the trace. */
#include "source/sample/sampler_parts.h"

static void settle(struct sampler *sampler, enum sampler_kind kind, uint64_t kept)
{
	struct sampler_ledger *ledger = &sampler->totals.ledgers[kind];

	ledger->lost[SAMPLE_LOST_WRITE] += sampler->pending[kind] - (kept - ledger->attributed);
	ledger->attributed = kept;
	sampler->pending[kind] = 0;
}

void sampler_commit(struct sampler *sampler)
{
	struct sampler_totals *totals = &sampler->totals;
	int error = interned_flush(&sampler->images_table);

	if (!error)
		error = interned_flush(&sampler->tasks_table);
	if (!error)
		error = interned_flush(&sampler->stacks_table);
	if (error && !sampler->samples.error)
		sampler->samples.error = error;
	samples_commit(&sampler->samples);
	totals->kernel = samples_kept(&sampler->samples, SAMPLES_KERNEL);
	totals->user = samples_kept(&sampler->samples, SAMPLES_USER);
	settle(sampler, SAMPLER_SAMPLES, totals->kernel + totals->user);
	settle(sampler, SAMPLER_WAITS, samples_kept(&sampler->samples, SAMPLES_OFF_CPU));
}

enum sample_loss sampler_place(struct sampler *sampler, const struct record *record, struct attributed *place)
{
	return sampler->samples.error ? SAMPLE_LOST_WRITE : attribute(&sampler->attribution, record, place);
}

static enum sample_loss put(struct sampler *sampler, enum sampler_kind kind, unsigned cpu,
			    const struct samples_record *record)
{
	if (sampler->samples.error)
		return SAMPLE_LOST_WRITE;
	if (!samples_put(&sampler->samples, cpu, record)) {
		sampler_commit(sampler);
		if (!samples_put(&sampler->samples, cpu, record))
			return SAMPLE_LOST_WRITE;
	}
	sampler->pending[kind]++;
	return SAMPLE_KEPT;
}

void sampler_put_sample(struct sampler *sampler, unsigned cpu, const struct record *record)
{
	struct attributed place = { .ends = WIRE_CUTS };
	enum sample_loss loss = sampler_place(sampler, record, &place);

	if (!loss)
		loss = put(sampler, SAMPLER_SAMPLES, cpu,
			   &(struct samples_record){ .id = sampler->events[SAMPLER_SAMPLES],
						     .tid = record->tid,
						     .time = perf_ticks(&sampler->perf, record->time),
						     .task = place.task,
						     .stack = place.stack,
						     .group = place.kernel ? SAMPLES_KERNEL : SAMPLES_USER,
						     .weighted = sampler->perf.event.counting,
						     .weight = record->sample.period });
	sampler->totals.ledgers[SAMPLER_SAMPLES].lost[loss]++;
	sampler->totals.ends[place.ends] += !loss;
}

/* A thread whose stack was lost. */
static enum sample_loss place_unknown(struct sampler *sampler, struct sample_task *thread,
				      struct attributed *place)
{
	sampler->totals.stackless++;
	place->ends = WIRE_CUT_RING;
	place->task = tasks_number(&sampler->tasks, thread);
	place->stack = stacks_intern(&sampler->stacks, &(struct sample_frame){ .offset = WIRE_CUT_RING }, 1);
	return place->task && place->stack ? SAMPLE_KEPT : SAMPLE_LOST_WRITE;
}

void sampler_put_wait(void *data, const struct waits_wait *wait)
{
	struct sampler *sampler = data;
	struct sampler_ledger *ledger = &sampler->totals.ledgers[SAMPLER_WAITS];
	struct attributed place = wait->place;
	enum sample_loss loss = wait->loss;

	if (!loss && !place.stack)
		loss = place_unknown(sampler, wait->thread, &place);
	if (!loss)
		loss = put(sampler, SAMPLER_WAITS, wait->cpu,
			   &(struct samples_record){ .id = sampler->events[SAMPLER_WAITS],
						     .tid = wait->thread->tid,
						     .time = perf_ticks(&sampler->perf, wait->end),
						     .task = place.task,
						     .stack = place.stack,
						     .group = SAMPLES_OFF_CPU,
						     .weighted = true,
						     .weight = wait->ns });
	ledger->received++;
	ledger->lost[loss]++;
	sampler->totals.ends[place.ends] += !loss;
	*(loss ? &sampler->totals.lost_ns : &sampler->totals.waited_ns) += wait->ns;
	sampler->waits_lost[wait->cpu] += loss == SAMPLE_LOST_RING;
}
