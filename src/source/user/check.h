/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks: what a tracepoint asks before it records an event whose switch says so (struct wire_check): a filter
 * over its arguments, every n-th only, so many a second.
 */
#ifndef BURIN_SOURCE_USER_CHECK_H
#define BURIN_SOURCE_USER_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "burin/burin.h"
#include "session/session.h"

/* check_begin - be ready to check events of this session. Context: once, before events are registered. Return:
 * false: no memory. */
bool check_begin(const struct session *session);

/*
 * check_emit - a tracepoint whose switch says "checked" is passed: call the site's callback, ask the session, and
 * record the event if it is to be.
 * @state: what the switch said: WIRE_CHECKED, the session's; anything else, a callback's
 * @buffer, @payload_bytes: as for burin_emit()
 * Context: any thread, signal handlers.
 */
void check_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes);

#endif
