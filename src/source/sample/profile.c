/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing `.burin/profile`; see profile.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "drain/replace.h"
#include "source/sample/profile.h"
#include "source/sample/sampler.h"

static void print_choice(FILE *out, const struct perf *perf)
{
	const struct perf_choice *event = &perf->event;

	if (event->clock || event->counting)
		fprintf(out, "frequency=%u\n", perf->options.frequency);
	fprintf(out, "call_graph=%s\n", perf_graph_names[perf->options.graph]);
	fprintf(out, "unit.sample.%s=%s\n", event->name, event->clock ? "ns" : "events");
	if (perf_weight(perf))
		fprintf(out, "weight.sample.%s=%" PRIu64 "\n", event->name, perf_weight(perf));
	if (perf->off_cpu)
		fprintf(out, "unit.sample.off-cpu=ns\n");
}

/* While it is being recorded, more was received, and waits for its turn. */
static uint64_t received(const struct sampler_ledger *ledger, bool ended)
{
	uint64_t settled = ledger->attributed;

	for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
		settled += ledger->lost[n];
	return ended ? ledger->received : settled;
}

/* Of the ledger, what are waits; and what does not run, and is none. */
static void print_waits(FILE *out, const struct sampler_totals *totals, bool ended)
{
	const struct sampler_ledger *waits = &totals->ledgers[SAMPLER_WAITS];

	fprintf(out,
		"off_cpu.received=%" PRIu64 "\noff_cpu.attributed=%" PRIu64 "\noff_cpu.ns=%" PRIu64
		"\noff_cpu.lost_ns=%" PRIu64 "\n",
		received(waits, ended), waits->attributed, totals->waited_ns, totals->lost_ns);
	fprintf(out,
		"blocked_before=%" PRIu64 "\npreempted=%" PRIu64 "\npreempted_ns=%" PRIu64
		"\nswitch_lost=%" PRIu64 "\n",
		totals->blocked_before, totals->preempted, totals->preempted_ns, totals->switch_lost);
}

static void print_ledger(FILE *out, const struct sampler *sampler, bool ended)
{
	static const char *const losses[SAMPLE_LOSSES] = {
		[SAMPLE_LOST_RING] = "ring",	   [SAMPLE_LOST_LATE] = "late",
		[SAMPLE_LOST_TASK] = "task",	   [SAMPLE_LOST_MAPPING] = "mapping",
		[SAMPLE_LOST_CONTEXT] = "context", [SAMPLE_LOST_DAMAGED] = "damaged",
		[SAMPLE_LOST_WRITE] = "write",
	};
	static const char *const cuts[WIRE_CUTS] = { "complete",   "cut.depth", "cut.stack", "cut.tables",
						     "cut.memory", "cut.image", "cut.ring" };
	const struct sampler_totals *totals = &sampler->totals;
	const struct sampler_ledger *samples = &totals->ledgers[SAMPLER_SAMPLES],
				    *waits = &totals->ledgers[SAMPLER_WAITS];

	fprintf(out, "received=%" PRIu64 "\nattributed=%" PRIu64 "\n",
		received(samples, ended) + received(waits, ended), samples->attributed + waits->attributed);
	for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
		fprintf(out, "lost.%s=%" PRIu64 "\n", losses[n], samples->lost[n] + waits->lost[n]);
	if (totals->counted)
		fprintf(out, "counted=%" PRIu64 "\n", totals->counted);
	fprintf(out, "kernel=%" PRIu64 "\nuser=%" PRIu64 "\n", totals->kernel + waits->attributed,
		totals->user);
	for (unsigned n = 0; n < WIRE_CUTS; n++)
		fprintf(out, "%s=%" PRIu64 "\n", cuts[n], totals->ends[n]);
	fprintf(out,
		"throttled=%" PRIu64 "\ntask_late=%" PRIu64 "\ntask_lost=%" PRIu64
		"\nimage_unreadable=%" PRIu64 "\njit_late=%" PRIu64 "\n",
		totals->throttled, totals->late, totals->side_lost, sampler->images.unreadable,
		sampler->attribution.jit.late);
	if (sampler->perf.off_cpu)
		print_waits(out, totals, ended);
}

/* Over the former one, which has its place on a disk that is full. */
static int overwrite(int directory, const char *text, size_t bytes)
{
	int fd = openat(directory, ".burin/profile", O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, bytes, 0) != (ssize_t)bytes || ftruncate(fd, (off_t)bytes) != 0)
		error = -EIO;
	close(fd);
	return error;
}

int profile_write(const struct sampler *sampler, bool ended)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int error;

	if (!out)
		return -ENOMEM;
	fprintf(out, "state=%s\n", ended ? "ended" : "recording");
	print_choice(out, &sampler->perf);
	print_ledger(out, sampler, ended);
	if (sampler->limit[0])
		fprintf(out, "limit=%s\n", sampler->limit);
	error = fclose(out) == 0 ? replace_file(sampler->directory, ".burin/profile", text, bytes) : -ENOMEM;
	if (error && error != -ENOMEM && overwrite(sampler->directory, text, bytes) == 0)
		error = 0;
	free(text);
	return error;
}
