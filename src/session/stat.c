/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting in a session; see stat.h. */
#include "session/stat.h"

enum {
	STAT_TRIES = 100, /* each failure means that a lap has passed meanwhile, or that somebody scribbles */
};

void ring_state_read(struct session *session, unsigned index, struct ring_state *state)
{
	const struct ring *ring = session_ring_view(session, index);
	uint64_t tail, position, inside;
	const struct wire_packet *packet;

	*state = (struct ring_state){ .used = ring != NULL };
	if (!ring)
		return;
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		state->lost[cause] = __atomic_load_n(&ring->control->lost[cause], __ATOMIC_RELAXED);
	state->clock_steps = __atomic_load_n(&ring->control->clock_steps, __ATOMIC_RELAXED);
	state->packets = ring->packets;
	for (unsigned tries = 0; tries < STAT_TRIES; tries++) {
		/* Acquire pairs with the store of the tail in every section. */
		tail = __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
		if (tail == 0)
			return;
		position = tail >> WIRE_TAIL_COUNT_BITS;
		inside = position & ring->packet_mask;
		position -= inside ? inside : ring->packet_words;
		packet = (const struct wire_packet *)(ring->slots + (position & ring->word_mask) * 8);
		state->written = packet->events_before + (tail & WIRE_TAIL_COUNT_MASK);
		state->packets_used = packet->sequence >= ring->packets - 1 ? ring->packets
									    : (uint32_t)packet->sequence + 1;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* The packet may have been written over meanwhile; then the tail has moved on far. */
		if ((__atomic_load_n(&ring->control->tail, __ATOMIC_RELAXED) >> WIRE_TAIL_COUNT_BITS) -
			    position <
		    2 * ring->packet_words)
			return;
	}
}

void session_stat_read(struct session *session, struct session_stat *stat)
{
	const unsigned names = session_names_index(session);
	const uint32_t count = session_event_count(session);

	*stat = (struct session_stat){ 0 };
	for (unsigned n = 0; n < session->ring_count; n++) {
		struct ring_state ring;

		ring_state_read(session, n, &ring);
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
		if (session->wants[n] != WIRE_CHECKED)
			continue;
		stat->sampled_out += __atomic_load_n(&session->checks[n].sampled_out, __ATOMIC_RELAXED);
		stat->limited += __atomic_load_n(&session->checks[n].limited, __ATOMIC_RELAXED);
	}
}
