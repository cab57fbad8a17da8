/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One pass over the kernel's rings; see kernel_reader.h.
 *
 * A pass converts the times of a packet in its private copy, before the drain validates it. It remembers for each
 * ring the last time in both clocks: in the kernel's to make whole times of the lower halves that records have, in
 * the trace's to keep the order, since a later pair of clocks may put a record before one that was converted by an
 * earlier pair. Several passes of one ring (names, the drain, a snapshot) have memories of their own: they begin at
 * different packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "source/kernel/kernel_reader.h"
#include "wire/wire_context.h"
#include "wire/wire_head.h"

static void do_nothing(void *context)
{
	(void)context;
}

static void kernel_reader_convert_time(void *context, unsigned ring, struct wire_packet *packet,
				       const struct ring_piece *piece)
{
	kernel_reader_convert(context, ring, packet, piece);
}

int kernel_reader_begin(struct kernel_reader *reader, const struct ring *rings, unsigned count,
			const struct kernel_clock *clock, struct task_names *names, uint32_t context)
{
	*reader = (struct kernel_reader){
		.more = { .rings = rings,
			  .count = count,
			  .round = do_nothing,
			  .translate = kernel_reader_convert_time,
			  .context = reader },
		.clock = clock,
		.names = names,
		.times = calloc(count, sizeof(*reader->times)),
		.head = (uint32_t)sizeof(struct wire_compact) + wire_context_bytes(context),
	};
	return reader->times ? 0 : -ENOMEM;
}

/*
 * The bytes are the kernel's, but they lie in shared memory: each length is checked, and what is not a record is left for
 * validation.
 */
void kernel_reader_convert(struct kernel_reader *reader, unsigned ring, struct wire_packet *packet,
			   const struct ring_piece *piece)
{
	struct kernel_times *times = &reader->times[ring];
	char *bytes = (char *)packet;

	if (piece->begin == sizeof(*packet)) {
		times->ns = packet->time_begin;
		packet->time_begin = kernel_clock_ticks(reader->clock, packet->time_begin);
		if (packet->time_begin < times->ticks)
			packet->time_begin = times->ticks;
		times->ticks = packet->time_begin;
	}
	for (uint32_t at = piece->begin; piece->end - at >= sizeof(struct wire_compact);) {
		const uint16_t id = number_load16(bytes + at), length = number_load16(bytes + at + 2);
		const uint32_t low = number_load32(bytes + at + 4);
		uint64_t ticks;
		uint32_t time;

		if (!id || id > WIRE_ID_MAX || length < reader->head || wire_stride(length) > piece->end - at)
			break;
		times->ns += (uint32_t)(low - (uint32_t)times->ns);
		ticks = kernel_clock_ticks(reader->clock, times->ns);
		if (ticks > times->ticks)
			times->ticks = ticks;
		time = (uint32_t)times->ticks;
		memcpy(bytes + at + 4, &time, sizeof(time));
		if (reader->names)
			task_names_record(reader->names, id, number_load32(bytes + at + 8), times->ticks,
					  bytes + at + reader->head, length - reader->head);
		at += wire_stride(length);
	}
}

void kernel_reader_free(struct kernel_reader *reader)
{
	free(reader->times);
	reader->times = NULL;
}
