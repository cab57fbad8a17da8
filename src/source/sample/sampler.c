/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sampler; see sampler.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "source/sample/profile.h"
#include "source/sample/sampler.h"
#include "source/sample/scan.h"

enum {
	SAMPLER_TELL_NS =
		1000000000, /* from ledger to ledger: what a recorder that is killed leaves is so old at most */
};

static int register_event(struct sampler *sampler)
{
	char name[WIRE_NAME_MAX + 1];
	const bool weighted = sampler->perf.event.counting;
	struct session_event event = {
		.name = name,
		.format = weighted ? "task=%u stack=%u weight=%llu" : "task=%u stack=%u",
		.file = "",
		.types = WIRE_U32 | WIRE_U32 << 4 | (weighted ? (uint64_t)WIRE_U64 << 8 : 0)
	};
	int error;

	snprintf(name, sizeof(name), "sample.%.100s", sampler->perf.event.name);
	error = session_event_register(sampler->session, &event, 1, &sampler->event);
	return error ? error : sampler->event ? 0 : -ENOSPC;
}

static void init(struct sampler *sampler, struct session *session)
{
	*sampler = (struct sampler){ .session = session,
				     .images_table = { .fd = -1 },
				     .tasks_table = { .fd = -1 },
				     .stacks_table = { .fd = -1 } };
}

/* Where samples come from is open. */
static int opened(struct sampler *sampler, char *why, size_t bytes)
{
	const int error = register_event(sampler);

	if (error) {
		snprintf(why, bytes, "the session has no room for the event: %s", strerror(-error));
		sampler_close(sampler);
	}
	return error;
}

int sampler_open(struct sampler *sampler, struct session *session, const struct perf_options *options,
		 char *why, size_t bytes)
{
	int error;

	init(sampler, session);
	error = perf_open(&sampler->perf, options, why, bytes);
	if (error)
		return error;
	if (!sampler->perf.kernel)
		snprintf(sampler->limit, sizeof(sampler->limit),
			 "what the kernel does is not seen; run as root, or set kernel.perf_event_paranoid "
			 "to 1 or less");
	return opened(sampler, why, bytes);
}

int sampler_open_timer(struct sampler *sampler, struct session *session, const struct perf_options *options,
		       char *why, size_t bytes)
{
	int error;

	init(sampler, session);
	error = timer_open(&sampler->timer, options, why, bytes);
	if (error)
		return error;
	sampler->by_timer = true;
	timer_choice(&sampler->timer, options, &sampler->perf);
	snprintf(sampler->limit, sizeof(sampler->limit),
		 "taken by a timer in the program, at most %u a second of each thread, and none in the "
		 "kernel; for more: "
		 "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON",
		 timer_tick_hz());
	return opened(sampler, why, bytes);
}

/* Who is there already. */
static int find_tasks(struct sampler *sampler)
{
	const struct perf_options *options = &sampler->perf.options;

	if (!tasks_add(&sampler->tasks, 0, 0, "swapper"))
		return -ENOMEM;
	if (options->system)
		scan_all(&sampler->tasks);
	else if (options->command)
		tasks_add(&sampler->tasks, (uint32_t)options->command, (uint32_t)options->command, "burin");
	else
		scan_process(&sampler->tasks, (uint32_t)options->process);
	return 0;
}

static int begin_tables(struct sampler *sampler)
{
	int error = interned_begin(&sampler->images_table, sampler->directory, ".burin/images",
				   WIRE_TABLE_IMAGES);

	if (!error)
		error = interned_begin(&sampler->tasks_table, sampler->directory, ".burin/tasks",
				       WIRE_TABLE_TASKS);
	if (!error)
		error = interned_begin(&sampler->stacks_table, sampler->directory, ".burin/stacks",
				       WIRE_TABLE_STACKS);
	return error;
}

int sampler_begin(struct sampler *sampler, int directory)
{
	int error;

	sampler->directory = directory;
	error = begin_tables(sampler);
	if (!error)
		error = images_init(&sampler->images, &sampler->images_table);
	if (!error)
		error = tasks_init(&sampler->tasks, &sampler->images, &sampler->tasks_table);
	if (!error)
		error = samples_begin(&sampler->samples, sampler->session, directory, sampler->perf.cpus);
	stacks_init(&sampler->stacks, &sampler->stacks_table);
	kernel_init(&sampler->kernel, &sampler->images);
	sampler->attribution =
		(struct attribution){ .tasks = &sampler->tasks,
				      .images = &sampler->images,
				      .kernel = &sampler->kernel,
				      .stacks = &sampler->stacks,
				      .jit = { .images = &sampler->images },
				      .registers = sampler->perf.registers,
				      .max_depth = sampler->perf.max_depth,
				      .stacks_wanted = sampler->perf.options.graph != PERF_GRAPH_NONE };
	if (!error)
		error = find_tasks(sampler);
	return error ? error : profile_write(sampler, false);
}

/* ---- rings ---- */

/* What was put exists from now on: the tables first. */
static void commit(struct sampler *sampler)
{
	struct sampler_totals *totals = &sampler->totals;
	const uint64_t before = totals->attributed;
	int error = interned_flush(&sampler->images_table);

	if (!error)
		error = interned_flush(&sampler->tasks_table);
	if (!error)
		error = interned_flush(&sampler->stacks_table);
	if (error && !sampler->samples.error)
		sampler->samples.error = error;
	samples_commit(&sampler->samples);
	totals->attributed = samples_kept(&sampler->samples, &totals->kernel);
	totals->user = totals->attributed - totals->kernel;
	totals->lost[SAMPLE_LOST_WRITE] += sampler->pending - (totals->attributed - before);
	sampler->pending = 0;
}

static enum sample_loss put(struct sampler *sampler, unsigned cpu, const struct record *record)
{
	struct samples_record entry = { .id = sampler->event,
					.tid = record->tid,
					.time = perf_ticks(&sampler->perf, record->time),
					.weighted = sampler->perf.event.counting,
					.weight = record->sample.period };
	struct attributed place;
	enum sample_loss loss;

	if (sampler->samples.error)
		return SAMPLE_LOST_WRITE;
	loss = attribute(&sampler->attribution, record, &place);
	if (loss)
		return loss;
	entry.task = place.task;
	entry.stack = place.stack;
	entry.kernel = place.kernel;
	if (!samples_put(&sampler->samples, cpu, &entry)) {
		commit(sampler);
		if (!samples_put(&sampler->samples, cpu, &entry))
			return SAMPLE_LOST_WRITE;
	}
	sampler->pending++;
	return SAMPLE_KEPT;
}

/* A record in its turn. */
static void take_record(struct sampler *sampler, unsigned cpu, const void *bytes, size_t size)
{
	struct record record;

	record_parse(bytes, size, sampler->perf.sample_type, sampler->perf.registers, &record);
	switch (record.kind) {
	case RECORD_SAMPLE:
		sampler->totals.lost[put(sampler, cpu, &record)]++;
		break;
	case RECORD_KERNEL_CODE:
		kernel_take(&sampler->kernel, &record);
		break;
	default:
		tasks_take(&sampler->tasks, &record, perf_ticks(&sampler->perf, record.time));
	}
}

static void take_entry(void *data, const struct rounds_entry *entry)
{
	take_record(data, entry->ring, entry->record, entry->bytes);
}

/* A record as it is read: what needs no order is done at once. */
static void read_record(struct sampler *sampler, unsigned cpu, struct rounds_chunk *chunk, const char *bytes,
			size_t size)
{
	struct sampler_totals *totals = &sampler->totals;
	const bool sample = record_kind_of(bytes) == RECORD_SAMPLE;
	struct rounds_entry entry = { .record = bytes, .bytes = (uint32_t)size, .ring = cpu, .chunk = chunk };
	struct record record;

	record_parse(bytes, size, sampler->perf.sample_type, sampler->perf.registers, &record);
	entry.time = record.time;
	totals->received += sample;
	if (record.kind == RECORD_DAMAGED) {
		totals->lost[SAMPLE_LOST_DAMAGED] += sample;
	} else if (record.kind == RECORD_LOST) {
		sampler->perf.samples[cpu].lost += record.lost;
	} else if (record.kind == RECORD_THROTTLE) {
		totals->throttled++;
	} else if (record.kind == RECORD_OTHER) {
		return;
	} else if (rounds_late(&sampler->rounds, record.time)) {
		if (sample) {
			totals->lost[SAMPLE_LOST_LATE]++;
		} else { /* better late than never */
			totals->late++;
			take_record(sampler, cpu, bytes, size);
		}
	} else {
		if (record.kind == RECORD_MAP) /* while the file is there */
			images_see(&sampler->images, record.pid, &record.map);
		if (rounds_add(&sampler->rounds, &entry) && sample)
			totals->lost[SAMPLE_LOST_WRITE]++;
	}
}

/* What is new of a CPU. By timer, what tells of tasks and mappings is of no CPU: it comes with the first. */
static struct rounds_chunk *take(struct sampler *sampler, unsigned cpu, bool side, size_t *bytes,
				 unsigned *fill)
{
	struct perf_ring *ring;

	if (sampler->by_timer && side)
		return cpu ? NULL : timer_take(&sampler->timer, timer_sides(&sampler->timer), bytes, fill);
	if (sampler->by_timer)
		return timer_take(&sampler->timer, cpu, bytes, fill);
	ring = side ? &sampler->perf.sides[cpu] : &sampler->perf.samples[cpu];
	return ring->page ? perf_ring_take(ring, bytes, fill) : NULL;
}

/* All that is new in one ring. A length that cannot be spoils the rest of it. */
static void read_ring(struct sampler *sampler, unsigned cpu, bool side, unsigned *fullest)
{
	size_t bytes = 0;
	unsigned fill = 0;
	struct rounds_chunk *chunk = take(sampler, cpu, side, &bytes, &fill);

	if (fill > *fullest)
		*fullest = fill;
	if (!chunk)
		return;
	for (size_t at = 0; at < bytes;) {
		const size_t size = bytes - at < RECORD_HEAD ? 0 : record_bytes(chunk->bytes + at);

		if (size < RECORD_HEAD || size > bytes - at) {
			sampler->totals.received++;
			sampler->totals.lost[SAMPLE_LOST_DAMAGED]++;
			break;
		}
		read_record(sampler, cpu, chunk, chunk->bytes + at, size);
		at += size;
	}
	rounds_chunk_done(chunk);
}

/* The ledger so far. One that cannot be written is no loss: the last one tells, or the streams do. */
static void tell(struct sampler *sampler)
{
	struct timespec time;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	if (now - sampler->told < SAMPLER_TELL_NS || sampler->samples.error)
		return;
	sampler->told = now;
	profile_write(sampler, false);
}

void sampler_round(struct sampler *sampler, unsigned *fullest)
{
	struct perf *perf = &sampler->perf;

	perf_woken(perf);
	perf_tell_time(perf);
	rounds_begin(&sampler->rounds, take_entry, sampler);
	tasks_round(&sampler->tasks);
	sampler->attribution.jit.round++;
	sampler->attribution.jit.ahead = perf_ahead(perf);
	for (unsigned n = 0; n < perf->cpus; n++)
		read_ring(sampler, n, true, fullest);
	for (unsigned n = 0; n < perf->cpus; n++) {
		read_ring(sampler, n, false, fullest);
		samples_lost(&sampler->samples, n,
			     sampler->by_timer ? timer_lost(&sampler->timer, n) : perf->samples[n].lost);
	}
	commit(sampler);
	tell(sampler);
}

static void stop(struct sampler *sampler)
{
	if (sampler->by_timer)
		timer_stop(&sampler->timer);
	else
		perf_stop(&sampler->perf);
}

/* What the rings had no room for. */
static void settle_lost(struct sampler *sampler)
{
	struct sampler_totals *totals = &sampler->totals;

	if (sampler->by_timer) {
		timer_settle(&sampler->timer);
		totals->side_lost = timer_lost(&sampler->timer, timer_sides(&sampler->timer));
	}
	for (unsigned n = 0; n < sampler->perf.cpus; n++) {
		const uint64_t lost =
			sampler->by_timer ? timer_lost(&sampler->timer, n) : perf_lost(&sampler->perf, n);

		samples_lost(&sampler->samples, n, lost);
		totals->lost[SAMPLE_LOST_RING] += lost;
		totals->received += lost;
		if (!sampler->by_timer)
			totals->side_lost += sampler->perf.sides[n].lost;
	}
}

int sampler_finish(struct sampler *sampler, struct sampler_totals *totals)
{
	unsigned fullest;
	int error, profile;

	stop(sampler);
	sampler_round(sampler, &fullest);
	rounds_end(&sampler->rounds, take_entry, sampler);
	settle_lost(sampler);
	commit(sampler);
	error = samples_finish(&sampler->samples, ring_clock());
	sampler->totals.lost[SAMPLE_KEPT] = 0;
	sampler->totals.bytes = samples_bytes(&sampler->samples) + sampler->images_table.at +
				sampler->tasks_table.at + sampler->stacks_table.at;
	*totals = sampler->totals;
	profile = profile_write(sampler, true);
	return error ? error : profile;
}

void sampler_close(struct sampler *sampler)
{
	static const struct rounds none;

	while (sampler->rounds.count)
		rounds_chunk_done(sampler->rounds.entries[--sampler->rounds.count].chunk);
	sampler->rounds = none;
	perf_close(&sampler->perf);
	if (sampler->by_timer)
		timer_close(&sampler->timer);
	tasks_free(&sampler->tasks);
	kernel_free(&sampler->kernel);
	images_free(&sampler->images);
	stacks_free(&sampler->stacks);
	samples_free(&sampler->samples);
	interned_close(&sampler->images_table);
	interned_close(&sampler->tasks_table);
	interned_close(&sampler->stacks_table);
}

const char *sampler_loss_name(enum sample_loss loss)
{
	static const char *const names[SAMPLE_LOSSES] = {
		[SAMPLE_KEPT] = "kept",
		[SAMPLE_LOST_RING] = "ring",
		[SAMPLE_LOST_LATE] = "late",
		[SAMPLE_LOST_TASK] = "task",
		[SAMPLE_LOST_MAPPING] = "mapping",
		[SAMPLE_LOST_CONTEXT] = "context",
		[SAMPLE_LOST_DAMAGED] = "damaged",
		[SAMPLE_LOST_WRITE] = "write",
	};

	return names[loss];
}
