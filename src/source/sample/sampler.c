/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sampler, from its beginning to its end; see sampler.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "session/clock.h"
#include "source/sample/profile.h"
#include "source/sample/sampler_parts.h"
#include "source/sample/scan.h"

enum {
	SAMPLER_TELL_NS =
		1000000000, /* from ledger to ledger: what a recorder that is killed leaves is so old at most */
};

static int register_event(struct sampler *sampler, enum sampler_kind kind)
{
	char name[WIRE_NAME_MAX + 1];
	const bool waits = kind == SAMPLER_WAITS, weighted = waits || sampler->perf.event.counting;
	struct session_event event = { .name = name,
				       .format = weighted ? "spot=%u weight=%llu" : "spot=%u",
				       .file = "",
				       .types = WIRE_U32 | (weighted ? (uint64_t)WIRE_U64 << 4 : 0) };
	int error;

	snprintf(name, sizeof(name), "sample.%.100s", waits ? "off-cpu" : sampler->perf.event.name);
	error = session_event_register(sampler->session, &event, 1, &sampler->events[kind]);
	return error ? error : sampler->events[kind] ? 0 : -ENOSPC;
}

static void init(struct sampler *sampler, struct session *session)
{
	*sampler = (struct sampler){ .session = session,
				     .directory = -1,
				     .samples = { .spots = { .fd = -1 } },
				     .images_table = { .fd = -1 },
				     .tasks_table = { .fd = -1 },
				     .stacks_table = { .fd = -1 } };
}

/* Where samples come from is open. */
static int opened(struct sampler *sampler, char *why, size_t bytes)
{
	int error = register_event(sampler, SAMPLER_SAMPLES);

	if (!error && sampler->perf.off_cpu)
		error = register_event(sampler, SAMPLER_WAITS);
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
			 "what the kernel does%s is not seen; run as root, or set kernel.perf_event_paranoid "
			 "to 1 or less",
			 options->off_cpu ? ", and so off-CPU time," : "");
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
	error = timer_choice(&sampler->timer, options, &sampler->perf);
	if (error) {
		snprintf(why, bytes, "%s", strerror(-error));
		sampler_close(sampler);
		return error;
	}
	snprintf(sampler->limit, sizeof(sampler->limit),
		 "taken by a timer in the program, at most %u a second of each thread, none in the kernel%s; "
		 "for more: "
		 "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON",
		 timer_tick_hz(), options->off_cpu ? ", and no off-CPU time" : "");
	return opened(sampler, why, bytes);
}

/* ---- beginning ---- */

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
	const uint64_t begin = perf_now(&sampler->perf); /* all events are open */
	int error;

	sampler->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	error = sampler->directory < 0 ? -errno : begin_tables(sampler);
	if (!error)
		error = images_init(&sampler->images, &sampler->images_table);
	if (!error)
		error = tasks_init(&sampler->tasks, &sampler->images, &sampler->tasks_table);
	if (!error)
		error = samples_begin(&sampler->samples, sampler->session, sampler->directory,
				      sampler->perf.cpus);
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
	sampler->waits_lost = calloc(sampler->perf.cpus, sizeof(*sampler->waits_lost));
	if (!sampler->waits_lost)
		return -ENOMEM;
	if (!error)
		waits_begin(&sampler->waits, &sampler->tasks, sampler_put_wait, sampler, begin);
	if (!error)
		perf_start(&sampler->perf);
	return error ? error : profile_write(sampler, false);
}

/* The ledger so far. One that cannot be written is no loss: the last one tells, or the streams do. */
static void tell(struct sampler *sampler)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (now - sampler->told < SAMPLER_TELL_NS || sampler->samples.error)
		return;
	sampler->told = now;
	profile_write(sampler, false);
}

/* Samples of a CPU that are known to be lost. */
static uint64_t lost_so_far(const struct sampler *sampler, unsigned cpu)
{
	return sampler->by_timer ? timer_lost(&sampler->timer, cpu)
				 : sampler->perf.rings[PERF_SAMPLES][cpu].lost;
}

void sampler_round(struct sampler *sampler, unsigned *fullest)
{
	struct perf *perf = &sampler->perf;

	perf_woken(perf);
	perf_tell_time(perf);
	rounds_begin(&sampler->rounds, sampler_take_entry, sampler);
	tasks_round(&sampler->tasks);
	sampler->attribution.jit.round++;
	sampler->attribution.jit.ahead = perf_ahead(perf);
	for (unsigned feed = 0; feed < PERF_FEEDS; feed++)
		for (unsigned n = 0; perf->rings[feed] && n < perf->cpus; n++)
			sampler_read_ring(sampler, &perf->rings[feed][n], fullest);
	for (unsigned n = 0; n < perf->cpus; n++)
		samples_lost(&sampler->samples, n, lost_so_far(sampler, n) + sampler->waits_lost[n]);
	sampler_commit(sampler);
	tell(sampler);
}

static void stop(struct sampler *sampler)
{
	if (sampler->by_timer)
		timer_stop(&sampler->timer);
	else
		perf_stop(&sampler->perf);
}

/*
 * What the kernel has counted of the event, so that what samples do not stand for is known. Of all CPUs it would be their
 * idle time, too. A moment lies between reading the rings of a trace and asking: the next one makes up for it.
 */
static void settle_count(struct sampler *sampler, uint64_t counted)
{
	const struct perf *perf = &sampler->perf;
	const uint64_t stand = sampler->totals.ledgers[SAMPLER_SAMPLES].received * perf_weight(perf),
		       before = sampler->before.counted;

	if (sampler->by_timer || perf->options.system || !perf_weight(perf))
		return;
	counted -= counted < before ? counted : before;
	sampler->totals.counted = counted > stand ? counted : stand;
}

/* What the rings had no room for. */
static void settle_lost(struct sampler *sampler)
{
	struct sampler_totals *totals = &sampler->totals;
	struct sampler_ledger *ledger = &totals->ledgers[SAMPLER_SAMPLES];
	const struct sampler_totals *before = &sampler->before;
	const struct perf *perf = &sampler->perf;
	uint64_t lost, side = 0, switches = 0, counted = 0;

	if (sampler->by_timer)
		perf->rings[PERF_SIDE][0].lost = timer_lost(&sampler->timer, timer_sides(&sampler->timer));
	for (unsigned n = 0; n < perf->cpus; n++) {
		lost = sampler->by_timer ? timer_lost(&sampler->timer, n)
					 : perf_lost(perf, PERF_SAMPLES, n, &counted);
		samples_lost(&sampler->samples, n, lost + sampler->waits_lost[n]);
		side += perf->rings[PERF_SIDE][n].lost;
		switches += perf->off_cpu ? perf->rings[PERF_SWITCHES][n].lost : 0;
	}
	lost = samples_lost_so_far(&sampler->samples) - totals->ledgers[SAMPLER_WAITS].lost[SAMPLE_LOST_RING];
	ledger->received += lost - ledger->lost[SAMPLE_LOST_RING];
	ledger->lost[SAMPLE_LOST_RING] = lost;
	settle_count(sampler, counted);
	totals->side_lost = side - before->side_lost;
	totals->switch_lost = switches - before->switch_lost;
	totals->preempted = sampler->waits.preempted - before->preempted;
	totals->preempted_ns = sampler->waits.preempted_ns - before->preempted_ns;
	totals->blocked_before = sampler->waits.before - before->blocked_before;
}

/* Switches that were lost when no other came behind. */
static void find_last_gaps(struct sampler *sampler)
{
	struct perf_ring *rings = sampler->perf.rings[PERF_SWITCHES];
	uint64_t counted = 0;

	for (unsigned n = 0; rings && n < sampler->perf.cpus; n++) {
		const uint64_t lost = perf_lost(&sampler->perf, PERF_SWITCHES, n, &counted);

		if (lost > rings[n].lost)
			waits_gap_at_end(&sampler->waits, rings[n].latest);
		rings[n].lost = lost;
	}
}

/* The end of a trace. */
static int finish_trace(struct sampler *sampler, struct sampler_totals *totals)
{
	const int error = samples_finish(&sampler->samples, ring_clock());
	int profile;

	interned_finish(&sampler->images_table, sampler->directory, ".burin/images", 0);
	interned_finish(&sampler->tasks_table, sampler->directory, ".burin/tasks", 0);
	interned_finish(&sampler->stacks_table, sampler->directory, ".burin/stacks", 0);
	for (unsigned kind = 0; kind < SAMPLER_KINDS; kind++)
		sampler->totals.ledgers[kind].lost[SAMPLE_KEPT] = 0;
	sampler->totals.bytes = samples_bytes(&sampler->samples) + sampler->images_table.at +
				sampler->tasks_table.at + sampler->stacks_table.at;
	*totals = sampler->totals;
	profile = profile_write(sampler, true);
	return error ? error : profile;
}

/* Samples that were received, and wait for their turn: they are what the ledger has no other place for. */
static uint64_t take_waiting(struct sampler_ledger *ledger)
{
	uint64_t waiting = ledger->received - ledger->attributed;

	for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
		waiting -= ledger->lost[n];
	ledger->received -= waiting;
	return waiting;
}

/* With all entries: what waits refers to them by their numbers. */
static int next_tables(struct sampler *sampler)
{
	int error = interned_next(&sampler->images_table, sampler->directory, ".burin/images");

	if (!error)
		error = interned_next(&sampler->tasks_table, sampler->directory, ".burin/tasks");
	if (!error)
		error = interned_next(&sampler->stacks_table, sampler->directory, ".burin/stacks");
	return error;
}

int sampler_next(struct sampler *sampler, int directory, struct sampler_totals *totals)
{
	uint64_t waiting;
	int error;

	settle_lost(sampler);
	sampler_commit(sampler);
	waiting = take_waiting(&sampler->totals.ledgers[SAMPLER_SAMPLES]);
	if (sampler->totals.counted)
		sampler->totals.counted -= waiting * perf_weight(&sampler->perf);
	error = finish_trace(sampler, totals);
	sampler_add(&sampler->before, totals);
	sampler->totals = (struct sampler_totals){ .ledgers[SAMPLER_SAMPLES].received = waiting };
	close(sampler->directory);
	sampler->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	samples_next(&sampler->samples, sampler->directory);
	if (!error)
		error = sampler->directory < 0 ? -errno : next_tables(sampler);
	if (!error)
		error = profile_write(sampler, false);
	if (error && !sampler->samples.error) /* nothing more is written */
		sampler->samples.error = error;
	return error;
}

int sampler_finish(struct sampler *sampler, struct sampler_totals *totals)
{
	unsigned fullest;

	if (!sampler->by_timer)
		sampler->waits.end = perf_now(&sampler->perf); /* up to here all of it is told */
	stop(sampler);
	sampler_round(sampler, &fullest);
	find_last_gaps(sampler);
	rounds_end(&sampler->rounds, sampler_take_entry, sampler);
	if (sampler->perf.off_cpu)
		waits_end(&sampler->waits);
	if (sampler->by_timer)
		timer_settle(&sampler->timer);
	settle_lost(sampler);
	sampler_commit(sampler);
	return finish_trace(sampler, totals);
}

void sampler_close(struct sampler *sampler)
{
	rounds_free(&sampler->rounds);
	perf_close(&sampler->perf);
	if (sampler->by_timer)
		timer_close(&sampler->timer);
	tasks_free(&sampler->tasks);
	kernel_free(&sampler->kernel);
	images_free(&sampler->images);
	stacks_free(&sampler->stacks);
	samples_free(&sampler->samples);
	free(sampler->waits_lost);
	interned_close(&sampler->images_table);
	interned_close(&sampler->tasks_table);
	interned_close(&sampler->stacks_table);
	if (sampler->directory >= 0)
		close(sampler->directory);
	sampler->directory = -1;
}

void sampler_add(struct sampler_totals *sum, const struct sampler_totals *totals)
{
	static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "sampler_totals"); /* numbers and nothing else */
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)totals;

	for (unsigned n = 0; n < sizeof(*sum) / sizeof(*to); n++)
		to[n] += from[n];
}
