/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples in a recording; see sampling.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/pid.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/preload_libraries.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/sources/sampling.h"
#include "cmd/record/names/cmd_symbols.h"
#include "file/create.h"
#include "session/clock.h"
#include "source/kernel/probes/kernel_function.h"
#include "view/profile/unsampled.h"
#include "wire/wire_terms.h"

enum {
	/* Of sampling, in a pause. Not more, since files are opened in a round, some only while their process lives. */
	SAMPLING_PAUSE_PERIODS = 5,
	SAMPLING_COMMIT_ROUNDS = 4, /* where pauses are long: small blocks take time and space */
};

/* The process that a thread belongs to; 0: there is no such thread. */
static pid_t sampling_process_of(pid_t thread)
{
	char path[64], line[256];
	pid_t process = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	file = fopen(path, "re");
	while (file && !process && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &process) != 1)
			process = 0;
	if (file)
		fclose(file);
	return process;
}

int sampling_choose(struct sampling_options *options, pid_t process)
{
	struct view_set *set = &options->processes;

	if (!process)
		return -ESRCH;
	if (!array_reserve(set->numbers, set->room, set->count + 1))
		return -ENOMEM;
	set->numbers[set->count++] = (uint64_t)process;
	return 0;
}

/* Return: 0 or CMD_USAGE. */
static int check_event(const char *event)
{
	struct perf_choice choice;
	char why[PROBE_WHY];
	unsigned refused;

	if (kernel_function_is_one(event))
		return cmd_usage(
			"--sample-event %s: functions of the kernel are called by trampolines, which perf "
			"events cannot sample; record them with -k, without stacks",
			event);
	if (!probe_is_one(event))
		return perf_event_find(&choice, event, why, sizeof(why)) == 0
			       ? 0
			       : cmd_usage("--sample-event: %s", why);
	if (probe_event_check(event, &refused, why) != 0)
		return cmd_usage("--sample-event %s: %s", event, why);
	if (refused)
		cmd_note("burin: --sample-event: %u function%s cannot be probed, such as %s\n", refused,
			 text_plural(refused), why);
	return 0;
}

int sampling_check(struct sampling_options *options)
{
	if (options->stack_bytes % 8)
		return cmd_usage("--stack-size: give a multiple of 8, not %u", options->stack_bytes);
	if (check_event(options->event) != 0)
		return CMD_USAGE;
	for (size_t n = 0; n < options->processes.count; n++)
		if (!pid_lives((uint32_t)options->processes.numbers[n]))
			return cmd_usage("--pid: there is no process %" PRIu64,
					 options->processes.numbers[n]);
	if (options->thread && sampling_choose(options, sampling_process_of(options->thread)) != 0)
		return cmd_usage("--thread: there is no thread %d", options->thread);
	if (options->buffer_bytes) {
		size_t bytes = SAMPLING_BUFFER_MIN;

		while (bytes < options->buffer_bytes)
			bytes *= 2;
		options->buffer_bytes = bytes;
	}
	return 0;
}

/*
 * Prepare a timer in the command instead of the kernel's events.
 * @refused: why there are no kernel events; an error of the timer is appended
 */
static int open_timer(struct sampling *sampling, struct session *session, const struct perf_options *perf,
		      char *refused, size_t bytes)
{
	const size_t used = strlen(refused);
	char why[256];
	int error = preload_find("libburin-sample.so", sampling->library, sizeof(sampling->library));

	if (error) {
		snprintf(refused + used, bytes - used, "%slibburin-sample.so %s", used ? "; " : "",
			 preload_problem(error));
		return error;
	}
	error = sampler_open_preload(&sampling->sampler, session, perf, why, sizeof(why));
	if (error)
		snprintf(refused + used, bytes - used, "%s%s", used ? "; " : "", why);
	return error;
}

/* Whether the timer can replace the kernel's events: they are not permitted, and were for a command's CPU time. */
static bool timer_helps(const struct perf_options *perf, int error)
{
	return (error == -EACCES || error == -EPERM || error == -ENOSYS || error == -ENOBUFS) &&
	       perf->command && !perf->system && strcmp(perf->event, SAMPLING_EVENT) == 0;
}

/* Open the kernel's events, at a probe if the event is one. Return: 0 or -errno, and `why`. */
static int open_events(struct sampling *sampling, struct session *session, struct perf_options *perf,
		       char why[PROBE_WHY])
{
	int error = 0;

	if (probe_is_one(perf->event)) {
		error = probe_event_make(&sampling->probe, perf->event, why);
		perf->event = sampling->probe.name;
		perf->label = sampling->probe.label;
	}
	if (!error)
		error = sampler_open(&sampling->sampler, session, perf, why, PROBE_WHY);
	if (error)
		probe_event_remove(&sampling->probe);
	return error;
}

static void sampling_close_events(struct sampling *sampling)
{
	sampler_close(&sampling->sampler);
	probe_event_remove(&sampling->probe);
}

static int open_samples(void *state, struct recorder *recorder)
{
	struct sampling *sampling = state;
	const struct sampling_options *options = sampling->options;
	struct session *session = recorder->session;
	const bool is_tsc = session->geometry.clock == WIRE_CLOCK_TSC;
	struct perf_options perf = { .event = options->event,
				     .frequency = options->frequency,
				     .graph = options->graph,
				     .stack_bytes = options->stack_bytes,
				     .buffer_bytes = options->buffer_bytes,
				     .is_tsc = is_tsc,
				     .system = options->system,
				     .command = options->processes.count ? 0 : recorder->command,
				     .processes = options->processes.numbers,
				     .process_count = options->processes.count,
				     .thread = options->thread,
				     .off_cpu = options->off_cpu,
				     .wakers = options->wakers,
				     .timer = options->timer };
	/* Whether only samples are recorded. */
	const bool alone = session->nameless ||
			   (!recorder->command && session->geometry.owner_kind == WIRE_OWNER_RECORDER);
	char why[PROBE_WHY] = "";
	int error = -EPERM;

	sampling->quiet = recorder->quiet;
	if (options->off)
		return 0;
	if (!options->timer)
		error = open_events(sampling, session, &perf, why);
	if (timer_helps(&perf, error))
		error = open_timer(sampling, session, &perf, why, sizeof(why));
	sampling->opened = !error;
	if (!sampling->opened)
		cmd_note("burin: no samples: %s%s\n", why, alone ? "" : "; tracepoints are still recorded");
	else if (*sampling->sampler.limit && !recorder->quiet)
		cmd_note("burin: samples: %s\n", sampling->sampler.limit);
	return 0;
}

static bool takes_samples(const void *state)
{
	return ((const struct sampling *)state)->opened;
}

static bool write_environment(const void *state, int file)
{
	const struct sampling *sampling = state;

	if (!sampling->opened || !sampling->sampler.by_preload)
		return true;
	return dprintf(file, "%s%c", sampling->sampler.preload.wanted, 0) > 0;
}

static const char *sampling_library_of(const void *state)
{
	const struct sampling *sampling = state;

	return sampling->opened && sampling->sampler.by_preload ? sampling->library : "";
}

static int sampling_pause_of(const void *state)
{
	const struct sampling *sampling = state;
	const struct perf *perf = &sampling->sampler.perf;
	int pause;

	if (!sampling->begun)
		return INT_MAX;
	if (perf->off_cpu || !perf->event.clock)
		return RECORDER_IDLE_MS;
	pause = SAMPLING_PAUSE_PERIODS * 1000 / (int)perf->options.frequency;
	return pause < RECORDER_IDLE_MS ? RECORDER_IDLE_MS : pause;
}

/* Begin to write into the drain's trace, which has its metadata. */
static void begin_samples(void *state, struct recorder *recorder)
{
	struct sampling *sampling = state;
	const struct drain *drain = &recorder->drain;
	int error;

	if (!sampling->opened)
		return;
	error = sampler_begin(&sampling->sampler, drain->output.directory);
	sampling->chunk = drain->chunks.last;
	sampling->begun = sampling->opened = !error;
	if (!sampling->sampler.perf.options.command && sampling_pause_of(sampling) > RECORDER_IDLE_MS)
		sampling->sampler.commit_rounds = SAMPLING_COMMIT_ROUNDS;
	if (error) {
		cmd_note("burin: no samples: %s; tracepoints are still recorded\n", strerror(-error));
		sampling_close_events(sampling);
	}
}

static int wake_of(const void *state)
{
	const struct sampling *sampling = state;

	return sampling->begun ? sampling->sampler.perf.wake : -1;
}

/* Report only the first error. */
static void note_error(struct sampling *sampling, int error)
{
	if (error && !sampling->error)
		cmd_note("burin: samples: %s; later samples were not recorded\n", strerror(-error));
	if (!sampling->error)
		sampling->error = error;
}

static void sampling_keep(struct sampling *sampling, const struct drain *drain)
{
	sampler_keep(&sampling->sampler, sampling->chunk, !sampling->options->no_symbols,
		     drain->chunks.trim.done);
}

/* After the drain's round. If that has begun a chunk, the samples still go into the one before. */
static void sampling_read_samples(void *state, struct recorder *recorder, unsigned *fullest)
{
	struct sampling *sampling = state;
	struct drain *drain = &recorder->drain;
	struct sampler_totals totals;

	if (!sampling->begun)
		return;
	sampling_keep(sampling, drain);
	/* Before the next chunk: the samples of a chunk must match the kernel's count for it. */
	sampler_round(&sampling->sampler, fullest);
	if (sampling->chunk != drain->chunks.last) {
		sampling->chunk = drain->chunks.last;
		sampling_keep(sampling, drain);
		note_error(sampling, sampler_next(&sampling->sampler, drain->output.directory, &totals));
		sampler_add(&sampling->totals, &totals);
	}
	/* Tables do not count for the size of a chunk: they continue in the next one. */
	drain->beside = samples_bytes(&sampling->sampler.samples);
}

static void count_so_far(const void *state, uint64_t *samples, uint64_t *lost)
{
	const struct sampling *sampling = state;
	const struct sampler *sampler = &sampling->sampler;
	struct sampler_totals sums = sampling->totals;
	uint64_t reported, settled;

	if (!sampling->begun)
		return;
	sampler_add(&sums, &sampler->totals);
	for (unsigned kind = 0; kind < SAMPLER_KINDS; kind++) {
		*samples += sums.ledgers[kind].attributed;
		for (unsigned n = WIRE_SAMPLE_KEPT + 1; n < WIRE_SAMPLE_LOSSES; n++)
			*lost += sums.ledgers[kind].lost[n];
	}
	/* The ledger receives the losses of the rings only at the end. */
	settled = sampler->totals.ledgers[SAMPLER_SAMPLES].lost[WIRE_SAMPLE_RING] +
		  sampler->totals.ledgers[SAMPLER_WAITS].lost[WIRE_SAMPLE_RING] +
		  sampler->totals.ledgers[SAMPLER_WAKERS].lost[WIRE_SAMPLE_RING];
	reported = samples_lost_so_far(&sampler->samples);
	*lost += reported > settled ? reported - settled : 0;
}

static void finish_samples(void *state, struct recorder *recorder)
{
	struct sampling *sampling = state;
	struct sampler_totals totals;

	if (!sampling->begun)
		return;
	sampling->by_cpu = perf_by_cpu(&sampling->sampler.perf);
	note_error(sampling, sampler_finish(&sampling->sampler, &totals));
	sampler_add(&sampling->totals, &totals);
	for (unsigned n = 0; n < SAMPLING_EXCESSES; n++)
		if (!budget_text(&sampling->sampler.images.budget, n, sampling->excess[n]))
			break;
	recorder->faulted |= sampling->error != 0;
}

/* The file as it was mapped, even if it was replaced since. */
static int pinned_file(void *data, uint32_t number)
{
	return images_file(&((struct sampler *)data)->images, number);
}

static void name_samples(void *state, int directory, const char *path, uint64_t deadline_ns)
{
	struct sampling *sampling = state;
	const struct sampler_ledger *ledgers = sampling->totals.ledgers;

	if (!sampling->begun || !(ledgers[SAMPLER_SAMPLES].attributed + ledgers[SAMPLER_WAITS].attributed))
		return;
	sampler_release(&sampling->sampler);
	cmd_symbols_find(directory, path,
			 &(struct cmd_symbols_options){ .quiet = true,
							.deadline_ns = deadline_ns,
							.progress = !sampling->quiet,
							.servers = true,
							.cached = true,
							.file = pinned_file,
							.data = &sampling->sampler });
}

static void close_samples(void *state)
{
	struct sampling *sampling = state;

	if (sampling->opened)
		sampling_close_events(sampling);
	sampling->opened = false;
}

/* @ring: the text for samples lost to a full kernel buffer */
static void sampling_print_losses(const struct sampler_ledger *ledger, const char *ring)
{
	char text[TEXT_SHORT];
	uint64_t sum = 0;

	for (unsigned n = WIRE_SAMPLE_KEPT + 1; n < WIRE_SAMPLE_LOSSES; n++)
		sum += ledger->lost[n];
	cmd_note(", lost %s", text_count(text, sum));
	for (unsigned n = WIRE_SAMPLE_KEPT + 1, shown = 0; n < WIRE_SAMPLE_LOSSES; n++)
		if (ledger->lost[n])
			cmd_note("%s%s %s", shown++ ? ", " : ": ", text_count(text, ledger->lost[n]),
				 n == WIRE_SAMPLE_RING ? ring : wire_sample_terms[n].text);
	cmd_note("\n");
}

/* Off-CPU time. */
static void sampling_print_waits(const struct sampler_totals *totals, enum perf_graph graph)
{
	const struct sampler_ledger *waits = &totals->ledgers[SAMPLER_WAITS];
	char count[TEXT_SHORT], time[TEXT_SHORT];

	cmd_note("burin: off-CPU: %s wait%s, %s", text_count(count, waits->attributed),
		 text_plural(waits->attributed), text_duration(time, totals->waited_ns));
	if (totals->stackless)
		cmd_note(" (%s without a stack: the kernel's buffer was full%s)",
			 text_count(count, totals->stackless),
			 graph & PERF_GRAPH_DWARF ? "; try a larger --sample-buffer, or --call-graph fp"
						  : "");
	if (totals->preempted)
		cmd_note("; preempted %s time%s, %s", text_count(count, totals->preempted),
			 text_plural(totals->preempted), text_duration(time, totals->preempted_ns));
	if (totals->blocked_before)
		cmd_note("; blocked from the beginning, at an unknown location: %s thread%s",
			 text_count(count, totals->blocked_before), text_plural(totals->blocked_before));
	if (totals->switch_lost)
		cmd_note("; %s thread switches lost: the kernel's buffer was full",
			 text_count(count, totals->switch_lost));
	sampling_print_losses(waits, "since the kernel's buffer was full at their end");
}

/* Wake-ups. */
static void sampling_print_wakers(const struct sampler_totals *totals)
{
	const struct sampler_ledger *wakers = &totals->ledgers[SAMPLER_WAKERS];
	char count[TEXT_SHORT];

	cmd_note("burin: wakers: %s wake-up%s with a stack", text_count(count, wakers->attributed),
		 text_plural(wakers->attributed));
	sampling_print_losses(
		wakers, "the kernel's buffer was full (try a larger --sample-buffer, or --call-graph fp)");
}

/* Time or events without any sample, if they are a large part. Return: whether they are. */
static bool sampling_print_unsampled(const struct sampling *sampling)
{
	const struct perf *perf = &sampling->sampler.perf;
	struct view_unsampled unsampled = { .time = perf->event.clock,
					    .kernel = perf->kernel,
					    .by_cpu = (uint64_t)sampling->by_cpu,
					    .by_task = *perf->by_task ? perf->by_task : NULL,
					    .each = perf_weight(perf) };
	struct view_buffer text = { 0 };

	view_unsampled_set(&unsampled, sampling->totals.counted,
			   sampling->totals.ledgers[SAMPLER_SAMPLES].received);
	if (!sampling->totals.counted || !view_unsampled_matters(&unsampled))
		return false;
	view_buffer_print(&text, "burin: ");
	view_unsampled_text(&unsampled, &text);
	view_buffer_print(&text, "; ");
	view_unsampled_hint(&unsampled, &text);
	view_buffer_print(&text, "\n");
	view_buffer_write(&text, STDERR_FILENO);
	view_buffer_free(&text);
	return true;
}

static void sampling_summarize(const void *state, const struct recorder *recorder, const char *output)
{
	const struct sampling *sampling = state;
	const struct sampler_totals *totals = &sampling->totals;
	const struct sampler_ledger *samples = &totals->ledgers[SAMPLER_SAMPLES];
	char count[TEXT_SHORT], kernel[TEXT_SHORT], size[TEXT_SHORT];
	bool unsampled;

	if (!sampling->begun || recorder->converted)
		return;
	cmd_note("burin: %s sample%s of %s, %s in the kernel, %s%s%s", text_count(count, samples->attributed),
		 text_plural(samples->attributed), sampling->options->event,
		 text_count(kernel, totals->kernel), text_size(size, totals->bytes), output ? " in " : "",
		 output ? output : "");
	sampling_print_losses(samples, "the buffer was full (try a larger --sample-buffer)");
	for (unsigned n = 0; n < SAMPLING_EXCESSES && *sampling->excess[n]; n++)
		cmd_note("burin: budget of work for one process or user exceeded: %s\n", sampling->excess[n]);
	if (totals->missed)
		cmd_note("burin: %s threads and processes were not followed, and have no samples: too many "
			 "lived at once; "
			 "record with -a\n",
			 text_count(count, totals->missed));
	unsampled = sampling_print_unsampled(sampling);
	if (sampling->sampler.perf.off_cpu && sampling->sampler.perf.wakes)
		sampling_print_wakers(totals);
	if (sampling->sampler.perf.off_cpu)
		sampling_print_waits(totals, sampling->options->graph);
	else if (samples->received == 0 && !unsampled && sampling->options->processes.count)
		cmd_note("burin: these processes did not run meanwhile, or for less than a sample; --off-cpu "
			 "records where they wait\n");
	if (sampling->sampler.by_preload && samples->received == 0)
		cmd_note("burin: no program sampled itself: static and set-user-ID programs cannot, short "
			 "ones "
			 "rarely do\n");
}

static bool were_begun(const void *state)
{
	return ((const struct sampling *)state)->begun;
}

const struct source_ops sampling_source = {
	.open = open_samples,
	.records = takes_samples,
	.is_apart = were_begun,
	.environment = write_environment,
	.library = sampling_library_of,
	.begin = begin_samples,
	.wake = wake_of,
	.pause_ms = sampling_pause_of,
	.round = sampling_read_samples,
	.so_far = count_so_far,
	.finish = finish_samples,
	.names = name_samples,
	.close = close_samples,
	.summary = sampling_summarize,
};
