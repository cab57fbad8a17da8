/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lines; see probe_lines.h. */
#include <errno.h>
#include <stdlib.h>

#include "image/symbolize/symbolize.h"
#include "source/kernel/probes/probe_file.h"
#include "source/kernel/probes/probe_lines.h"

enum {
	READ_MS = 20000,
};

struct search {
	uint32_t line;
	struct probe_lines *out;
	bool full;
};

static void probe_lines_on_place(void *data, uint64_t address, uint32_t line)
{
	struct search *search = data;
	struct probe_lines *out = search->out;

	if (line < search->line)
		out->before = line;
	else if (line > search->line)
		out->behind = line;
	else if (out->count == PROBE_PLACES_MAX)
		search->full = true;
	else
		out->addresses[out->count++] = address;
}

static int probe_lines_on_entry(void *data, const void *bytes, size_t count)
{
	(void)data;
	(void)bytes;
	(void)count;
	return 0;
}

static int probe_lines_compare(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* A child that died may have sent some of them before another one did. */
static void keep_each_once(struct probe_lines *out)
{
	unsigned kept = 0;

	qsort(out->addresses, out->count, sizeof(*out->addresses), probe_lines_compare);
	for (unsigned n = 0; n < out->count; n++)
		if (!kept || out->addresses[kept - 1] != out->addresses[n])
			out->addresses[kept++] = out->addresses[n];
	out->count = kept;
}

int probe_lines_find(const char *path, int file, const char *source, uint32_t line, struct probe_lines *out)
{
	static const uint64_t any = 0;
	struct search search = { line, out, false };
	const struct symbolize_image image = {
		.kind = WIRE_IMAGE_FILE, .number = 1, .path = path, .file = file, .offsets = &any, .count = 1
	};
	const struct symbolize_options options = { .deadline_ms = READ_MS,
						   .data = &search,
						   .entry = probe_lines_on_entry,
						   .source = source,
						   .source_line = line,
						   .place = probe_lines_on_place };
	struct symbolize_counts counts;

	*out = (struct probe_lines){ .addresses = calloc(PROBE_PLACES_MAX, sizeof(*out->addresses)) };
	if (!out->addresses)
		return -ENOMEM;
	symbolize(&image, 1, &options, &counts);
	keep_each_once(out);
	return search.full ? -E2BIG : 0;
}
