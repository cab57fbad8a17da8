/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context of records: fields besides their payload (wire/wire_context.h).
 *
 * The fast path has no context. In a session with a context the switch of every event that is on is WIRE_CONDITIONAL, and
 * the slow path adds the fields.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_RECORD_CONTEXT_H
#define BURIN_SOURCE_TRACEPOINT_RECORD_CONTEXT_H

#include <stddef.h>

#include "burin/burin.h"

/*
 * context_before, context_after - update the depth before and after an event is recorded.
 * Context: any thread, signal handlers.
 */
void context_before(const struct burin_site *site);
void context_after(const struct burin_site *site);

/*
 * context_emit - record a payload with the session's context in front of it.
 * @buffer, @payload_bytes: as for burin_emit(); the buffer is not changed
 * Context: any thread, signal handlers; its copy of the record is on the stack.
 */
void context_emit(struct burin_site *site, const void *buffer, size_t payload_bytes);

#endif
