/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting records in the buffers; see hits.h. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/hits.h"
#include "ring/copy.h"
#include "wire/record.h"

/* Copied bytes of a packet: may be anything. */
static void count_records(const char *packet, const struct ring_piece *piece, uint64_t *hits, unsigned events)
{
	uint32_t at = piece->begin;

	while (piece->end - at >= sizeof(struct wire_compact)) {
		uint32_t id = number_load16(packet + at), length = number_load16(packet + at + 2);

		if (id == WIRE_ID_CLOSED || length < sizeof(struct wire_compact) ||
		    wire_stride(length) > piece->end - at)
			return;
		if (id == WIRE_ID_EXTENDED)
			id = number_load32(packet + at + 4);
		if (id <= events)
			hits[id]++;
		at += wire_stride(length);
	}
}

uint64_t *hits_count(struct session *session, unsigned events)
{
	uint64_t *hits = calloc(events + 1, sizeof(*hits));
	char *buffer = malloc(session->geometry.packet_bytes);

	for (unsigned n = 0; hits && buffer && n < session_names_index(session); n++) {
		const struct ring *ring = session_ring_view(session, n);
		struct ring_cursor cursor = { 0 };
		struct ring_piece piece;

		/* One lap: writers may be faster than we are. */
		for (uint32_t packet = 0; ring && packet <= ring->window; packet++) {
			if (ring_copy(ring, &cursor, buffer, &piece) <= 0)
				break;
			count_records(buffer, &piece, hits, events);
		}
	}
	free(buffer);
	return hits;
}
