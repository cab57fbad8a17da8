/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cuts a trace into spans of time with about equally many bytes, so that threads can decode them in parallel.
 * Any bounds give a correct result; wrong packet headers only spoil the balance.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "read/trace.h"

enum {
	GRAIN = 1 << 16, /* packets larger than this are distributed over their time */
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

static int time_partition_add_point(struct points *points, uint64_t time, uint32_t bytes)
{
	if (!array_reserve(points->list, points->room, points->count + 1))
		return -ENOMEM;
	points->list[points->count++] = (struct point){ time, bytes };
	return 0;
}

static int time_partition_add_packet(struct points *points, const struct read_packet *packet)
{
	uint32_t parts = packet->content_bytes / GRAIN + 1;
	uint64_t step = (packet->time_end - packet->time_begin) / parts;

	for (uint32_t part = 0; part < parts; part++)
		if (time_partition_add_point(points, packet->time_begin + part * step,
					     packet->content_bytes / parts))
			return -ENOMEM;
	return 0;
}

static int time_partition_by_time(const void *a, const void *b)
{
	const struct point *one = a, *other = b;

	return number_order(one->time, other->time);
}

static int time_partition_collect(const struct burin_trace *trace, uint64_t from, uint64_t to,
				  struct points *points)
{
	for (unsigned n = 0; n < trace->stream_count; n++) {
		const struct read_stream *stream = &trace->streams[n];

		for (size_t at = 0; at < stream->packet_count; at++) {
			const struct read_packet *packet = &stream->packets[at];

			if (packet->content_bytes == sizeof(struct wire_packet) || packet->time_end < from ||
			    (to && packet->time_begin >= to))
				continue;
			if (time_partition_add_packet(points, packet))
				return -ENOMEM;
		}
	}
	return 0;
}

/* The bytes of a span. */
static uint64_t time_partition_bytes(const struct points *points, uint64_t least, uint64_t most)
{
	uint64_t sum = 0;

	for (size_t n = 0; n < points->count; n++)
		sum += points->list[n].bytes;
	sum /= READ_SPANS;
	return sum < least ? least : sum > most ? most : sum;
}

ssize_t read_time_partition(const struct burin_trace *trace, uint64_t from, uint64_t to, uint64_t least,
			    uint64_t most, uint64_t **bounds)
{
	struct points points = { .count = 0 };
	uint64_t gathered = 0, last = from, bytes;
	ssize_t spans = 1;

	*bounds = NULL;
	if (time_partition_collect(trace, from, to, &points)) {
		free(points.list);
		return -ENOMEM;
	}
	bytes = time_partition_bytes(&points, least, most);
	*bounds = calloc(points.count + 2, sizeof(**bounds));
	if (!*bounds) {
		free(points.list);
		return -ENOMEM;
	}
	if (points.count)
		qsort(points.list, points.count, sizeof(*points.list), time_partition_by_time);
	(*bounds)[0] = from;
	for (size_t n = 0; n < points.count; n++) {
		const struct point *point = &points.list[n];

		/* Bounds must grow: a span without time would have no records. */
		if (gathered >= bytes && point->time > last && (!to || point->time < to)) {
			(*bounds)[spans++] = last = point->time;
			gathered = 0;
		}
		gathered += point->bytes;
	}
	(*bounds)[spans] = to;
	free(points.list);
	return spans;
}
