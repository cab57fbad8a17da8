/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting records in the rings; see buffered_counts.h. */
#include <stdlib.h>

#include "control/buffered_counts.h"
#include "ring/copy.h"
#include "wire/wire_head.h"

/* Count the records of a copied piece, whose bytes may be damaged. */
static void buffered_counts_count_records(const char *packet, const struct ring_piece *piece,
					  uint64_t *buffered, unsigned events)
{
	struct wire_walk walk = { .at = packet + piece->begin, .end = packet + piece->end };

	while (wire_walk_next(&walk))
		if (walk.head.id <= events)
			buffered[walk.head.id]++;
}

uint64_t *buffered_counts_read(struct session *session, unsigned events)
{
	uint64_t *buffered = calloc(events + 1, sizeof(*buffered));
	char *buffer = malloc(session->geometry.packet_bytes);

	for (unsigned n = 0; buffered && buffer && n < session_names_index(session); n++) {
		const struct ring *ring = session_ring_view(session, n);
		struct ring_cursor cursor = { 0 };
		struct ring_piece piece;

		/* At most one lap, since writers may be faster than we are. */
		for (uint32_t packet = 0; ring && packet <= ring->window; packet++) {
			if (ring_copy(ring, &cursor, buffer, &piece) <= 0)
				break;
			buffered_counts_count_records(buffer, &piece, buffered, events);
		}
	}
	free(buffer);
	return buffered;
}
