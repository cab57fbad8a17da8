/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of events whose state is conditional (struct wire_condition): a filter over the arguments, every n-th event
 * only, at most so many a second.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_EVENT_FILTER_H
#define BURIN_SOURCE_TRACEPOINT_EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "burin/burin.h"
#include "session/session.h"

/* event_filter_begin - prepare for events of this session. Context: once, before events are registered. Return: false:
 * no memory. */
bool event_filter_begin(const struct session *session);

/*
 * event_filter_emit - emit an event whose state is not WIRE_ON: call the site's callback, check the event's condition, and
 * record it if that holds.
 * @state: WIRE_CONDITIONAL: the session's switch; any other value: the site has a callback
 * @buffer, @payload_bytes: as for burin_emit()
 * Context: any thread, signal handlers.
 */
void event_filter_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes);

#endif
