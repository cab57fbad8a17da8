/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The packets of a ring in order: sequence numbers grow, and no packet begins before the one before it.
 * Merging by time and binary search stand on that, and no record may be read twice. Where two neighbours
 * disagree, one of them lies, and a packet whose number or time was damaged must not take all that follow it
 * along: the packet after the two decides with which of them it agrees.
 */
#include "read/trace.h"

enum key {
	KEY_SEQUENCE,
	KEY_TIME,
};

static bool in_order(const struct read_packet *one, const struct read_packet *next, enum key key)
{
	if (key == KEY_SEQUENCE)
		return one->sequence < next->sequence;
	return one->time_begin <= next->time_begin;
}

static void drop(struct burin_trace *trace, struct read_stream *stream, const struct read_packet *packet,
		 enum key key)
{
	read_fault(trace, key == KEY_TIME ? BURIN_FAULT_TIME : BURIN_FAULT_ORDER,
		   stream->files[packet->file].name, packet->offset,
		   key == KEY_TIME ? "timestamp_begin %llu is out of order; the packet was passed over"
				   : "packet_seq_num %llu is out of order; the packet was passed over",
		   (unsigned long long)(key == KEY_TIME ? packet->time_begin : packet->sequence));
	read_skip_packets(trace, 1);
	stream->ring.skipped++;
}

static void sort_out(struct burin_trace *trace, struct read_stream *stream, enum key key)
{
	struct read_packet *packets = stream->packets;
	size_t kept = 0;

	for (size_t n = 0; n < stream->packet_count; n++) {
		struct read_packet *packet = &packets[n];
		const struct read_packet *after = n + 1 < stream->packet_count ? packet + 1 : NULL;

		if (kept && !in_order(&packets[kept - 1], packet, key)) {
			const struct read_packet *last = &packets[kept - 1];
			bool last_lies = after && !in_order(last, after, key) &&
					 in_order(packet, after, key) &&
					 (kept < 2 || in_order(&packets[kept - 2], packet, key));

			if (!last_lies) {
				drop(trace, stream, packet, key);
				continue;
			}
			drop(trace, stream, last, key);
			kept--;
		}
		packets[kept++] = *packet;
	}
	stream->packet_count = kept;
}

void read_stream_order(struct burin_trace *trace, struct read_stream *stream)
{
	sort_out(trace, stream, KEY_SEQUENCE);
	sort_out(trace, stream, KEY_TIME);

	/* A packet's records may not be later than the next packet's first. */
	for (size_t n = 0; n + 1 < stream->packet_count; n++) {
		struct read_packet *packet = &stream->packets[n], *next = packet + 1;

		if (packet->time_end <= next->time_begin)
			continue;
		read_fault(trace, BURIN_FAULT_TIME, stream->files[packet->file].name, packet->offset,
			   "timestamp_end %llu is later than the next packet's beginning, %llu",
			   (unsigned long long)packet->time_end, (unsigned long long)next->time_begin);
		packet->time_end = next->time_begin;
	}
}
