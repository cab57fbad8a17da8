/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context of records; see context.h.
 *
 * Depth counts what passes, recorded or not: a filter that leaves out a begin leaves its end in, and so the count
 * would not come out even. What is switched on or off between a begin and its end would leave it wrong for good:
 * hence each change of the switches lets it begin anew.
 */
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
 * Puts fields and payload together, from the word on in the middle of which they begin. Whole words are loaded and
 * stored: a load that spans two stores has to wait for both.
 */
static inline void put_together(uint64_t *to, const uint64_t *from, size_t payload_bytes, uint32_t context)
{
	const uint64_t *const last = from + (WIRE_HEADROOM % 8 + payload_bytes - 1) / 8;
	const uint64_t id = user_context.correlation, depth = user_context.depth;

	if (context == WIRE_CONTEXT_CORRELATION) {
		*to++ = id << 32;
		*to++ = id >> 32 | (*from & ~(uint64_t)UINT32_MAX);
		while (from < last)
			*to++ = *++from;
		return;
	}
	if (context & WIRE_CONTEXT_CORRELATION) {
		*to++ = id << 32;
		*to++ = id >> 32 | depth << 32;
	} else {
		*to++ = depth << 32;
	}
	for (; from < last; from++)
		*to++ = from[0] >> 32 | from[1] << 32;
	*to = *from >> 32;
}

void context_emit(struct burin_site *site, const void *buffer, size_t payload_bytes)
{
	const uint32_t context = user_session.geometry.context, bytes = wire_context_bytes(context);
	uint64_t *copy;

	if (!buffer || payload_bytes > user_session.rings[0].record_max) {
		burin_emit(site, WIRE_ON, NULL, payload_bytes + bytes);
		return;
	}
	copy = __builtin_alloca((WIRE_HEADROOM + bytes + payload_bytes) / 8 * 8 + 16);
	put_together(copy + WIRE_HEADROOM / 8, (const uint64_t *)buffer + WIRE_HEADROOM / 8, payload_bytes,
		     context);
	burin_emit(site, WIRE_ON, copy, payload_bytes + bytes);
}
