/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cutting a trace into spans of time with about equally many bytes, so that threads can decode them side by
 * side. Any bounds give the right result; only the balance rests on the packet headers telling the truth.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/trace.h"

enum {
	GRAIN = 1 << 16, /* packets larger than this are spread over their time */
};

/* Some bytes of records at about this time. */
struct point {
	uint64_t time;
	uint32_t bytes;
};

struct points {
	struct point *list;
	size_t count, room;
};

static int add_point(struct points *points, uint64_t time, uint32_t bytes)
{
	if (points->count == points->room) {
		size_t room = points->room ? 2 * points->room : 256;
		struct point *list = reallocarray(points->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		points->list = list;
		points->room = room;
	}
	points->list[points->count++] = (struct point){ time, bytes };
	return 0;
}

static int add_packet(struct points *points, const struct read_packet *packet)
{
	uint32_t parts = packet->content_bytes / GRAIN + 1;
	uint64_t step = (packet->time_end - packet->time_begin) / parts;

	for (uint32_t part = 0; part < parts; part++) {
		if (add_point(points, packet->time_begin + part * step, packet->content_bytes / parts))
			return -ENOMEM;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct point *one = a, *other = b;

	return (one->time > other->time) - (one->time < other->time);
}

static int collect(const struct burin_trace *trace, uint64_t from, uint64_t to, struct points *points)
{
	for (unsigned n = 0; n < trace->stream_count; n++) {
		const struct read_stream *stream = &trace->streams[n];

		for (size_t at = 0; at < stream->packet_count; at++) {
			const struct read_packet *packet = &stream->packets[at];

			if (packet->content_bytes == sizeof(struct wire_packet) || packet->time_end < from ||
			    (to && packet->time_begin >= to))
				continue;
			if (add_packet(points, packet))
				return -ENOMEM;
		}
	}
	return 0;
}

ssize_t read_slices(const struct burin_trace *trace, uint64_t from, uint64_t to, uint64_t bytes,
		    uint64_t **bounds)
{
	struct points points = { .count = 0 };
	uint64_t gathered = 0, last = from;
	ssize_t slices = 1;

	*bounds = NULL;
	if (collect(trace, from, to, &points)) {
		free(points.list);
		return -ENOMEM;
	}
	*bounds = reallocarray(NULL, points.count + 2, sizeof(**bounds));
	if (!*bounds) {
		free(points.list);
		return -ENOMEM;
	}
	if (points.count)
		qsort(points.list, points.count, sizeof(*points.list), by_time);
	(*bounds)[0] = from;
	for (size_t n = 0; n < points.count; n++) {
		const struct point *point = &points.list[n];

		if (gathered >= bytes && point->time > last && (!to || point->time < to)) {
			(*bounds)[slices++] = last = point->time;
			gathered = 0;
		}
		gathered += point->bytes;
	}
	(*bounds)[slices] = to;
	free(points.list);
	return slices;
}
