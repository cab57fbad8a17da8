/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Gaps in the kernel's rings; see blame_lost.h.
 *
 * A packet's header counts what its ring had lost when the recorder read it. So a packet with a larger count than the one before it shows
 * that records are missing somewhere between the ends of both.
 */
#include "view/blame/blame_lost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "read/trace.h"
#include "view/sched/sched_read.h"

static const char kernel_ring[] = "kernel";

static bool has_lost_more(const struct read_packet *packet, const struct read_packet *before)
{
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		if (packet->lost[cause] > before->lost[cause])
			return true;
	return false;
}

static int find_gaps(struct blame_lost *lost, const struct burin_trace *trace,
		     const struct read_stream *stream)
{
	static const struct read_packet none;
	const struct read_packet *before = &none;

	for (size_t n = 0; n < stream->packet_count; n++) {
		const struct read_packet *packet = &stream->packets[n];

		/* Each chunk of a split recording counts from 0. */
		if (n && stream->files[packet->file].chunk != stream->files[before->file].chunk)
			before = &none;
		if (has_lost_more(packet, before)) {
			if (!array_reserve(lost->gaps, lost->room, lost->count + 1))
				return -ENOMEM;
			lost->gaps[lost->count++] =
				(struct blame_gap){ n ? sched_read_ns(trace, stream->packets[n - 1].time_end)
						      : 0,
						    sched_read_ns(trace, packet->time_end) };
		}
		before = packet;
	}
	return 0;
}

static int gap_by_begin(const void *a, const void *b)
{
	const struct blame_gap *one = a, *other = b;

	return number_order(one->begin, other->begin);
}

static void join_gaps(struct blame_lost *lost)
{
	size_t kept = 0;

	if (!lost->count)
		return;
	qsort(lost->gaps, lost->count, sizeof(*lost->gaps), gap_by_begin);
	for (size_t n = 1; n < lost->count; n++) {
		struct blame_gap *last = &lost->gaps[kept];

		if (lost->gaps[n].begin > last->end)
			lost->gaps[++kept] = lost->gaps[n];
		else if (lost->gaps[n].end > last->end)
			last->end = lost->gaps[n].end;
	}
	lost->count = kept + 1;
}

int blame_lost_make(struct blame_lost *lost, const struct burin_trace *trace)
{
	int error = 0;

	*lost = (struct blame_lost){ .gaps = NULL };
	for (unsigned n = 0; n < trace->stream_count && !error; n++)
		if (!strncmp(trace->streams[n].ring.name, kernel_ring, sizeof(kernel_ring) - 1))
			error = find_gaps(lost, trace, &trace->streams[n]);
	join_gaps(lost);
	return error;
}

const struct blame_gap *blame_lost_next(const struct blame_lost *lost, uint64_t time)
{
	size_t low = 0, high = lost->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (lost->gaps[middle].end > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low < lost->count ? &lost->gaps[low] : NULL;
}

void blame_lost_free(struct blame_lost *lost)
{
	free(lost->gaps);
	*lost = (struct blame_lost){ .gaps = NULL };
}
