/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Callbacks: functions of the program that are called when a tracepoint is reached.
 *
 * They add nothing to the fast path. The site's state pointer is set to a private byte, WIRE_CALLED. The slow path calls
 * the function, and then reads the session's switch to decide whether the event is recorded as well.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_CALLBACK_H
#define BURIN_SOURCE_TRACEPOINT_CALLBACK_H

#include <stddef.h>

#include "burin/burin.h"

/*
 * callback_call - call the site's callback, if it has one.
 * @payload: as it would be recorded
 * Context: any thread, signal handlers.
 */
void callback_call(struct burin_site *site, const void *payload, size_t payload_bytes);

/* callback_attach - set the callback of a newly registered site, if its name has one. */
void callback_attach(struct burin_site *site, const unsigned char *session_switch);

#endif
