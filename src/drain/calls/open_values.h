/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The arguments of open calls, as they lie in a session (struct wire_call_values). */
#ifndef BURIN_DRAIN_CALLS_OPEN_VALUES_H
#define BURIN_DRAIN_CALLS_OPEN_VALUES_H

#include "session/calls/session_calls.h"
#include "writer/event_table.h"

enum {
	OPEN_VALUES_MAX = 1024, /* bytes of a payload */
};

/* Blocks in use, by segment and slot of their frames. */
struct open_values {
	struct open_values_block {
		uint32_t segment, slot;
		const struct wire_call_values *block;
	} * list;
	size_t count;
};

/* open_values_find - find the blocks in use. Return: 0 or -ENOMEM. */
int open_values_find(struct open_values *values, const struct session *session);

void open_values_free(struct open_values *values);

/*
 * open_values_take - the payload that the record of an open call would have, without a result.
 * @segment, @slot: of its frame; @frame: what was read of it
 * @event: receives the id of the record's event
 * Return: bytes; 0: there are no arguments, or they do not fit the event.
 */
uint32_t open_values_take(const struct open_values *values, const struct event_table *events,
			  uint32_t segment, uint32_t slot, const struct wire_call_frame *frame,
			  uint32_t depth, uint16_t *event, char payload[OPEN_VALUES_MAX]);

#endif
