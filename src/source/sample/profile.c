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
	static const char *const graphs[] = { "none", "fp", "dwarf", "both" };
	const struct perf_choice *event = &perf->event;

	if (event->clock || event->counting)
		fprintf(out, "frequency=%u\n", perf->options.frequency);
	fprintf(out, "call_graph=%s\n", graphs[perf->options.graph]);
	fprintf(out, "unit.sample.%s=%s\n", event->name, event->clock ? "ns" : "events");
	if (!event->counting)
		fprintf(out, "weight.sample.%s=%u\n", event->name,
			event->clock ? 1000000000 / perf->options.frequency : 1);
}

static void print_ledger(FILE *out, const struct sampler *sampler, bool ended)
{
	static const char *const cuts[WIRE_CUTS] = { "complete",   "cut.depth",	 "cut.stack",
						     "cut.tables", "cut.memory", "cut.image" };
	const struct sampler_totals *totals = &sampler->totals;
	uint64_t settled = totals->attributed;

	/* While it is being recorded, more was received, and waits for its turn. */
	for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
		settled += totals->lost[n];
	fprintf(out, "received=%" PRIu64 "\nattributed=%" PRIu64 "\n", ended ? totals->received : settled,
		totals->attributed);
	for (unsigned n = SAMPLE_KEPT + 1; n < SAMPLE_LOSSES; n++)
		fprintf(out, "lost.%s=%" PRIu64 "\n", sampler_loss_name(n), totals->lost[n]);
	fprintf(out, "kernel=%" PRIu64 "\nuser=%" PRIu64 "\n", totals->kernel, totals->user);
	for (unsigned n = 0; n < WIRE_CUTS; n++)
		fprintf(out, "%s=%" PRIu64 "\n", cuts[n], sampler->attribution.cuts[n]);
	fprintf(out,
		"throttled=%" PRIu64 "\ntask_late=%" PRIu64 "\ntask_lost=%" PRIu64
		"\nimage_unreadable=%" PRIu64 "\njit_late=%" PRIu64 "\n",
		totals->throttled, totals->late, totals->side_lost, sampler->images.unreadable,
		sampler->attribution.jit.late);
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
