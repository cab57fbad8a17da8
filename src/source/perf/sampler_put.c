/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sampler writes samples and waits as records of the trace; see sampler_put.h.
 *
 * A record is first put into the stream's memory (->pending counts it) and becomes attributed when it is
 * committed. A commit writes the tables in the order in which they refer to each other, images, tasks,
 * stacks, contexts, and the records last: whenever the recorder is killed, no record lacks what it refers to.
 *
 * sampler_put_settle() compares what was put with what the streams have kept. A record that was put and not
 * kept was lost by a failed write. So the ledger is right also with a full disk, where an error stops all
 * writing for good.
 */
#include "source/perf/sampler_put.h"

static void sampler_put_settle(struct sampler *sampler, enum sampler_kind kind, uint64_t kept)
{
	struct sampler_ledger *ledger = &sampler->totals.ledgers[kind];

	ledger->lost[WIRE_SAMPLE_WRITE] += sampler->pending[kind] - (kept - ledger->attributed);
	ledger->attributed = kept;
	sampler->pending[kind] = 0;
}

void sampler_commit(struct sampler *sampler)
{
	struct sampler_totals *totals = &sampler->totals;
	int error = table_writer_flush(&sampler->images_table);

	sampler->uncommitted = 0;
	if (!error)
		error = table_writer_flush(&sampler->tasks_table);
	if (!error)
		error = table_writer_flush(&sampler->stacks_table);
	if (error && !sampler->samples.error)
		sampler->samples.error = error;
	samples_commit(&sampler->samples);
	totals->kernel = samples_kept(&sampler->samples, SAMPLES_KERNEL);
	totals->user = samples_kept(&sampler->samples, SAMPLES_USER);
	sampler_put_settle(sampler, SAMPLER_SAMPLES, totals->kernel + totals->user);
	sampler_put_settle(sampler, SAMPLER_WAITS, samples_kept(&sampler->samples, SAMPLES_OFF_CPU));
	sampler_put_settle(sampler, SAMPLER_WAKERS, samples_kept(&sampler->samples, SAMPLES_WAKERS));
}

enum wire_sample sampler_attribute(struct sampler *sampler, const struct record *record,
				   struct attributed *context)
{
	const enum wire_sample loss = sampler->samples.error
					      ? WIRE_SAMPLE_WRITE
					      : attribute(&sampler->attribution, record, context);

	sampler->totals.continued += !loss && context->end.continued;
	sampler->totals.scanned += !loss && context->end.scanned;
	return loss;
}

static enum wire_sample sampler_put_record(struct sampler *sampler, enum sampler_kind kind, unsigned cpu,
					   const struct samples_record *record)
{
	if (sampler->samples.error)
		return WIRE_SAMPLE_WRITE;
	/* Its memory is full: a commit makes room. If that is not enough, writing has failed. */
	if (!samples_put(&sampler->samples, cpu, record)) {
		sampler_commit(sampler);
		if (!samples_put(&sampler->samples, cpu, record))
			return WIRE_SAMPLE_WRITE;
	}
	sampler->pending[kind]++;
	return WIRE_SAMPLE_KEPT;
}

void sampler_put_sample(struct sampler *sampler, unsigned cpu, const struct record *record)
{
	struct attributed context = { .ends = WIRE_TRUNCATIONS };
	enum wire_sample loss = sampler_attribute(sampler, record, &context);

	if (!loss && sampler->take)
		sampler->take(sampler->data, &context);
	else if (!loss)
		loss = sampler_put_record(
			sampler, SAMPLER_SAMPLES, cpu,
			&(struct samples_record){ .id = sampler->events[SAMPLER_SAMPLES],
						  .tid = context.tid,
						  .time = perf_ticks(&sampler->perf, record->time),
						  .task = context.task,
						  .stack = context.stack,
						  .group = context.kernel ? SAMPLES_KERNEL : SAMPLES_USER,
						  .weighted = sampler->perf.event.counting,
						  .weight = record->sample.period });
	sampler->totals.ledgers[SAMPLER_SAMPLES].lost[loss]++;
	sampler->totals.ends[context.ends] += !loss;
}

/* The context of a thread whose stack was lost: a single frame that says so. */
static enum wire_sample without_stack(struct sampler *sampler, struct sample_task *thread,
				      struct attributed *context)
{
	const struct sample_frame frame = { .offset = WIRE_TRUNCATION_RING };

	sampler->totals.stackless++;
	context->ends = WIRE_TRUNCATION_RING;
	context->task = tasks_number(&sampler->tasks, thread);
	context->stack = stacks_intern(&sampler->stacks, &frame, 1);
	return context->task && context->stack ? WIRE_SAMPLE_KEPT : WIRE_SAMPLE_WRITE;
}

void sampler_put_wait(void *data, const struct offcpu_wait *wait)
{
	struct sampler *sampler = data;
	struct sampler_ledger *ledger = &sampler->totals.ledgers[SAMPLER_WAITS];
	struct attributed context = wait->context;
	enum wire_sample loss = wait->loss;

	if (!loss && !context.stack)
		loss = without_stack(sampler, wait->thread, &context);
	if (!loss)
		loss = sampler_put_record(
			sampler, SAMPLER_WAITS, wait->cpu,
			&(struct samples_record){ .id = sampler->events[SAMPLER_WAITS],
						  .tid = wait->thread->tid,
						  .time = perf_ticks(&sampler->perf, wait->end),
						  .task = context.task,
						  .stack = context.stack,
						  .group = SAMPLES_OFF_CPU,
						  .weighted = true,
						  .weight = wait->ns });
	ledger->received++;
	ledger->lost[loss]++;
	sampler->totals.ends[context.ends] += !loss;
	*(loss ? &sampler->totals.lost_ns : &sampler->totals.waited_ns) += wait->ns;
	sampler->offcpu_lost[wait->cpu] += loss == WIRE_SAMPLE_RING;
}

void sampler_put_waker(void *data, const struct offcpu_waker *waker)
{
	struct sampler *sampler = data;
	struct sampler_ledger *ledger = &sampler->totals.ledgers[SAMPLER_WAKERS];
	enum wire_sample loss = waker->loss;

	if (!loss)
		loss = sampler_put_record(
			sampler, SAMPLER_WAKERS, waker->cpu,
			&(struct samples_record){ .id = sampler->events[SAMPLER_WAKERS],
						  .tid = waker->context.tid,
						  .time = perf_ticks(&sampler->perf, waker->time),
						  .task = waker->context.task,
						  .stack = waker->context.stack,
						  .group = SAMPLES_WAKERS,
						  .weighted = true,
						  .weight = waker->ns,
						  .woken = waker->woken,
						  .interrupt = !waker->context.tid });
	ledger->received++;
	ledger->lost[loss]++;
	sampler->totals.ends[waker->context.ends] += !loss;
}
