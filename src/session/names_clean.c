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
 *   Copied is what is needed and has no copy yet; `consumed` moves last.
 *   A copy is never longer than its original: all records are in the extended form, and have the fields that only
 *   copies need.
 *   After N cleanings the ring is full of what is needed.
 */
#include <errno.h>
#include <string.h>

#include "base/number.h"
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

/* When the oldest record that is still in the rings was written. */
static uint64_t oldest_record(struct session *session)
{
	uint64_t oldest = ring_clock();

	for (unsigned n = 0; n < session_names_index(session); n++) {
		const struct ring *ring = session_ring_view(session, n);
		struct tail tail = ring ? look(ring) : (struct tail){ .empty = true };
		uint64_t first;
		struct walk walk;

		if (tail.empty)
			continue;
		first = tail.sequence < ring->packets - 2 ? 0 : tail.sequence - (ring->packets - 2);
		walk = walk_packet(ring, &tail, first);
		if (((const struct wire_packet *)walk.packet)->time_begin < oldest)
			oldest = ((const struct wire_packet *)walk.packet)->time_begin;
	}
	return oldest;
}

/* Whether what is announced is still needed; notes when it was found to be gone. */
static bool is_needed(struct name *name, uint64_t oldest)
{
	uint32_t who = name->id == WIRE_NAME_PROCESS ? number_load32(name->payload) : name->tid;

	if (name->gone == 0 && ring_owner_is_dead(who))
		name->gone = ring_clock();
	return name->gone == 0 || name->gone >= oldest;
}

/* Copies are found only in packets that were the tail's since the cleaning began. */
static bool has_copy(const struct ring *ring, const struct tail *tail, uint64_t first,
		     const struct name *name)
{
	struct name other;

	/* Two packets at most, unless somebody scribbles. */
	for (uint64_t sequence = first; sequence <= tail->sequence && sequence < first + 2; sequence++) {
		struct walk walk = walk_packet(ring, tail, sequence);

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
	const uint64_t consumed = __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED);
	const uint64_t oldest = oldest_record(session);
	struct tail tail = look(ring);
	struct walk walk = walk_packet(ring, &tail, consumed);
	enum ring_result result = RING_DONE;
	struct name name;

	while (result == RING_DONE && walk_next(&walk, &name)) {
		tail = look(ring);
		if (is_needed(&name, oldest) && !has_copy(ring, &tail, consumed + ring->packets - 2, &name))
			result = copy(ring, &name);
	}
	if (result == RING_DONE) /* release: the copies are there. Pairs with the acquire in ring_copy(). */
		__atomic_store_n(&ring->control->consumed, consumed + 1, __ATOMIC_RELEASE);
	return result;
}

enum ring_result names_append_cleaning(struct session *session, struct ring *ring, struct ring_record record)
{
	const uint32_t stride = wire_stride(record.length) + 8, packets = ring->packets;

	for (uint32_t cleanings = 0; cleanings <= packets; cleanings++) {
		const uint64_t consumed = __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED);
		const struct tail tail = look(ring);
		const uint64_t used = tail.sequence - consumed;
		enum ring_result result;

		if (tail.empty || (used < packets - 1 && (tail.inside + stride <= ring->packet_words * 8 ||
							  used + 1 < packets - 1)))
			return ring_append_extended(ring, record);
		if (used >= packets) /* nobody wrote that: the ring has been scribbled upon */
			return RING_FULL;
		result = clean(session, ring);
		if (result != RING_DONE)
			return result;
	}
	return RING_FULL;
}
