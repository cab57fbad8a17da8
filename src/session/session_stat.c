/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The counters of a session; see session_stat.h. */
#include "ring/copy.h"
#include "session/session_stat.h"

enum {
	STAT_TRIES = 100, /* each failure means that writers moved on, or that the memory is corrupt */
};

/* One ring's state. */
struct ring_state {
	uint64_t written; /* records since the ring was made */
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t clock_steps;
	uint32_t packets_used; /* of those that the ring has */
	uint32_t packets;
	bool used;
};

static void session_stat_read_ring(struct session *session, unsigned index, struct ring_state *state)
{
	const struct ring *ring = session_ring_view(session, index);
	struct ring_look look = { .empty = true };

	*state = (struct ring_state){ .used = ring != NULL };
	if (!ring)
		return;
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		state->lost[cause] = __atomic_load_n(&ring->control->lost[cause], __ATOMIC_RELAXED);
	state->clock_steps = __atomic_load_n(&ring->control->clock_steps, __ATOMIC_RELAXED);
	state->packets = ring_size(ring);
	for (unsigned tries = 0; tries < STAT_TRIES && !ring_look(ring, &look); tries++)
		continue;
	if (look.empty)
		return;
	state->written = look.events_before + look.count;
	state->packets_used = ring_present(ring, &look);
}

void session_stat_read(struct session *session, struct session_stat *stat)
{
	const unsigned names = session_names_index(session);
	const uint32_t count = session_event_count(session);

	*stat = (struct session_stat){ 0 };
	for (unsigned n = 0; n < session->ring_count; n++) {
		struct ring_state ring;

		session_stat_read_ring(session, n, &ring);
		if (n == names) {
			stat->names_written = ring.written;
			stat->names_lost = ring.lost[WIRE_LOST_FULL];
			continue;
		}
		stat->written += ring.written;
		stat->clock_steps += ring.clock_steps;
		for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
			stat->lost[cause] += ring.lost[cause];
		stat->rings += ring.used;
		stat->used_bytes += (uint64_t)ring.packets_used * session->geometry.packet_bytes;
		stat->room_bytes += ring.used ? (uint64_t)ring.packets * session->geometry.packet_bytes : 0;
	}
	for (uint32_t n = 0; n < count; n++) {
		if (session->desired[n] != WIRE_CONDITIONAL)
			continue;
		stat->sampled_out += __atomic_load_n(&session->conditions[n].sampled_out, __ATOMIC_RELAXED);
		stat->limited += __atomic_load_n(&session->conditions[n].limited, __ATOMIC_RELAXED);
	}
}
