/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The events that a trace keeps; see event_selection.h.
 *
 * A record that is left out may be one that others depend on, in three ways:
 *
 *	its time	a compact record has 32 bits of its time, from the packet's begin or the last extended
 *			record on. Without that one, the next that is kept may be too far away: it becomes
 *			an extended one
 *	its packet	a packet of which nothing is kept is not written. Readers take a gap in the sequence
 *			numbers for a loss, so the numbers of later packets move back
 *	its count	it is neither in the trace nor lost: drain_sink_trace() moves the origin's count
 *
 * Names of events are matched once each; a record then costs a look-up and a copy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/glob.h"
#include "drain/event_selection.h"
#include "wire/wire_head.h"

static bool event_selection_matches(const struct event_selection *selection, const char *name)
{
	for (const char *const *glob = selection->globs; *glob; glob++)
		if (glob_match(*glob, name))
			return true;
	return false;
}

int event_selection_update(struct event_selection *selection, const struct event_table *table)
{
	if (!array_reserve(selection->wanted, selection->room, table->count))
		return -ENOMEM;
	for (; selection->count < table->count; selection->count++)
		selection->wanted[selection->count] = event_selection_matches(
			selection, table_text(table, table->entries[selection->count].name));
	return 0;
}

/* Copy a record. @in_full: in extended form, since the record with its time base was left out. Return: its length. */
static uint32_t event_selection_copy(char *out, const char *at, const struct wire_head *record, bool in_full)
{
	const uint32_t header = (uint32_t)sizeof(struct wire_compact);
	const struct wire_extended extended = wire_head_extend(record);

	if (!in_full) {
		memcpy(out, at, wire_stride(record->length));
		return record->length;
	}
	memcpy(out, &extended, sizeof(extended));
	memcpy(out + sizeof(extended), at + header, wire_stride(record->length) - header);
	return extended.length;
}

int event_selection_apply(struct event_selection *selection, char *packet, size_t bytes, uint32_t context,
			  uint64_t *base, bool goes_on, struct validated *validated)
{
	struct validated kept = *validated;
	struct wire_walk walk = {
		packet + validated->begin, packet + validated->content, context, { .time = validated->first }
	};
	const struct wire_head *record = &walk.head;
	const char *at;
	uint32_t used = 0;

	if (selection->bytes < bytes + WIRE_ALIGN) {
		free(selection->records);
		selection->bytes = bytes + WIRE_ALIGN;
		selection->records = malloc(selection->bytes);
		if (!selection->records) {
			selection->bytes = 0;
			return -ENOMEM;
		}
	}
	kept.count = 0;
	while ((at = wire_walk_next(&walk))) {
		const uint64_t time = record->time;
		bool in_full;

		if (!selection->wanted[record->id - 1])
			continue;
		if (kept.count++ == 0)
			kept.first = time;
		if (record->extended || (!goes_on && kept.count == 1))
			*base = time;
		/* The bound of 2^32 ticks is that of validate.c. */
		in_full = time - *base >= UINT64_C(1) << 32;
		if (in_full)
			*base = time;
		kept.time = time;
		kept.content = used + event_selection_copy(selection->records + used, at, record, in_full);
		used = wire_stride(kept.content);
	}
	/* An extended record is eight bytes longer. There is room: a record that moved the base was left out before it. */
	memcpy(packet + sizeof(struct wire_packet), selection->records, used);
	kept.begin = (uint32_t)sizeof(struct wire_packet);
	kept.content += kept.begin;
	*validated = kept;
	return 0;
}

/* Packets without a selected record must leave no gap in the trace's sequence numbers. */
static void count_packets(struct output_stream *out, const struct ring_piece *piece, bool goes_on, bool keeps)
{
	if (out->examined && out->examined_packet != piece->sequence && !out->examined_kept)
		out->left_out++;
	if (!out->examined || out->examined_packet != piece->sequence)
		out->examined_kept = false;
	out->examined = true;
	out->examined_packet = piece->sequence;
	out->examined_kept |= keeps;
	if (goes_on || !keeps)
		return;
	/*
	 * This is the distance between the numbers of the ring and of the stream. It may wrap, and sums are
	 * right all the same.
	 */
	out->origin.statedump -= out->left_out;
	out->left_out = 0;
}

int event_selection_stream(struct event_selection *selection, const struct event_table *table,
			   struct output_stream *out, struct wire_packet *packet,
			   const struct ring_piece *piece, struct validated *selected)
{
	const bool goes_on = out->begun && out->sequence == piece->sequence;
	int error = event_selection_update(selection, table);

	if (!error)
		error = event_selection_apply(selection, (char *)packet, out->ring->packet_words * 8,
					      table->context_bytes, &out->base, goes_on, selected);
	count_packets(out, piece, goes_on, selected->count != 0);
	return error;
}

void event_selection_free(struct event_selection *selection)
{
	free(selection->wanted);
	free(selection->records);
	*selection = (struct event_selection){ .globs = NULL };
}
