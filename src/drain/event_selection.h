/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The events that a trace keeps. Other recordings or users may have switched on more events in the same program; a trace
 * keeps only those that its own user asked for.
 */
#ifndef BURIN_DRAIN_EVENT_SELECTION_H
#define BURIN_DRAIN_EVENT_SELECTION_H

#include "drain/validate.h"
#include "ring/copy.h"
#include "writer/trace_output.h"

struct event_selection {
	const char *const *globs; /* NULL: all events are wanted */
	bool *wanted;		  /* by id - 1 */
	uint32_t count;
	size_t room;
	char *records; /* the wanted ones of a packet */
	size_t bytes;
};

/* event_selection_update - match the events that are new in the table. Return: 0 or -ENOMEM. */
int event_selection_update(struct event_selection *selection, const struct event_table *table);

/*
 * event_selection_apply - move the wanted records of a piece to the front of the packet.
 * @packet: of @bytes
 * @context: bytes between a record's header and its payload
 * @base: the packet's time base in the trace; a compact record 2^32 ticks or more behind it becomes an extended one
 * @goes_on: the packet has records in the trace already; if not, @base is set
 * @validated: the valid records of the piece; changed to those that are kept
 * Return: 0 or -ENOMEM.
 */
int event_selection_apply(struct event_selection *selection, char *packet, size_t bytes, uint32_t context,
			  uint64_t *base, bool goes_on, struct validated *validated);

/*
 * event_selection_stream - leave out the records of a piece that are not wanted, on their way into a stream of the trace.
 * @selected: as @validated of event_selection_apply(). Return: 0 or -ENOMEM.
 */
int event_selection_stream(struct event_selection *selection, const struct event_table *table,
			   struct output_stream *out, struct wire_packet *packet,
			   const struct ring_piece *piece, struct validated *selected);

void event_selection_free(struct event_selection *selection);

#endif
