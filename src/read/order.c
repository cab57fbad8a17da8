/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The order of a ring's packets: sequence numbers grow, and no packet begins before the previous one. Merging by
 * time and binary search need this order, and no record may be read twice. If two neighbours are out of order, one
 * of them is wrong, and it must not make all later packets wrong. The packet after the two decides: the one that it
 * agrees with is right.
 */
#include "read/trace.h"

enum key {
	KEY_SEQUENCE,
	KEY_TIME,
};

static uint32_t order_chunk_of(const struct read_stream *stream, const struct read_packet *packet)
{
	return stream->files[packet->file].chunk;
}

/* When the packet's own records begin. */
static uint64_t order_begins(const struct read_packet *packet)
{
	return packet->from > packet->time_begin ? packet->from : packet->time_begin;
}

/* Chunks count their packets anew. They are in the order of their numbers. */
static bool in_order(const struct read_stream *stream, const struct read_packet *one,
		     const struct read_packet *next, enum key key)
{
	if (key == KEY_SEQUENCE)
		return one->sequence < next->sequence ||
		       order_chunk_of(stream, one) != order_chunk_of(stream, next);
	return order_begins(one) <= order_begins(next);
}

static void order_drop(struct burin_trace *trace, struct read_stream *stream,
		       const struct read_packet *packet, enum key key)
{
	read_fault(trace, key == KEY_TIME ? BURIN_FAULT_TIME : BURIN_FAULT_ORDER,
		   stream->files[packet->file].name, packet->offset,
		   key == KEY_TIME ? "timestamp_begin %llu is out of order; the packet was skipped"
				   : "packet_seq_num %llu is out of order; the packet was skipped",
		   (unsigned long long)(key == KEY_TIME ? packet->time_begin : packet->sequence));
	read_skip_packets(trace, 1);
	stream->ring.skipped++;
}

static void drop_disordered(struct burin_trace *trace, struct read_stream *stream, enum key key)
{
	struct read_packet *packets = stream->packets;
	size_t kept = 0;

	for (size_t n = 0; n < stream->packet_count; n++) {
		struct read_packet *packet = &packets[n];
		const struct read_packet *after = n + 1 < stream->packet_count ? packet + 1 : NULL;

		if (kept && !in_order(stream, &packets[kept - 1], packet, key)) {
			const struct read_packet *last = &packets[kept - 1];
			bool last_wrong = after && !in_order(stream, last, after, key) &&
					  in_order(stream, packet, after, key) &&
					  (kept < 2 || in_order(stream, &packets[kept - 2], packet, key));

			if (!last_wrong) {
				order_drop(trace, stream, packet, key);
				continue;
			}
			order_drop(trace, stream, last, key);
			kept--;
		}
		packets[kept++] = *packet;
	}
	stream->packet_count = kept;
}

/*
 * A chunk begins with names of earlier ones, and a recovered one with earlier changes. Those not later than the last
 * record of the chunk before are the same again; later ones come from a chunk that is missing.
 */
static void drop_repeated(const struct burin_trace *trace, struct read_stream *stream)
{
	uint64_t last = 0, until = 0; /* times: the last record so far; the last of the chunks before */
	size_t kept = 0;

	for (size_t n = 0; n < stream->packet_count; n++) {
		struct read_packet *packet = &stream->packets[n];
		const struct read_chunk *chunk = &trace->chunks[order_chunk_of(stream, packet)];

		if (kept &&
		    order_chunk_of(stream, &stream->packets[kept - 1]) != order_chunk_of(stream, packet))
			until = last;
		if (until && packet->time_begin <= until && packet->time_end > until)
			packet->from = until + 1;
		else if (until && packet->time_end <= until && packet->sequence < chunk->own_names)
			continue;
		if (packet->time_end > last)
			last = packet->time_end;
		stream->packets[kept++] = *packet;
	}
	stream->packet_count = kept;
}

void read_stream_order(struct burin_trace *trace, struct read_stream *stream)
{
	if (stream->stream_id && trace->chunk_count > 1)
		drop_repeated(trace, stream);
	drop_disordered(trace, stream, KEY_SEQUENCE);
	drop_disordered(trace, stream, KEY_TIME);

	/* A packet must not end later than the next one begins. */
	for (size_t n = 0; n + 1 < stream->packet_count; n++) {
		struct read_packet *packet = &stream->packets[n], *next = packet + 1;

		if (packet->time_end <= order_begins(next))
			continue;
		/* A ring's last losses are counted behind its records, at about the time of the split. */
		if (packet->content_bytes == sizeof(struct wire_packet) &&
		    order_chunk_of(stream, packet) != order_chunk_of(stream, next)) {
			packet->time_end = order_begins(next);
			continue;
		}
		read_fault(trace, BURIN_FAULT_TIME, stream->files[packet->file].name, packet->offset,
			   "timestamp_end %llu is later than the next packet's beginning, %llu",
			   (unsigned long long)packet->time_end, (unsigned long long)order_begins(next));
		packet->time_end = order_begins(next);
	}
}
