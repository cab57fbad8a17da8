/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples in a recording; see sampling.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/pid.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/sampling.h"
#include "cmd/symbols.h"
#include "view/unsampled.h"

static const char name[] = "record"; /* of the subcommand */

struct sampling_options sampling_defaults(void)
{
	return (struct sampling_options){ .event = "cpu-clock",
					  .frequency = SAMPLING_HZ,
					  .graph = PERF_GRAPH_BOTH,
					  .stack_bytes = PERF_STACK_BYTES };
}

static int parse_graph(struct sampling_options *options, const char *value)
{
	for (unsigned n = 0; n < PERF_GRAPHS; n++) {
		if (strcmp(value, perf_graph_names[n]) == 0) {
			options->graph = (enum perf_graph)n;
			return 0;
		}
	}
	return cmd_bad_value(name, "--call-graph", value, "it is fp, dwarf, both or none");
}

static int parse_stack(struct sampling_options *options, const char *value)
{
	uint64_t bytes = 0;

	if (!number_parse_size(value, &bytes) || bytes == 0 || bytes > PERF_STACK_MAX || bytes % 8)
		return cmd_bad_value(name, "--stack-size", value,
				     "give a number of bytes from 8 to 65528, a multiple of 8, such as 16K");
	options->stack_bytes = (unsigned)bytes;
	return 0;
}

/* Rings are powers of two. */
static int parse_buffer(struct sampling_options *options, const char *value)
{
	uint64_t bytes = 0;

	if (!number_parse_size(value, &bytes) || bytes < SAMPLING_BUFFER_MIN || bytes > SAMPLING_BUFFER_MAX)
		return cmd_bad_value(name, "--sample-buffer", value,
				     "give a size from 128K to 1G, such as 32M");
	options->buffer_bytes = SAMPLING_BUFFER_MIN;
	while (options->buffer_bytes < bytes)
		options->buffer_bytes *= 2;
	return 0;
}

static int parse_pid(const char *option, const char *value, pid_t *pid)
{
	uint64_t number = 0;

	if (!number_parse_size(value, &number) || number == 0 || number > INT32_MAX)
		return cmd_bad_value(name, option, value, "give the number of one");
	*pid = (pid_t)number;
	return 0;
}

/* The process that a thread belongs to. */
static int parse_thread(struct sampling_options *options, const char *value)
{
	char path[64], line[256];
	int result = parse_pid("--thread", value, &options->thread), pid = 0;
	FILE *file;

	if (result)
		return result;
	snprintf(path, sizeof(path), "/proc/%d/status", options->thread);
	file = fopen(path, "re");
	while (file && !pid && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) != 1)
			pid = 0;
	if (file)
		fclose(file);
	options->process = pid;
	return pid ? 0 : cmd_bad_value(name, "--thread", value, "there is no such thread");
}

static int parse_frequency(struct sampling_options *options, const char *value)
{
	uint64_t number = 0;

	if (!number_parse_size(value, &number) || number == 0 || number > 100000)
		return cmd_bad_value(name, "--frequency", value,
				     "give a number of samples a second from 1 to 100000, such as 997");
	options->frequency = (unsigned)number;
	return 0;
}

static int parse_event(const char *value)
{
	struct perf_choice choice;
	char why[256];

	if (perf_event_find(&choice, value, why, sizeof(why)) == 0)
		return 0;
	fprintf(stderr, "burin record: --sample-event: %s\n", why);
	return CMD_USAGE;
}

/* Who is sampled is told once: of two the one would be forgotten. */
static bool is_second(const struct sampling_options *options, int option)
{
	if (!strchr("apt", option) || (!options->system && !options->process))
		return false;
	fprintf(stderr, "burin record: one of --all, --pid and --thread, and that once\n");
	return true;
}

int sampling_parse(struct sampling_options *options, int option, const char *value)
{
	if (is_second(options, option))
		return CMD_USAGE;
	switch (option) {
	case 'Y':
		options->no_symbols = true;
		return 0;
	case 'N':
		options->off = true;
		return 0;
	case 'T':
		options->timer = true;
		options->asked = "--timer";
		return 0;
	case 'F':
		options->asked = "--frequency";
		return parse_frequency(options, value);
	case 'g':
		options->asked = "--call-graph";
		return parse_graph(options, value);
	case 'z':
		options->asked = "--stack-size";
		return parse_stack(options, value);
	case 'M':
		options->asked = "--sample-buffer";
		return parse_buffer(options, value);
	case 'E':
		options->asked = "--sample-event";
		options->event = value;
		return parse_event(value);
	case 'O':
		options->asked = "--off-cpu";
		options->off_cpu = true;
		return 0;
	case 'a':
		options->asked = "--all";
		options->system = true;
		return 0;
	case 'p':
		options->asked = "--pid";
		if (parse_pid("--pid", value, &options->process))
			return CMD_USAGE;
		return pid_lives((uint32_t)options->process)
			       ? 0
			       : cmd_bad_value(name, "--pid", value, "there is no such process");
	case 't':
		options->asked = "--thread";
		return parse_thread(options, value);
	default:
		return -1;
	}
}

/* The library beside ourselves: where it was built, or where both were installed. Return: 0 or -errno. */
static int find_library(char *path, size_t bytes)
{
	static const char *const places[] = { ".", "../" BURIN_LIBDIR };
	char self[2048];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return -ENOENT;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	for (unsigned n = 0; n < 2; n++)
		if ((size_t)snprintf(path, bytes, "%s/%s/libburin-sample.so", self, places[n]) < bytes &&
		    access(path, R_OK) == 0)
			return strpbrk(path, ": ") ? -EINVAL : 0;
	return -ENOENT;
}

/*
 * A timer in the command takes the place of the kernel's events.
 * @refused: why these cannot be had; if it cannot, why not is added
 */
static int open_timer(struct sampling *sampling, struct session *session, const struct perf_options *perf,
		      char *refused, size_t bytes)
{
	const size_t used = strlen(refused);
	char why[256];
	int error = find_library(sampling->library, sizeof(sampling->library));

	if (error) {
		snprintf(refused + used, bytes - used, "%slibburin-sample.so %s", used ? "; " : "",
			 error == -ENOENT ? "is not beside burin" : "has a blank or a colon in its path");
		return error;
	}
	error = sampler_open_timer(&sampling->sampler, session, perf, why, sizeof(why));
	if (error)
		snprintf(refused + used, bytes - used, "%s%s", used ? "; " : "", why);
	return error;
}

/* Whether that can help: the kernel has refused to sample a command's CPU time, for want of permission. */
static bool timer_helps(const struct perf_options *perf, int error)
{
	return (error == -EACCES || error == -EPERM || error == -ENOSYS || error == -ENOBUFS) &&
	       perf->command && !perf->system && strcmp(perf->event, sampling_defaults().event) == 0;
}

void sampling_open(struct sampling *sampling, const struct sampling_options *options, struct session *session,
		   pid_t command, bool quiet)
{
	const bool is_tsc = session->geometry.clock == WIRE_CLOCK_TSC;
	const struct perf_options perf = { .event = options->event,
					   .frequency = options->frequency,
					   .graph = options->graph,
					   .stack_bytes = options->stack_bytes,
					   .buffer_bytes = options->buffer_bytes,
					   .is_tsc = is_tsc,
					   .clock_hz = session_clock_hz(session),
					   .system = options->system,
					   .command = options->process ? 0 : command,
					   .process = options->process,
					   .thread = options->thread,
					   .off_cpu = options->off_cpu };
	/* Whether there is nothing else to record. */
	const bool alone = !command && session->geometry.owner_kind == WIRE_OWNER_RECORDER;
	char why[512] = "";
	int error = -EPERM;

	*sampling = (struct sampling){ .options = options, .quiet = quiet };
	if (options->off)
		return;
	if (!options->timer)
		error = sampler_open(&sampling->sampler, session, &perf, why, sizeof(why));
	if (timer_helps(&perf, error))
		error = open_timer(sampling, session, &perf, why, sizeof(why));
	sampling->opened = !error;
	if (!sampling->opened)
		fprintf(stderr, "burin: no samples: %s%s\n", why,
			alone ? "" : "; tracepoints are recorded all the same");
	else if (*sampling->sampler.limit && !quiet)
		fprintf(stderr, "burin: samples: %s\n", sampling->sampler.limit);
}

bool sampling_environment(const struct sampling *sampling, int file)
{
	const char *before = getenv("LD_PRELOAD"), *asan = getenv("ASAN_OPTIONS");

	if (!sampling->opened || !sampling->sampler.by_timer)
		return true;
	/* AddressSanitizer refuses to begin behind a library that it does not expect. */
	return dprintf(file, "%s%cLD_PRELOAD=%s%s%s%cASAN_OPTIONS=%s%sverify_asan_link_order=0%c",
		       sampling->sampler.timer.wanted, 0, sampling->library, before && *before ? ":" : "",
		       before ? before : "", 0, asan ? asan : "", asan && *asan ? ":" : "", 0) > 0;
}

void sampling_begin(struct sampling *sampling, const struct drain *drain)
{
	int error;

	if (!sampling->opened)
		return;
	error = sampler_begin(&sampling->sampler, drain->output.directory);
	sampling->chunk = drain->chunks.last;
	sampling->begun = sampling->opened = !error;
	if (error) {
		fprintf(stderr, "burin: no samples: %s; tracepoints are recorded all the same\n",
			strerror(-error));
		sampler_close(&sampling->sampler);
	}
}

int sampling_wake(const struct sampling *sampling)
{
	return sampling->begun ? sampling->sampler.perf.wake : -1;
}

/* The first error is told once. */
static void note_error(struct sampling *sampling, int error)
{
	if (error && !sampling->error)
		fprintf(stderr, "burin: samples: %s; those that came later were not recorded\n",
			strerror(-error));
	if (!sampling->error)
		sampling->error = error;
}

void sampling_round(struct sampling *sampling, struct drain *drain, unsigned *fullest)
{
	struct sampler_totals totals;

	if (!sampling->begun)
		return;
	sampler_round(&sampling->sampler,
		      fullest); /* what the kernel has counted by now is to be sampled by now */
	if (sampling->chunk != drain->chunks.last) {
		sampling->chunk = drain->chunks.last;
		note_error(sampling, sampler_next(&sampling->sampler, drain->output.directory, &totals));
		sampler_add(&sampling->totals, &totals);
	}
	drain->beside =
		samples_bytes(&sampling->sampler.samples); /* not the tables: they do not begin anew */
}

void sampling_so_far(const struct sampling *sampling, uint64_t *samples, uint64_t *lost)
{
	const struct sampler *sampler = &sampling->sampler;
	struct sampler_totals sums = sampling->totals;
	uint64_t told, settled;

	*samples = *lost = 0;
	if (!sampling->begun)
		return;
	sampler_add(&sums, &sampler->totals);
	for (unsigned kind = 0; kind < SAMPLER_KINDS; kind++) {
		*samples += sums.ledgers[kind].attributed;
		for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
			*lost += sums.ledgers[kind].lost[n];
	}
	/* Those of the rings come into the ledger at the end. */
	settled = sampler->totals.ledgers[SAMPLER_SAMPLES].lost[SAMPLE_LOST_RING] +
		  sampler->totals.ledgers[SAMPLER_WAITS].lost[SAMPLE_LOST_RING];
	told = samples_lost_so_far(&sampler->samples);
	*lost += told > settled ? told - settled : 0;
}

void sampling_finish(struct sampling *sampling)
{
	struct sampler_totals totals;

	if (sampling->opened && !sampling->begun)
		sampler_close(&sampling->sampler);
	if (!sampling->begun)
		return;
	note_error(sampling, sampler_finish(&sampling->sampler, &totals));
	sampler_add(&sampling->totals, &totals);
}

/* The file as it was mapped, whatever has become of it since. */
static int pinned_file(void *data, uint32_t number)
{
	return images_file(&((struct sampler *)data)->images, number);
}

static void find_symbols(struct sampling *sampling, const char *path)
{
	cmd_symbols_find("record", path,
			 &(struct cmd_symbols_options){ .quiet = true,
							.progress = !sampling->quiet,
							.file = pinned_file,
							.data = &sampling->sampler });
}

void sampling_symbols(struct sampling *sampling, const char *path, const struct drain_totals *totals)
{
	const struct sampler_ledger *ledgers = sampling->totals.ledgers;
	const bool wanted = sampling->begun && !sampling->options->no_symbols &&
			    ledgers[SAMPLER_SAMPLES].attributed + ledgers[SAMPLER_WAITS].attributed;
	char chunk[CHUNKS_PATH];

	if (wanted && !totals->chunks)
		find_symbols(sampling, path);
	for (unsigned n = totals->removed + 1; wanted && n <= totals->chunks; n++) {
		chunks_path(path, n, chunk);
		find_symbols(sampling, chunk);
	}
	if (sampling->begun)
		sampler_close(&sampling->sampler);
}

/* @ring: what it means that the kernel's buffer was full */
static void print_losses(const struct sampler_ledger *ledger, const char *ring)
{
	const char *const causes[SAMPLE_LOSSES] = {
		[SAMPLE_LOST_RING] = ring,
		[SAMPLE_LOST_LATE] = "too late",
		[SAMPLE_LOST_TASK] = "of unknown threads",
		[SAMPLE_LOST_MAPPING] = "outside all mappings",
		[SAMPLE_LOST_CONTEXT] = "of a hypervisor",
		[SAMPLE_LOST_DAMAGED] = "damaged",
		[SAMPLE_LOST_WRITE] = "not written",
	};
	char text[TEXT_SHORT];
	uint64_t sum = 0;

	for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
		sum += ledger->lost[n];
	fprintf(stderr, ", lost %s", text_count(text, sum));
	for (unsigned n = SAMPLE_KEPT + 1, shown = 0; n < SAMPLE_LOSSES; n++)
		if (ledger->lost[n])
			fprintf(stderr, "%s%s %s", shown++ ? ", " : ": ", text_count(text, ledger->lost[n]),
				causes[n]);
	fputc('\n', stderr);
}

/* Of the threads that did not run. */
static void print_waits(const struct sampler_totals *totals, enum perf_graph graph)
{
	const struct sampler_ledger *waits = &totals->ledgers[SAMPLER_WAITS];
	char count[TEXT_SHORT], time[TEXT_SHORT];

	fprintf(stderr, "burin: off-CPU: %s wait%s, %s", text_count(count, waits->attributed),
		waits->attributed == 1 ? "" : "s", text_duration(time, totals->waited_ns));
	if (totals->stackless)
		fprintf(stderr, " (%s without a stack: the kernel's buffer was full%s)",
			text_count(count, totals->stackless),
			graph & PERF_GRAPH_DWARF ? "; try --call-graph fp" : "");
	if (totals->preempted)
		fprintf(stderr, "; preempted %s time%s, %s", text_count(count, totals->preempted),
			totals->preempted == 1 ? "" : "s", text_duration(time, totals->preempted_ns));
	if (totals->blocked_before)
		fprintf(stderr, "; blocked before, nobody knows where: %s thread%s",
			text_count(count, totals->blocked_before), totals->blocked_before == 1 ? "" : "s");
	if (totals->switch_lost)
		fprintf(stderr, "; %s switches not told, the kernel's buffer was full",
			text_count(count, totals->switch_lost));
	print_losses(waits, "whose end the kernel had no room for");
}

/* What was not sampled at all, if it is much. */
static void print_unsampled(const struct sampling *sampling)
{
	const struct perf *perf = &sampling->sampler.perf;
	struct view_unsampled unsampled = { .time = perf->event.clock,
					    .kernel = perf->kernel,
					    .each = perf_weight(perf) };
	struct view_buffer text = { 0 };

	view_unsampled_set(&unsampled, sampling->totals.counted,
			   sampling->totals.ledgers[SAMPLER_SAMPLES].received);
	if (!sampling->totals.counted || !view_unsampled_matters(&unsampled))
		return;
	view_buffer_print(&text, "burin: ");
	view_unsampled_text(&unsampled, &text);
	view_buffer_print(&text, "; ");
	view_unsampled_remedy(&unsampled, &text);
	view_buffer_print(&text, "\n");
	view_buffer_write(&text, STDERR_FILENO);
	view_buffer_free(&text);
}

void sampling_summary(const struct sampling *sampling)
{
	const struct sampler_totals *totals = &sampling->totals;
	const struct sampler_ledger *samples = &totals->ledgers[SAMPLER_SAMPLES];
	char count[TEXT_SHORT], kernel[TEXT_SHORT], size[TEXT_SHORT];

	if (!sampling->begun)
		return;
	fprintf(stderr, "burin: %s sample%s of %s, %s in the kernel, %s",
		text_count(count, samples->attributed), samples->attributed == 1 ? "" : "s",
		sampling->options->event, text_count(kernel, totals->kernel), text_size(size, totals->bytes));
	print_losses(samples, "the buffer was full (try --sample-buffer with more)");
	print_unsampled(sampling);
	if (sampling->sampler.perf.off_cpu)
		print_waits(totals, sampling->options->graph);
	if (sampling->sampler.by_timer && samples->received == 0)
		fprintf(stderr, "burin: no program took samples of itself: static and set-user-ID ones "
				"cannot, and short ones seldom do\n");
}
