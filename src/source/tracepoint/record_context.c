/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context of records; see record_context.h.
 *
 * Depth counts begins and ends whether they are recorded or not: a filter may reject a begin and accept its end, which
 * would make the count wrong. An event that is switched between a begin and its end would make it wrong for ever, so
 * each transaction resets the count.
 */
#include "burin/context.h"
#include "source/tracepoint/commit.h"
#include "source/tracepoint/record_context.h"
#include "source/tracepoint/thread.h"
#include "wire/wire_context.h"

void burin_correlation_set(uint64_t id)
{
	__atomic_store_n(&tracepoint_thread.context.correlation, id, __ATOMIC_RELAXED);
}

uint64_t burin_correlation(void)
{
	return __atomic_load_n(&tracepoint_thread.context.correlation, __ATOMIC_RELAXED);
}

void context_before(const struct burin_site *site)
{
	/* Rounded up: `changes` is odd while a transaction is carried out. */
	const uint32_t change =
		(__atomic_load_n(&tracepoint_session.shared->changes, __ATOMIC_RELAXED) + 1) / 2;

	if (tracepoint_thread.context.change != change) {
		tracepoint_thread.context.change = change;
		tracepoint_thread.context.depth = 0;
	}
	if (site->kind == WIRE_KIND_END && tracepoint_thread.context.depth > 0)
		tracepoint_thread.context.depth--;
}

void context_after(const struct burin_site *site)
{
	if (site->kind == WIRE_KIND_BEGIN)
		tracepoint_thread.context.depth++;
}

/*
 * Combine fields and payload, from the word in whose middle they begin. All loads and stores are whole words: a load that
 * spans two recent stores would wait for both.
 */
static inline void put_together(uint64_t *to, const uint64_t *from, size_t payload_bytes, uint32_t context)
{
	const uint64_t *const last = from + (WIRE_HEADROOM % 8 + payload_bytes - 1) / 8;
	const uint64_t id = tracepoint_thread.context.correlation, depth = tracepoint_thread.context.depth;

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
	const uint32_t context = tracepoint_session.geometry.context, bytes = wire_context_bytes(context);
	uint64_t *copy;

	if (!buffer || payload_bytes > tracepoint_session.rings[0].record_max) {
		commit_slow(site, NULL, payload_bytes + bytes);
		return;
	}
	copy = __builtin_alloca((WIRE_HEADROOM + bytes + payload_bytes) / 8 * 8 + 16);
	put_together(copy + WIRE_HEADROOM / 8, (const uint64_t *)buffer + WIRE_HEADROOM / 8, payload_bytes,
		     context);
	commit_record(site, copy, payload_bytes + bytes);
}
