/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sampler's life cycle; see sampler.h.
 *
 * A record of the kernel is in one of these states. The thread of the rounds changes them; another one only makes
 * rings larger:
 *
 *	in the ring	the kernel wrote it, and data_head has passed it
 *	in a chunk	copied, so the ring's bytes are free again (perf_ring_take()); a sample is received
 *	waiting		in `rounds`, until records of all rings are passed on in one order of time
 *	done		attributed and written, or lost by a cause; or it changed tasks, mappings or waits
 *
 * For samples, received = attributed + lost of all causes, once none waits: each way out of read_record() and
 * sampler_take_entry() counts it.
 *
 * Why a record waits for two rounds. Rings are read one after the other, and each is only nearly in order. So round n
 * may have read records that are later than some that are still in a ring which it read first. Round n + 1 reads
 * these. A record that comes still later and is earlier than round n's latest one is late. A late sample is lost; a
 * late task or mapping counts at once, since later samples need it.
 *
 * Only the order of time makes an attribution right: an address belongs to the mapping that was there at the sample's
 * time, a thread id to the thread that had it. So the feeds are merged, all of them. One step cannot wait: the file
 * of a mapping is looked for when its record is read, since its path may be gone two rounds later (images_find()).
 *
 * LOST records come only with the next record that fits. The exact number of lost samples is in the events, and
 * perf_lost() reads it at the end. So the ledger of a recorder that was killed may have fewer.
 *
 * Registers, stacks and paths are the process's, and not trusted. Where programs sample themselves, the sizes of
 * records are theirs, too: read_area() checks each against the chunk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "session/clock.h"
#include "source/perf/profile_file.h"
#include "source/perf/sampler.h"
#include "source/perf/sampler_put.h"
#include "source/perf/sampler_read.h"
#include "source/perf/stacks/sleeper_stack.h"
#include "source/perf/tasks/proc_scan.h"

enum {
	/* Between ledgers; a killed recorder leaves one that is as old as the longer of these. */
	SAMPLER_LEDGER_NS = 1000000000,
	SAMPLER_LEDGER_ROUNDS = 20,
	/* Threads whose stack is read at the begin; rings are not read in this time. */
	SAMPLER_SLEEPERS_MAX = 500,
};

static int sampler_register_event(struct sampler *sampler, enum sampler_kind kind)
{
	char name[WIRE_NAME_MAX + 1];
	const bool wakers = kind == SAMPLER_WAKERS,
		   weighted = kind != SAMPLER_SAMPLES || sampler->perf.event.counting;
	struct session_event event = { .name = name,
				       .format = wakers	    ? "context=%u weight=%llu woken=%u interrupt=%u"
						 : weighted ? "context=%u weight=%llu"
							    : "context=%u",
				       .file = "",
				       .types = WIRE_U32 | (weighted ? (uint64_t)WIRE_U64 << 4 : 0) |
						(wakers ? (uint64_t)WIRE_U32 << 8 | (uint64_t)WIRE_U32 << 12
							: 0) };
	int error;

	snprintf(name, sizeof(name), "sample.%.100s",
		 wakers			 ? "waker"
		 : kind == SAMPLER_WAITS ? "off-cpu"
					 : sampler->perf.event.name);
	error = session_event_register(sampler->session, &event, 1, &sampler->events[kind]);
	return error ? error : sampler->events[kind] ? 0 : -ENOSPC;
}

static void sampler_init(struct sampler *sampler, struct session *session)
{
	*sampler = (struct sampler){ .session = session,
				     .directory = -1,
				     .samples = { .contexts = { .fd = -1 } },
				     .images_table = { .fd = -1 },
				     .tasks_table = { .fd = -1 },
				     .stacks_table = { .fd = -1 } };
}

/* The source of samples is open: register the events. */
static int register_events(struct sampler *sampler, char *why, size_t bytes)
{
	int error = sampler_register_event(sampler, SAMPLER_SAMPLES);

	if (!error && sampler->perf.off_cpu)
		error = sampler_register_event(sampler, SAMPLER_WAITS);
	if (!error && sampler->perf.off_cpu && sampler->perf.wakes)
		error = sampler_register_event(sampler, SAMPLER_WAKERS);
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

	sampler_init(sampler, session);
	error = perf_open(&sampler->perf, options, why, bytes);
	if (error)
		return error;
	if (!sampler->perf.kernel)
		snprintf(sampler->limit, sizeof(sampler->limit),
			 "kernel code%s is not sampled; run as root, or set kernel.perf_event_paranoid to 1 "
			 "or less",
			 options->off_cpu ? ", and so off-CPU time," : "");
	else if (*sampler->perf.no_wakers)
		snprintf(sampler->limit, sizeof(sampler->limit), "no wakers: %s", sampler->perf.no_wakers);
	return register_events(sampler, why, bytes);
}

int sampler_open_preload(struct sampler *sampler, struct session *session, const struct perf_options *options,
			 char *why, size_t bytes)
{
	int error;

	sampler_init(sampler, session);
	error = preload_reader_open(&sampler->preload, options, why, bytes);
	if (error)
		return error;
	sampler->by_preload = true;
	error = preload_reader_options(&sampler->preload, options, &sampler->perf);
	if (error) {
		snprintf(why, bytes, "%s", strerror(-error));
		sampler_close(sampler);
		return error;
	}
	snprintf(sampler->limit, sizeof(sampler->limit),
		 "taken by a timer in the program, at most %u a second per thread, none in the kernel%s; "
		 "for more: %s",
		 preload_reader_tick_hz(), options->off_cpu ? ", and no off-CPU time" : "",
		 options->timer ? "record without --timer"
				: "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
	return register_events(sampler, why, bytes);
}

int sampler_open_live(struct sampler *sampler, const struct perf_options *options, sampler_take *take,
		      void *data, char *why, size_t bytes)
{
	sampler_init(sampler, NULL);
	sampler->take = take;
	sampler->data = data;
	return perf_open(&sampler->perf, options, why, bytes);
}

/* ---- beginning ---- */

/* Tasks that exist already. */
static int find_tasks(struct sampler *sampler)
{
	const struct perf_options *options = &sampler->perf.options;

	if (!tasks_add(&sampler->tasks, 0, 0, "swapper"))
		return -ENOMEM;
	if (options->system)
		scan_all(&sampler->tasks);
	else if (options->command)
		tasks_add(&sampler->tasks, (uint32_t)options->command, (uint32_t)options->command, "burin");
	for (size_t n = 0; n < sampler->perf.processes.count; n++)
		scan_process(&sampler->tasks, (uint32_t)sampler->perf.processes.pids[n]);
	return 0;
}

/* Begin the tables that each trace of a split recording has for itself. */
static int begin_tables(struct sampler *sampler)
{
	int error = table_writer_begin(&sampler->tasks_table, sampler->directory, ".burin/tasks",
				       WIRE_TABLE_TASKS);

	if (!error)
		error = table_writer_begin(&sampler->stacks_table, sampler->directory, ".burin/stacks",
					   WIRE_TABLE_STACKS);
	sampler->tasks_table.refers[0] = sampler->stacks_table.refers[0] = &sampler->images_table;
	return error;
}

/* The tasks' processor time since the events were opened; 0: the side band does not count it. */
static uint64_t counted_by_side_band(const struct perf *perf)
{
	uint64_t counted = 0;

	for (unsigned n = 0; perf_counts_by_side_band(perf) && n < perf->cpus; n++)
		perf_lost(perf, PERF_SIDE, n, &counted);
	return counted;
}

/* The stack of a thread that sleeps already. */
static void read_sleeper(void *data, struct sample_task *task)
{
	struct sampler *sampler = data;
	struct attributed context = { .ends = WIRE_TRUNCATIONS };
	const uint64_t time = perf_now(&sampler->perf);
	const uint32_t pid = task->process->pid;
	struct sleeper_call call;

	if (!task->tid || sampler->sleepers++ >= SAMPLER_SLEEPERS_MAX)
		return;
	if (sleeper_call_read(pid, task->tid, &call) == 0 &&
	    sleeper_stack(&sampler->attribution, pid, task->tid, &call, &context) == 0)
		offcpu_asleep(&sampler->waits, task, time, &context);
}

/* Tables, and streams of a trace. */
static int begin_outputs(struct sampler *sampler, int directory)
{
	int error;

	sampler->perf.clock_hz = session_clock_hz(sampler->session);
	sampler->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	error = sampler->directory < 0 ? -errno
				       : table_writer_begin(&sampler->images_table, sampler->directory,
							    ".burin/images", WIRE_TABLE_IMAGES);
	if (!error)
		error = begin_tables(sampler);
	if (!error)
		error = samples_begin(&sampler->samples, sampler->session, sampler->directory,
				      sampler->perf.cpus, &sampler->tasks_table, &sampler->stacks_table,
				      ring_clock());
	return error;
}

static int sampler_begin_trace(struct sampler *sampler, int directory)
{
	const uint64_t begin = perf_now(&sampler->perf); /* all events are open */
	int error = 0;

	if (sampler->take)
		sampler->perf.clock_hz = 1000000000; /* times count only for their order */
	else
		error = begin_outputs(sampler, directory);
	images_init(&sampler->images, &sampler->images_table);
	if (!error)
		error = tasks_init(&sampler->tasks, &sampler->images, &sampler->tasks_table);
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
	sampler->offcpu_lost = calloc(sampler->perf.cpus, sizeof(*sampler->offcpu_lost));
	sampler->last_ended = calloc(sampler->perf.cpus, sizeof(*sampler->last_ended));
	if (!sampler->offcpu_lost || !sampler->last_ended)
		return -ENOMEM;
	if (!error)
		offcpu_begin(&sampler->waits, &sampler->tasks, sampler_put_wait, sampler, begin);
	if (sampler->perf.wakes)
		sampler->waits.take_waker = sampler_put_waker;
	if (!error && !sampler->take)
		error = profile_write(sampler, false);
	if (error)
		return error;
	sampler->before.counted = counted_by_side_band(&sampler->perf);
	perf_start(&sampler->perf);
	/* Of the whole machine, hundreds of threads wait for work. From now on a switch is recorded: none that ends such a sleep is missed. */
	if (sampler->perf.off_cpu && !sampler->perf.options.system)
		tasks_each(&sampler->tasks, read_sleeper, sampler);
	return 0;
}

int sampler_begin(struct sampler *sampler, int directory)
{
	static const char *const files[] = { ".burin/profile", ".burin/images", ".burin/tasks",
					     ".burin/stacks", ".burin/contexts" };
	const int error = sampler_begin_trace(sampler, directory);

	/* The trace continues without samples, and without incomplete tables. */
	for (unsigned n = 0; error && !sampler->take && n < sizeof(files) / sizeof(files[0]); n++)
		unlinkat(directory, files[n], 0);
	return error;
}

/* From time to time: write the ledger so far. An error is ignored: the last ledger, or the streams, have the numbers. */
static void write_ledger(struct sampler *sampler)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (++sampler->ledger_rounds < SAMPLER_LEDGER_ROUNDS ||
	    now - sampler->ledger_time < SAMPLER_LEDGER_NS || sampler->samples.error)
		return;
	sampler->ledger_time = now;
	sampler->ledger_rounds = 0;
	perf_forget_ended(&sampler->perf);
	images_trim(&sampler->images);
	if (!sampler->take)
		profile_write(sampler, false);
}

/* Lost samples of a CPU, as far as is known. */
static uint64_t lost_so_far(const struct sampler *sampler, unsigned cpu)
{
	const struct perf_ring *wakes = sampler->perf.rings[PERF_WAKES];

	return sampler->by_preload
		       ? preload_reader_lost(&sampler->preload, cpu)
		       : sampler->perf.rings[PERF_SAMPLES][cpu].lost + (wakes ? wakes[cpu].lost : 0);
}

void sampler_round(struct sampler *sampler, unsigned *fullest)
{
	struct perf *perf = &sampler->perf;

	perf_woken(perf);
	perf_update_clock(perf);
	rounds_begin(&sampler->rounds, sampler_take_entry, sampler);
	budget_round(&sampler->images.budget);
	images_round(&sampler->images);
	sampler->attribution.jit.round += sampler->uncommitted == 0;
	sampler->attribution.jit.ahead = perf_ahead(perf);
	for (unsigned feed = 0; feed < PERF_FEEDS; feed++)
		for (unsigned n = 0; perf->rings[feed] && n < perf->cpus; n++)
			sampler_read_ring(sampler, &perf->rings[feed][n], fullest);
	perf_grow(perf);
	for (unsigned n = 0; n < perf->cpus && !sampler->take; n++)
		samples_lost(&sampler->samples, n, lost_so_far(sampler, n) + sampler->offcpu_lost[n]);
	if (++sampler->uncommitted >= sampler->commit_rounds)
		sampler_commit(sampler);
	write_ledger(sampler);
}

uint64_t sampler_lost(const struct sampler *sampler)
{
	const uint64_t *by_cause = sampler->totals.ledgers[SAMPLER_SAMPLES].lost;
	uint64_t lost = 0, counted = 0;

	for (unsigned cause = WIRE_SAMPLE_KEPT + 1; cause < WIRE_SAMPLE_LOSSES; cause++)
		lost += by_cause[cause];
	for (unsigned n = 0; n < sampler->perf.cpus; n++)
		lost += perf_lost(&sampler->perf, PERF_SAMPLES, n, &counted);
	return lost;
}

void sampler_forget(struct sampler *sampler)
{
	stacks_free(&sampler->stacks);
	stacks_init(&sampler->stacks, &sampler->stacks_table);
	budget_again(&sampler->images.budget, BUDGET_STACKS);
}

static void sampler_stop(struct sampler *sampler)
{
	if (sampler->by_preload)
		preload_reader_stop(&sampler->preload);
	else
		perf_stop(&sampler->perf);
}

/*
 * Store the kernel's own count of the event, so that the part without samples is known. With --all the count would include
 * idle time, so it is not used. The rings of a trace are read a moment before the count; the next trace makes up for that.
 */
static void settle_count(struct sampler *sampler, uint64_t counted)
{
	const struct perf *perf = &sampler->perf;
	const uint64_t sampled = sampler->totals.ledgers[SAMPLER_SAMPLES].received * perf_weight(perf),
		       before = sampler->before.counted;

	if (sampler->by_preload || perf->options.system || !perf_weight(perf))
		return;
	counted -= counted < before ? counted : before;
	sampler->totals.counted = counted > sampled ? counted : sampled;
}

/* Of the rings of wake-ups, since the recording began. */
static uint64_t wakes_lost(const struct sampler *sampler, unsigned cpu)
{
	uint64_t counted = 0;

	return sampler->perf.rings[PERF_WAKES] ? perf_lost(&sampler->perf, PERF_WAKES, cpu, &counted) : 0;
}

static void set_ring_lost(struct sampler_ledger *ledger, uint64_t lost)
{
	ledger->received += lost - ledger->lost[WIRE_SAMPLE_RING];
	ledger->lost[WIRE_SAMPLE_RING] = lost;
}

/* Count the losses of the rings. */
static void settle_lost(struct sampler *sampler)
{
	struct sampler_totals *totals = &sampler->totals;
	const struct sampler_totals *before = &sampler->before;
	const struct perf *perf = &sampler->perf;
	uint64_t lost, side = 0, switches = 0, wakes = 0, counted = 0;

	if (sampler->by_preload)
		perf->rings[PERF_SIDE][0].lost =
			preload_reader_lost(&sampler->preload, preload_reader_side_band(&sampler->preload));
	for (unsigned n = 0; n < perf->cpus; n++) {
		lost = sampler->by_preload ? preload_reader_lost(&sampler->preload, n)
					   : perf_lost(perf, PERF_SAMPLES, n, &counted);
		lost += wakes_lost(sampler, n);
		wakes += wakes_lost(sampler, n);
		samples_lost(&sampler->samples, n, lost + sampler->offcpu_lost[n]);
		side += perf->rings[PERF_SIDE][n].lost;
		switches += perf->off_cpu ? perf->rings[PERF_SWITCHES][n].lost : 0;
	}
	if (perf_counts_by_side_band(perf))
		counted = counted_by_side_band(perf);
	totals->missed = tree_missed(&perf->tree) - before->missed;
	set_ring_lost(&totals->ledgers[SAMPLER_WAKERS],
		      wakes - before->ledgers[SAMPLER_WAKERS].lost[WIRE_SAMPLE_RING]);
	lost = samples_lost_so_far(&sampler->samples);
	for (unsigned kind = SAMPLER_SAMPLES + 1; kind < SAMPLER_KINDS; kind++)
		lost -= totals->ledgers[kind].lost[WIRE_SAMPLE_RING];
	set_ring_lost(&totals->ledgers[SAMPLER_SAMPLES], lost);
	settle_count(sampler, counted);
	totals->side_lost = side - before->side_lost;
	totals->switch_lost = switches - before->switch_lost;
	totals->preempted = sampler->waits.preempted - before->preempted;
	totals->preempted_ns = sampler->waits.preempted_ns - before->preempted_ns;
	totals->blocked_before = sampler->waits.before - before->blocked_before;
}

/* Find switches that were lost after the last record of a ring. */
static void find_last_gaps(struct sampler *sampler)
{
	struct perf_ring *rings = sampler->perf.rings[PERF_SWITCHES];
	uint64_t counted = 0;

	for (unsigned n = 0; rings && n < sampler->perf.cpus; n++) {
		const uint64_t lost = perf_lost(&sampler->perf, PERF_SWITCHES, n, &counted);

		if (lost > rings[n].lost)
			offcpu_gap_at_end(&sampler->waits, rings[n].latest);
		rings[n].lost = lost;
	}
}

static int finish_trace(struct sampler *sampler, struct sampler_totals *totals)
{
	const int error = samples_finish(&sampler->samples);
	int profile;

	if (!error) { /* otherwise an entry might refer to one that could not be written */
		table_writer_finish(&sampler->images_table, sampler->directory, ".burin/images", 0);
		table_writer_finish(&sampler->tasks_table, sampler->directory, ".burin/tasks", 0);
		table_writer_finish(&sampler->stacks_table, sampler->directory, ".burin/stacks", 0);
	}
	for (unsigned kind = 0; kind < SAMPLER_KINDS; kind++)
		sampler->totals.ledgers[kind].lost[WIRE_SAMPLE_KEPT] = 0;
	sampler->totals.bytes = samples_bytes(&sampler->samples) + sampler->images_table.at +
				sampler->tasks_table.at + sampler->stacks_table.at;
	*totals = sampler->totals;
	profile = profile_write(sampler, true);
	return error ? error : profile;
}

/* Subtract from the ledger, and return, the samples that are received but not yet sorted. */
static uint64_t take_waiting(struct sampler_ledger *ledger)
{
	uint64_t waiting = ledger->received - ledger->attributed;

	for (unsigned n = WIRE_SAMPLE_KEPT + 1; n < WIRE_SAMPLE_LOSSES; n++)
		waiting -= ledger->lost[n];
	ledger->received -= waiting;
	return waiting;
}

/* An open wait will be written into the new trace: its task and stack get new numbers. */
static void renumber_wait(void *data, struct sample_task *task)
{
	struct sampler *sampler = data;
	struct sample_wait *wait = &task->wait;

	task->early.time = 0;
	if (!wait->stack || (wait->state != SAMPLE_WAIT_STOPS && wait->state != SAMPLE_WAIT_BLOCKED &&
			     wait->state != SAMPLE_WAIT_BEFORE))
		return;
	wait->stack = stacks_copy(&sampler->stacks, &sampler->former, wait->stack);
	wait->task = tasks_number(&sampler->tasks, task);
	if (!wait->stack || !wait->task)
		wait->loss = WIRE_SAMPLE_WRITE;
	for (uint32_t n = wait->stack; n; n = sampler->stacks.nodes[n - 1].caller)
		images_sampled(&sampler->images, sampler->stacks.nodes[n - 1].image);
}

/*
 * The new tables of tasks and stacks begin empty, so a chunk and the recorder's memory do not grow with the recording's age.
 * That of images has all entries: there are not many, and their numbers identify the files that are kept open.
 */
static int next_tables(struct sampler *sampler)
{
	int error = table_writer_next(&sampler->images_table, sampler->directory, ".burin/images");

	table_writer_close(&sampler->tasks_table);
	table_writer_close(&sampler->stacks_table);
	if (!error)
		error = begin_tables(sampler);
	if (error)
		return error;
	tasks_renumber(&sampler->tasks);
	sampler->former = sampler->stacks;
	stacks_init(&sampler->stacks, &sampler->stacks_table);
	budget_again(&sampler->images.budget, BUDGET_STACKS);
	if (sampler->perf.off_cpu)
		tasks_each(&sampler->tasks, renumber_wait, sampler);
	stacks_free(&sampler->former);
	return 0;
}

void sampler_keep(struct sampler *sampler, unsigned chunk, bool names, unsigned removed)
{
	sampler->images.chunk = chunk;
	sampler->images.needed = !names ? UINT64_MAX : removed ? removed + 1 : 0;
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
	unsigned fullest = 0;

	if (!sampler->by_preload)
		sampler->waits.end = perf_now(&sampler->perf); /* all switches up to here are in the rings */
	sampler_stop(sampler);
	sampler_round(sampler, &fullest);
	find_last_gaps(sampler);
	rounds_end(&sampler->rounds, sampler_take_entry, sampler);
	if (sampler->perf.off_cpu)
		offcpu_end(&sampler->waits);
	if (sampler->by_preload)
		preload_reader_settle(&sampler->preload);
	settle_lost(sampler);
	sampler_commit(sampler);
	return finish_trace(sampler, totals);
}

void sampler_release(struct sampler *sampler)
{
	if (sampler->released)
		return;
	sampler->released = true;
	rounds_free(&sampler->rounds);
	perf_close(&sampler->perf);
	if (sampler->by_preload)
		preload_reader_close(&sampler->preload);
	tasks_free(&sampler->tasks);
	kernel_free(&sampler->kernel);
	stacks_free(&sampler->stacks);
	samples_free(&sampler->samples);
	free(sampler->offcpu_lost);
	free(sampler->last_ended);
	table_writer_close(&sampler->images_table);
	table_writer_close(&sampler->tasks_table);
	table_writer_close(&sampler->stacks_table);
	images_release(&sampler->images);
}

void sampler_close(struct sampler *sampler)
{
	sampler_release(sampler);
	images_free(&sampler->images);
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
