/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context of records; see context.h.
 *
 * Depth counts what passes, recorded or not: a filter that leaves out a begin leaves its end in, and so the count
 * would not come out even. What is switched on or off between a begin and its end would leave it wrong for good:
 * hence each change of the switches lets it begin anew.
 */
#include <string.h>

#include "burin/context.h"
#include "source/user/context.h"
#include "source/user/thread.h"
#include "wire/context.h"

__thread struct user_context user_context;

void burin_correlation_set(uint64_t id)
{
	__atomic_store_n(&user_context.correlation, id, __ATOMIC_RELAXED);
}

uint64_t burin_correlation(void)
{
	return __atomic_load_n(&user_context.correlation, __ATOMIC_RELAXED);
}

void context_before(const struct burin_site *site)
{
	/* Odd while it is carried out. */
	const uint32_t change = (__atomic_load_n(&user_session.shared->changes, __ATOMIC_RELAXED) + 1) / 2;

	if (user_context.change != change) {
		user_context.change = change;
		user_context.depth = 0;
	}
	if (site->kind == WIRE_KIND_END && user_context.depth > 0)
		user_context.depth--;
}

void context_after(const struct burin_site *site)
{
	if (site->kind == WIRE_KIND_BEGIN)
		user_context.depth++;
}

/*
 * The payload's words, moved back by the context. Both begin in the middle of a word or at its beginning; words are
 * loaded as they were stored, since a load that spans two stores has to wait for both.
 */
static void move(uint64_t *to, const uint64_t *from, size_t payload_bytes, uint32_t context_bytes)
{
	const size_t last = (WIRE_HEADROOM + payload_bytes - 1) / 8; /* the buffer's last word */
	size_t at = WIRE_HEADROOM / 8, place = (WIRE_HEADROOM + context_bytes) / 8;

	if (context_bytes % 8 == 0) {
		to[place] |= from[at] & ~(uint64_t)UINT32_MAX;
		while (at < last)
			to[++place] = from[++at];
		return;
	}
	for (; at <= last; at++)
		to[place++] = from[at] >> 32 | (at < last ? from[at + 1] << 32 : 0);
}

void context_emit(struct burin_site *site, const void *buffer, size_t payload_bytes)
{
	const uint32_t context = user_session.geometry.context, bytes = wire_context_bytes(context);
	const size_t words = (WIRE_HEADROOM + bytes + payload_bytes) / 8 + 2;
	uint64_t *copy;
	char *at;

	if (!buffer || payload_bytes > user_session.rings[0].record_max) {
		burin_emit(site, WIRE_ON, NULL, payload_bytes + bytes);
		return;
	}
	copy = __builtin_alloca(words * sizeof(*copy));
	at = (char *)copy + WIRE_HEADROOM;
	memset(at, 0, 16); /* what follows the context in its last word is zero */
	if (context & WIRE_CONTEXT_CORRELATION)
		at = (char *)memcpy(at, &user_context.correlation, 8) + 8;
	if (context & WIRE_CONTEXT_DEPTH)
		memcpy(at, &user_context.depth, 4);
	move(copy, buffer, payload_bytes, bytes);
	burin_emit(site, WIRE_ON, copy, payload_bytes + bytes);
}
