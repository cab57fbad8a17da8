/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cleaning the names ring.
 *
 * In flight mode nobody reads for weeks, and names must outlive the records that need them. So whoever finds the
 * ring full copies what is still needed of its oldest packet to its end, and then gives that packet back. The
 * rules, which tests/model/names.pml has shown to be needed (T: the sequence of the tail's packet, N: packets):
 *
 *   While T - consumed >= N - 1, somebody died cleaning: finish that first, even if the record would fit.
 *   A record may open a packet if T + 1 - consumed < N - 1: the last one is the reserve for copies.
 *   Copied is what is needed and has no copy yet; `consumed` moves last. (`cleaning` tells whether there can be
 *   any copies yet.)
 *   A copy is never longer than its original: all records are in the extended form, and have the fields that only
 *   copies need.
 *   After N cleanings the ring is full of what is needed.
 *
 * A thread that has been announced again, since its name has changed or since its number has been used again, is
 * needed under its former name as long as the rings hold records from then: as one that is gone.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"
#include "session/names.h"
#include "wire/names.h"

/* A record of the names ring, as far as it can be believed. */
struct name {
	const char *at;
	uint32_t length; /* in the ring */
	uint16_t id;
	uint32_t tid;
	uint64_t since; /* the original's time */
	uint64_t gone;
	const char *payload;
	uint32_t payload_bytes; /* without since and gone */
};

/* A walk along one packet. */
struct walk {
	const char *packet;
	uint32_t at, end; /* bytes */
};

/* Where the tail stands. The lock is held, so it stands still. */
struct tail {
	uint64_t position; /* of its packet, in words */
	uint64_t sequence;
	uint32_t inside; /* bytes of that packet that are used */
	bool empty;
};

static struct tail look(const struct ring *ring)
{
	uint64_t tail = __atomic_load_n(&ring->control->tail, __ATOMIC_RELAXED);
	uint64_t position = tail >> WIRE_TAIL_COUNT_BITS, inside = position & ring->packet_mask;
	struct tail out = { .empty = tail == 0 };

	if (inside == 0)
		inside = ring->packet_words;
	out.position = position - inside;
	out.inside = (uint32_t)inside * 8;
	if (!out.empty)
		out.sequence =
			((const struct wire_packet *)(ring->slots + (out.position & ring->word_mask) * 8))
				->sequence;
	return out;
}

/* The packet of a sequence, which is not given back yet. */
static struct walk walk_packet(const struct ring *ring, const struct tail *tail, uint64_t sequence)
{
	uint64_t position = tail->position - (tail->sequence - sequence) * ring->packet_words;

	return (struct walk){ .packet = ring->slots + (position & ring->word_mask) * 8,
			      .at = sizeof(struct wire_packet),
			      .end = sequence == tail->sequence ? tail->inside
								: (uint32_t)ring->packet_words * 8 };
}

/* The next record; false at the end, or where there is none that could be copied. */
static bool walk_next(struct walk *walk, struct name *name)
{
	const char *at = walk->packet + walk->at;
	uint32_t left = walk->end - walk->at, header = sizeof(struct wire_compact);

	if (left < sizeof(struct wire_extended))
		return false;
	*name = (struct name){ .at = at, .id = number_load16(at), .length = number_load16(at + 2) };
	if (name->id == WIRE_ID_EXTENDED) {
		header = sizeof(struct wire_extended);
		name->id = number_load16(at + 4);
		name->since = (uint64_t)number_load32(at + 12) << 32 | number_load32(at + 8);
	} else { /* a packet's first */
		name->since = ((const struct wire_packet *)walk->packet)->time_begin;
	}
	if (name->id == 0 || name->id >= WIRE_NAME_IDS || name->length < header + 4 + WIRE_NAME_TAIL ||
	    wire_stride(name->length) > left)
		return false;
	name->tid = number_load32(at + header - 4);
	name->payload = at + header;
	name->payload_bytes = name->length - header - WIRE_NAME_TAIL;
	name->gone = number_load64(name->payload + name->payload_bytes + 8);
	if (number_load64(name->payload + name->payload_bytes) != 0)
		name->since = number_load64(name->payload + name->payload_bytes);
	walk->at += wire_stride(name->length);
	return true;
}

/* From when to when there are records in a ring. */
struct span {
	uint64_t oldest, newest;
};

static bool ring_span(struct session *session, unsigned index, struct span *span)
{
	const struct ring *ring = session_ring_view(session, index);
	struct ring_look look = { .empty = true };

	if (ring && !ring_look(ring, &look)) { /* writers go on meanwhile: better a name too many */
		*span = (struct span){ 0, UINT64_MAX };
		return true;
	}
	if (look.empty)
		return false;
	*span = (struct span){ .newest = ring_packet(ring, &look, look.sequence)->time_end };
	/* The oldest may be gone, and what is there instead later; then the next one is the oldest. */
	for (uint32_t back = ring_present(ring, &look); back-- > 0;) {
		const struct wire_packet *packet = ring_packet(ring, &look, look.sequence - back);

		span->oldest = __atomic_load_n(&packet->time_begin, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&packet->sequence, __ATOMIC_RELAXED) == look.sequence - back)
			break;
	}
	return true;
}

/* The thread or process that is announced. */
static uint32_t number_of(const struct name *name)
{
	return name->id == WIRE_NAME_PROCESS ? number_load32(name->payload) : name->tid;
}

/*
 * Who has been announced again: a table by number, filled anew for each packet, so that one walk along the ring serves
 * all of its names. Of several announcements in one packet the last counts, and the others end with it, if not before.
 * Written by who holds the ring's lock; should somebody have broken that, times may be wrong, no more.
 */
static struct heir {
	uint32_t number;
	uint16_t id;	/* 0: a free place */
	uint64_t since; /* of the last announcement in the packet */
	uint64_t until; /* the next one; 0: there is none */
} heirs[1024];

enum {
	HEIRS = sizeof(heirs) / sizeof(heirs[0]),
	HEIRS_MAX = HEIRS / 2, /* who comes then counts as not announced again */
};

/* The place of a thread or process, or the free one where it would be. */
static struct heir *heir_of(const struct name *name)
{
	const uint32_t number = number_of(name);
	uint32_t at = number * 2654435761u % HEIRS;

	for (unsigned n = 1; n < HEIRS && heirs[at].id != 0; n++, at = (at + 1) % HEIRS)
		if (heirs[at].number == number && heirs[at].id == name->id)
			break;
	return &heirs[at];
}

static void find_heirs(const struct ring *ring, const struct tail *tail, uint64_t cleaned)
{
	struct walk walk = walk_packet(ring, tail, cleaned);
	unsigned count = 0;
	struct name name;

	memset(heirs, 0, sizeof(heirs));
	while (count < HEIRS_MAX && walk_next(&walk, &name)) {
		struct heir *heir = heir_of(&name);

		count += heir->id == 0;
		if (heir->id == 0 || heir->since < name.since)
			*heir = (struct heir){ number_of(&name), name.id, name.since, 0 };
	}
	for (uint32_t n = 0; n < ring->window && cleaned + n <= tail->sequence; n++) {
		walk = walk_packet(ring, tail, cleaned + n);
		while (walk_next(&walk, &name)) {
			struct heir *heir = heir_of(&name);

			if (heir->id != 0 && name.since > heir->since &&
			    (heir->until == 0 || name.since < heir->until))
				heir->until = name.since;
		}
	}
}

/*
 * Whether what is announced is still needed: it lives under that name, or there may be records from its time. Notes
 * until when it did.
 */
static bool is_needed(struct session *session, struct name *name)
{
	const struct heir *heir = heir_of(name);
	struct span span;

	if (name->gone == 0 && heir->id != 0)
		name->gone = name->since < heir->since ? heir->since : heir->until;
	if (name->gone == 0 && !ring_owner_is_dead(number_of(name)))
		return true;
	if (name->gone == 0)
		name->gone = ring_clock();
	for (unsigned n = 0; n < session_names_index(session); n++)
		if (ring_span(session, n, &span) && name->gone >= span.oldest && name->since <= span.newest)
			return true;
	return false;
}

/* Whether there is a copy already. Looks through all of the ring: for those who go on with a dead writer's work. */
static bool has_copy(const struct ring *ring, uint64_t cleaned, const struct name *name)
{
	const struct tail tail = look(ring);
	struct name other;

	for (uint32_t n = 1; n < ring->window && cleaned + n <= tail.sequence; n++) {
		struct walk walk = walk_packet(ring, &tail, cleaned + n);

		while (walk_next(&walk, &other))
			if (other.tid == name->tid && other.id == name->id && other.since == name->since)
				return true;
	}
	return false;
}

static enum ring_result copy(struct ring *ring, const struct name *name)
{
	_Alignas(8) char buffer[WIRE_HEADROOM + 8 + 2 * (WIRE_NAME_TEXT_MAX + 1) + WIRE_NAME_TAIL + 8];
	uint32_t bytes = name->payload_bytes;
	struct ring_record record = { buffer,
				      (uint32_t)sizeof(struct wire_compact) + bytes + WIRE_NAME_TAIL };

	if (bytes > sizeof(buffer) - WIRE_HEADROOM - WIRE_NAME_TAIL - 8)
		return RING_DONE; /* nobody wrote that */
	memcpy(buffer + WIRE_HEADROOM, name->payload, bytes);
	memcpy(buffer + WIRE_HEADROOM + bytes, &name->since, 8);
	memcpy(buffer + WIRE_HEADROOM + bytes + 8, &name->gone, 8);
	memset(buffer + WIRE_HEADROOM + bytes + WIRE_NAME_TAIL, 0, 8);
	ring_prepare(buffer, name->id, record.length, name->tid);
	return ring_append_extended(ring, record);
}

/* Return: RING_DONE: the oldest packet is given back; otherwise it stays. */
static enum ring_result clean(struct session *session, struct ring *ring)
{
	struct wire_ring *control = ring->control;
	const uint64_t consumed = __atomic_load_n(&control->consumed, __ATOMIC_RELAXED);
	const struct tail tail = look(ring);
	/* Somebody who had the lock died cleaning this packet: some copies are there. */
	const bool resumed = __atomic_load_n(&control->cleaning, __ATOMIC_RELAXED) == consumed + 1;
	struct walk walk = walk_packet(ring, &tail, consumed);
	enum ring_result result = RING_DONE;
	struct name name;

	find_heirs(ring, &tail, consumed);
	__atomic_store_n(&control->cleaning, consumed + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* before the first copy, should we die */
	while (result == RING_DONE && walk_next(&walk, &name))
		if (is_needed(session, &name) && !(resumed && has_copy(ring, consumed, &name)))
			result = copy(ring, &name);
	if (result == RING_DONE) /* release: the copies are there. Pairs with the acquire in ring_copy(). */
		__atomic_store_n(&control->consumed, consumed + 1, __ATOMIC_RELEASE);
	return result;
}

/*
 * When a packet is to be opened and the ring is half full, two are cleaned beforehand: one is likely to hold names
 * that are gone but not known to be, which are kept once more, and one names that can go.
 */
enum {
	EARLY_CLEANINGS = 2,
};

/* All of the ring was needed at that moment, in 2^24 ns: nobody looks again at once. */
static uint64_t full_at;

static uint64_t moment(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) >> 24;
}

enum ring_result names_append_cleaning(struct session *session, struct ring *ring, struct ring_record record)
{
	const uint32_t stride = wire_stride(record.length) + 8, packets = ring->window;

	for (uint32_t cleanings = 0; cleanings <= packets; cleanings++) {
		const uint64_t consumed = __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED);
		const struct tail tail = look(ring);
		const uint64_t used = tail.sequence - consumed;
		const bool fits = tail.inside + stride <= ring->packet_words * 8;
		const bool early = used + 1 >= packets / 2 && cleanings < EARLY_CLEANINGS;
		enum ring_result result;

		if (tail.empty || (used < packets - 1 && fits) || (used + 1 < packets - 1 && !early))
			return ring_append_extended(ring, record);
		if (used >= packets) /* nobody wrote that: the ring has been scribbled upon */
			return RING_FULL;
		if (!early && __atomic_load_n(&full_at, __ATOMIC_RELAXED) == moment())
			return RING_FULL;
		result = clean(session, ring);
		if (result != RING_DONE)
			return result;
	}
	__atomic_store_n(&full_at, moment(), __ATOMIC_RELAXED);
	return RING_FULL;
}
