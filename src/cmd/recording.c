/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The end of a recording; see recording.h. */
#include <stdio.h>

#include "base/text.h"
#include "cmd/recording.h"

static void print_losses(const struct drain_totals *totals)
{
	static const char *const causes[WIRE_LOST_CAUSES] = {
		[WIRE_LOST_FULL] = "buffer full (try --buffer with more)",
		[WIRE_LOST_BUSY] = "all rings locked",
		[WIRE_LOST_SIZE] = "too large (try --packet with more)",
		[WIRE_LOST_OVERWRITTEN] = "overwritten",
		[WIRE_LOST_CORRUPT] = "damaged in memory",
		[WIRE_LOST_UNREAD] = "not written to disk",
	};
	uint64_t sum = totals->lost_late + totals->lost_names;
	char text[TEXT_SHORT];
	const char *between = ": ";

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += totals->lost[cause];
	fprintf(stderr, ", lost %s", text_count(text, sum));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		if (!totals->lost[cause])
			continue;
		fprintf(stderr, "%s%s %s", between, text_count(text, totals->lost[cause]), causes[cause]);
		between = ", ";
	}
	if (totals->lost_late)
		fprintf(stderr, "%s%s after the end", between, text_count(text, totals->lost_late));
	if (totals->lost_names)
		fprintf(stderr, "%s%s names", totals->lost_late ? ", " : between,
			text_count(text, totals->lost_names));
	fputc('\n', stderr);
}

void recording_summary(const struct drain_totals *totals, const char *output, bool joined)
{
	char events[TEXT_SHORT], size[TEXT_SHORT];

	fprintf(stderr, "burin: %s event%s on %u CPU%s, %s in %s", text_count(events, totals->events),
		totals->events == 1 ? "" : "s", totals->cpus, totals->cpus == 1 ? "" : "s",
		text_size(size, totals->bytes), output);
	print_losses(totals);
	if (!joined)
		fprintf(stderr, "burin: no process with tracepoints ran; they come with <burin/burin.h>, see "
				"burin(3)\n");
}
