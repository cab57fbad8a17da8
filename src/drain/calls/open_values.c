/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The arguments of open calls; see open_values.h.
 *
 * The program writes a block's content first and ->start last (call_values_show()), and clears ->start at the
 * call's end. A reader copies in between two loads of it: if both are the start of the frame, the copy is of
 * that call. No lock is needed, and a program that is killed at any moment leaves a block that is either
 * whole or not there.
 *
 * Blocks are found through the segments that hold them, and looked up by the frame that they belong to,
 * (segment, slot). The list is sorted once, so a look-up costs a binary search also with 65,536 open calls.
 *
 * Any process of the user can write the blocks. The lengths are checked on the private copy, then the payload
 * is validated as that of a record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "drain/calls/open_values.h"

enum {
	RESULT_MAX = 9, /* bytes of an empty result */
};

/* The fields of a call, at the begin of a payload (WIRE_CALL_FORMAT). */
struct call_fields {
	uint32_t function, low;
	uint16_t high, depth;
};

static_assert(sizeof(struct call_fields) + WIRE_CALL_VALUES_BYTES + RESULT_MAX <= OPEN_VALUES_MAX,
	      "room for a payload");

static int open_values_compare(const void *one, const void *other)
{
	const struct open_values_block *a = one, *b = other;

	return number_order(a->segment, b->segment) ?: number_order(a->slot, b->slot);
}

static const struct wire_call_values *blocks_of(const struct session *session, uint32_t number)
{
	struct wire_call_segment *segment = session_call_segment_at(session, number);

	/* Acquire: pairs with the release in session/calls/call_stacks.c. */
	return __atomic_load_n(&segment->tid, __ATOMIC_ACQUIRE) && segment->stack == WIRE_CALL_VALUES_STACK
		       ? (const struct wire_call_values *)(segment + 1)
		       : NULL;
}

static void open_values_add(struct open_values *values, const struct wire_call_values *block)
{
	/* Acquire: pairs with the release in call_values_show(). */
	if (!__atomic_load_n(&block->start, __ATOMIC_ACQUIRE))
		return;
	values->list[values->count++] = (struct open_values_block){ block->segment, block->slot, block };
}

int open_values_find(struct open_values *values, const struct session *session)
{
	const uint32_t used = session->calls.header->segments, most = session->geometry.call_segments,
		       segments = used < most ? used : most;
	size_t with = 0;

	*values = (struct open_values){ 0 };
	for (uint32_t number = 1; number <= segments; number++)
		with += blocks_of(session, number) != NULL;
	if (!with)
		return 0;
	values->list = calloc(with * WIRE_CALL_VALUES, sizeof(*values->list));
	if (!values->list)
		return -ENOMEM;
	for (uint32_t number = 1; with && number <= segments; number++) {
		const struct wire_call_values *blocks = blocks_of(session, number);

		for (unsigned n = 0; blocks && n < WIRE_CALL_VALUES; n++)
			open_values_add(values, &blocks[n]);
		with -= blocks != NULL; /* others may have come meanwhile */
	}
	if (values->count)
		qsort(values->list, values->count, sizeof(*values->list), open_values_compare);
	return 0;
}

void open_values_free(struct open_values *values)
{
	free(values->list);
}

static const struct wire_call_values *open_values_find_slot(const struct open_values *values,
							    uint32_t segment, uint32_t slot)
{
	const struct open_values_block wanted = { .segment = segment, .slot = slot };
	const struct open_values_block *found = values->count ? bsearch(&wanted, values->list, values->count,
									sizeof(wanted), open_values_compare)
							      : NULL;

	return found ? found->block : NULL;
}

uint32_t open_values_take(const struct open_values *values, const struct event_table *events,
			  uint32_t segment, uint32_t slot, const struct wire_call_frame *frame,
			  uint32_t depth, uint16_t *event, char payload[OPEN_VALUES_MAX])
{
	const struct wire_call_values *shared = open_values_find_slot(values, segment, slot);
	const struct call_fields fields = { frame->function, (uint32_t)frame->start,
					    (uint16_t)(frame->start >> 32), (uint16_t)depth };
	struct wire_call_values block;
	uint32_t bytes;

	if (!shared)
		return 0;
	memcpy(&block, shared, sizeof(block));
	/*
	 * The copy is finished before the start is loaded again. Otherwise it might have parts of the frame's
	 * next call.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (block.start != frame->start || __atomic_load_n(&shared->start, __ATOMIC_RELAXED) != block.start ||
	    block.bytes > sizeof(block.payload) || block.result_bytes > RESULT_MAX)
		return 0;
	memcpy(payload, &fields, sizeof(fields));
	memcpy(payload + sizeof(fields), block.payload, block.bytes);
	/* The event has a field for the result. The call has not ended, so the field is empty or 0. */
	memset(payload + sizeof(fields) + block.bytes, 0, block.result_bytes);
	bytes = (uint32_t)sizeof(fields) + block.bytes + block.result_bytes;
	*event = block.event;
	return event_table_payload_fits(events, block.event, payload, bytes) && events->calls[block.event - 1]
		       ? bytes
		       : 0;
}
