/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The last steps of a record; see kernel_sink.h.
 *
 * Tracefs and perf events have no programs: their records are converted, filtered and appended here, by the recorder,
 * to rings of the same form. So the drain does not know by which mechanism a record came. The filter is the one that
 * a program would have run; it sees the payload as it will be recorded.
 *
 * The number of a tracepoint has 16 bits in its record, so by_type[] needs no bound but its size.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "filter/filter.h"
#include "source/kernel/programs/kernel_append.h"
#include "source/kernel/programs/kernel_raw.h"
#include "source/kernel/programs/kernel_sink.h"

enum {
	TYPES = 1 << 16, /* a tracepoint's number has 16 bits in its records */
};

int kernel_sink_open(struct kernel_sink *sink, const struct kernel_points *points,
		     const struct kernel_layout *layout, char *rings)
{
	sink->points = points;
	sink->layout = layout;
	sink->rings = rings;
	sink->by_type = calloc(TYPES, sizeof(*sink->by_type));
	if (!sink->by_type)
		return -ENOMEM;
	for (size_t n = 0; n < points->count; n++)
		if (points->points[n].id < TYPES)
			sink->by_type[points->points[n].id] = (uint16_t)(n + 1);
	return 0;
}

size_t kernel_sink_point(const struct kernel_sink *sink, const char *raw, unsigned bytes)
{
	return bytes < sizeof(uint16_t) ? 0 : sink->by_type[number_load16(raw)];
}

static struct kernel_ring *ring_of(const struct kernel_sink *sink, unsigned cpu)
{
	return (struct kernel_ring *)(sink->rings +
				      (size_t)cpu * KERNEL_DEPTHS * kernel_ring_bytes(sink->layout->window));
}

bool kernel_sink_put(const struct kernel_sink *sink, size_t number, const struct kernel_sink_record *record)
{
	char payload[KERNEL_PAYLOAD_MAX];
	const struct filter_subject subject = { .pid = record->pid, .tid = record->tid, .cpu = record->cpu };
	const struct wire_filter *filter = kernel_points_filter(sink->points, number - 1);
	const struct kernel_record converted = {
		.id = sink->points->ids[number - 1],
		.tid = record->tid,
		.ns = record->ns,
		.payload = payload,
		.bytes = kernel_raw_convert(&sink->points->points[number - 1], record->raw, record->bytes,
					    payload),
	};

	if (filter && !filter_passes(filter, payload, converted.bytes, &subject))
		return true;
	return kernel_append(ring_of(sink, record->cpu), sink->layout, &converted);
}

void kernel_sink_lost(const struct kernel_sink *sink, unsigned cpu, uint64_t records)
{
	__atomic_fetch_add(&ring_of(sink, cpu)->control.lost[WIRE_LOST_FULL], records, __ATOMIC_RELAXED);
}

void kernel_sink_close(struct kernel_sink *sink)
{
	free(sink->by_type);
	sink->by_type = NULL;
}
