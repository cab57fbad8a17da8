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

/* check_begin - be ready to check events of this session. Context: once, before events are registered. */
void check_begin(const struct session *session);

/*
 * check_passes - whether an event is to be recorded, as the session has it now.
 * @payload: as it would be recorded
 * Context: any thread, signal handlers; the site is registered.
 */
bool check_passes(const struct burin_site *site, const void *payload, size_t payload_bytes);

#endif
