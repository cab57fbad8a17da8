/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing `.burin/profile`; see profile_file.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/create.h"
#include "file/write.h"
#include "source/perf/profile_file.h"
#include "wire/wire_terms.h"

static void print_choice(FILE *out, const struct perf *perf)
{
	const struct perf_choice *event = &perf->event;

	if (event->clock || event->counting)
		fprintf(out, "frequency=%u\n", perf->options.frequency);
	fprintf(out, "call_graph=%s\n", perf_graph_names[perf->options.graph]);
	if (perf->stack_bytes)
		fprintf(out, "stack_bytes=%u\n", perf->stack_bytes);
	fprintf(out, "unit.sample.%s=%s\n", event->name, event->clock ? "ns" : "events");
	if (perf_weight(perf))
		fprintf(out, "weight.sample.%s=%" PRIu64 "\n", event->name, perf_weight(perf));
	if (perf->off_cpu)
		fprintf(out, "unit.sample.off-cpu=ns\n");
	if (perf->off_cpu && perf->wakes)
		fprintf(out, "unit.sample.waker=ns\n");
}

/* During the recording, `received` includes samples that wait to be sorted: they are left out. */
static uint64_t profile_file_received(const struct sampler_ledger *ledger, bool ended)
{
	uint64_t settled = ledger->attributed;

	for (unsigned n = WIRE_SAMPLE_KEPT + 1; n < WIRE_SAMPLE_LOSSES; n++)
		settled += ledger->lost[n];
	return ended ? ledger->received : settled;
}

/* The ledger of waits, and threads that stopped without a wait. */
static void profile_file_print_waits(FILE *out, const struct sampler_totals *totals, bool ended)
{
	const struct sampler_ledger *waits = &totals->ledgers[SAMPLER_WAITS];

	fprintf(out,
		"off_cpu.received=%" PRIu64 "\noff_cpu.attributed=%" PRIu64 "\noff_cpu.ns=%" PRIu64
		"\noff_cpu.lost_ns=%" PRIu64 "\n",
		profile_file_received(waits, ended), waits->attributed, totals->waited_ns, totals->lost_ns);
	fprintf(out,
		"blocked_before=%" PRIu64 "\npreempted=%" PRIu64 "\npreempted_ns=%" PRIu64
		"\nswitch_lost=%" PRIu64 "\n",
		totals->blocked_before, totals->preempted, totals->preempted_ns, totals->switch_lost);
}

static void profile_file_print_wakers(FILE *out, const struct sampler_totals *totals, bool ended)
{
	const struct sampler_ledger *wakers = &totals->ledgers[SAMPLER_WAKERS];

	fprintf(out, "wakers.received=%" PRIu64 "\nwakers.attributed=%" PRIu64 "\nwakers.lost=%" PRIu64 "\n",
		profile_file_received(wakers, ended), wakers->attributed,
		profile_file_received(wakers, ended) - wakers->attributed);
}

static void print_ledger(FILE *out, const struct sampler *sampler, bool ended)
{
	const struct sampler_totals *totals = &sampler->totals;
	const struct sampler_ledger *ledgers = totals->ledgers;
	uint64_t all = 0, attributed = 0;

	for (unsigned kind = 0; kind < SAMPLER_KINDS; kind++) {
		all += profile_file_received(&ledgers[kind], ended);
		attributed += ledgers[kind].attributed;
	}

	fprintf(out, "received=%" PRIu64 "\nattributed=%" PRIu64 "\n", all, attributed);
	for (unsigned n = WIRE_SAMPLE_KEPT + 1; n < WIRE_SAMPLE_LOSSES; n++)
		fprintf(out, "lost.%s=%" PRIu64 "\n", wire_sample_terms[n].key,
			ledgers[SAMPLER_SAMPLES].lost[n] + ledgers[SAMPLER_WAITS].lost[n] +
				ledgers[SAMPLER_WAKERS].lost[n]);
	if (totals->counted)
		fprintf(out, "counted=%" PRIu64 "\n", totals->counted);
	fprintf(out, "kernel=%" PRIu64 "\nuser=%" PRIu64 "\n", attributed - totals->user, totals->user);
	for (unsigned n = 0; n < WIRE_TRUNCATIONS; n++)
		fprintf(out, "%s%s=%" PRIu64 "\n", n ? "truncated." : "", wire_truncation_terms[n].key,
			totals->ends[n]);
	fprintf(out,
		"throttled=%" PRIu64 "\ntask_late=%" PRIu64 "\ntask_lost=%" PRIu64 "\ntree_missed=%" PRIu64
		"\nimage_unreadable=%" PRIu64 "\njit_late=%" PRIu64 "\ncontinued=%" PRIu64
		"\nscanned=%" PRIu64 "\n",
		totals->throttled, totals->late, totals->side_lost, totals->missed,
		sampler->images.unreadable, sampler->attribution.jit.late, totals->continued,
		totals->scanned);
	if (sampler->perf.off_cpu)
		profile_file_print_waits(out, totals, ended);
	if (sampler->perf.off_cpu && sampler->perf.wakes)
		profile_file_print_wakers(out, totals, ended);
}

/* Work that was not done because it exceeded an allowance, and the processes and users that caused it. */
static void print_budget(FILE *out, const struct budget *budget)
{
	static const char *const kinds[BUDGET_KINDS] = { "jit",	     "opens",  "files",	 "images",
							 "mappings", "unwind", "stacks", "waits" };
	char text[BUDGET_TEXT_MAX];

	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		if (budget->over[n])
			fprintf(out, "over.%s=%" PRIu64 "\n", kinds[n], budget->over[n]);
	for (unsigned n = 0; budget_text(budget, n, text); n++)
		fprintf(out, "excess=%s\n", text);
}

/* Overwrite the old file in place, which also works on a full disk. */
static int profile_file_overwrite(int directory, const char *text, size_t bytes)
{
	int fd = create_reopen(directory, ".burin/profile"), error = 0;

	if (fd < 0)
		return fd;
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
	print_budget(out, &sampler->images.budget);
	if (perf_by_cpu(&sampler->perf))
		fprintf(out, "by_cpu=%d\n", perf_by_cpu(&sampler->perf));
	if (sampler->perf.by_task[0])
		fprintf(out, "by_task=%s\n", sampler->perf.by_task);
	if (sampler->limit[0])
		fprintf(out, "limit=%s\n", sampler->limit);
	error = fflush(out) != 0 || ferror(out) ? -ENOMEM : 0;
	fclose(out);
	if (!error)
		error = replace_file(sampler->directory, ".burin/profile", text, bytes);
	/*
	 * A new file needs room that a full disk does not have, and the ledger of such a recording matters
	 * most.
	 */
	if (error && error != -ENOMEM && profile_file_overwrite(sampler->directory, text, bytes) == 0)
		error = 0;
	free(text);
	return error;
}
