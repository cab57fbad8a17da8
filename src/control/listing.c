/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Looking at a session; see listing.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "control/listing.h"
#include "wire/filter.h"

enum {
	LISTING_TRIES = 100,
	LISTING_STRING_MAX = WIRE_FORMAT_MAX,
};

/* Appends a string of the session to the listing's text; the text has room for it. */
static const char *keep(struct listing *listing, size_t *used, const char *string)
{
	size_t bytes = strnlen(string, LISTING_STRING_MAX);
	char *at = listing->text + *used;

	memcpy(at, string, bytes);
	at[bytes] = 0;
	*used += bytes + 1;
	return at;
}

/* The expression lies behind the program that it became; both are others' memory. */
static const char *filter_text(const struct session *session, uint32_t offset)
{
	const uint64_t room = session->geometry.filters_bytes;
	const char *area = session->filters;
	uint64_t at;

	if (offset < WIRE_FILTERS_FIRST || offset > room - sizeof(struct wire_filter))
		return "";
	at = offset + number_load16(area + offset + offsetof(struct wire_filter, bytes));
	return at < room && strnlen(area + at, room - at) < room - at ? area + at : "";
}

static void copy_event(struct listing *listing, const struct session *session, uint32_t index, size_t *used)
{
	const struct wire_event entry = session->entries[index];
	struct listed_event *event = &listing->events[index];

	*event = (struct listed_event){
		.id = (uint16_t)(index + 1),
		.kind = entry.kind,
		.level = entry.level,
		.want = session->wants[index],
		.effect = session->switches[index],
		.refused = entry.refused,
		.line = entry.line,
		.refused_line = entry.refused_line,
		.pid = entry.pid,
		.types = entry.types,
		.name = keep(listing, used, session_event_text(session, entry.name)),
		.format = keep(listing, used, session_event_text(session, entry.format)),
		.file = keep(listing, used, session_event_text(session, entry.file)),
		.refused_file = keep(listing, used,
				     entry.refused ? session_event_text(session, entry.refused_file) : ""),
		.where = "",
	};
	if (event->want == WIRE_CHECKED || event->effect == WIRE_CHECKED) {
		event->check = session->checks[index];
		event->where = keep(listing, used, filter_text(session, event->check.filter));
	}
}

int listing_read(struct listing *listing, struct session *session)
{
	const uint32_t count = session_event_count(session);
	const uint32_t *changes = &session->shared->changes;
	const struct timespec pause = { .tv_nsec = 1000000 };

	*listing = (struct listing){ .count = count };
	listing->events = calloc(count + 1, sizeof(*listing->events));
	listing->text = malloc((size_t)(count + 1) * 5 * (LISTING_STRING_MAX + 1));
	if (!listing->events || !listing->text) {
		listing_free(listing);
		return -ENOMEM;
	}
	/* Who died in the middle of a change left an odd number behind, for ever: what there is then must do. */
	for (unsigned tries = 1; tries <= LISTING_TRIES; tries++) {
		uint32_t before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);
		size_t used = 0;

		if ((before & 1) && tries < LISTING_TRIES) {
			nanosleep(&pause, NULL);
			continue;
		}
		for (uint32_t n = 0; n < count; n++)
			copy_event(listing, session, n, &used);
		listing->stopped = session->shared->stopped != 0;
		/* The copy is finished before the second look. Pairs with the fence in session_change_begin(). */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		listing->torn = (before & 1) || __atomic_load_n(changes, __ATOMIC_RELAXED) != before;
		if (!listing->torn)
			break;
	}
	return 0;
}

void listing_free(struct listing *listing)
{
	free(listing->events);
	free(listing->text);
	*listing = (struct listing){ 0 };
}

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
	for (unsigned tries = 0; tries < LISTING_TRIES; tries++) {
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
