/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context of records: what a session may want of them besides their payload (wire/context.h).
 *
 * The straight way knows nothing of it. Where a session wants it, every event that is on is "checked", and the
 * fields are put in on the slow path.
 */
#ifndef BURIN_SOURCE_USER_CONTEXT_H
#define BURIN_SOURCE_USER_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "burin/burin.h"

/* What a thread remembers for it. */
struct user_context {
	uint64_t correlation; /* burin_correlation_set() */
	uint32_t depth;	      /* spans that are open, of those that began since ... */
	uint32_t change;      /* ... this change of the switches */
};

extern __thread struct user_context user_context __attribute__((tls_model("initial-exec")));

/*
 * context_before, context_after - a begin or an end of a span is passed that is on; between the two it is recorded.
 * Context: any thread, signal handlers.
 */
void context_before(const struct burin_site *site);
void context_after(const struct burin_site *site);

/*
 * context_emit - record a payload with the session's context in front of it.
 * @buffer, @payload_bytes: as for burin_emit(); the buffer is left alone
 * Context: any thread, signal handlers; takes as much of the stack as the record is long.
 */
void context_emit(struct burin_site *site, const void *buffer, size_t payload_bytes);

#endif
