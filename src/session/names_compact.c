/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Compaction of the names ring.
 *
 * In flight mode there may be no reader for weeks, and names must outlive the records that refer to them. So a writer
 * that finds the ring full copies the needed records of its oldest packet to its end, and then gives that packet back.
 * These are the rules; tests/model/names.pml has shown that each is needed (T: the sequence of the tail's packet, N: the
 * ring's packets).
 *
 *   While T - consumed >= N - 1, a process died while compacting: finish that first, even if the record would fit.
 *   A record may open a packet if T + 1 - consumed < N - 1: the last one is the reserve for copies.
 *   Needed records are copied unless they have a copy already; `consumed` moves last. (Only if `compaction` has the
 *   packet's sequence + 1 can there be copies.)
 *   A copy is never longer than its original: all records are in the extended form, and have the fields that only
 *   copies need.
 *   After N compactions without room, all records of the ring are needed.
 *
 * A thread is announced again when its name changes or its number is reused. Its former announcement then counts as
 * gone, and is needed as long as the rings hold records from its time.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "ring/copy.h"
#include "session/names.h"
#include "wire/wire_head.h"
#include "wire/wire_names.h"

/* A record of the names ring; its lengths are checked. */
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

/* The position of the tail. The lock is held, so it does not move. */
struct tail {
	uint64_t position; /* of its packet, in words */
	uint64_t sequence;
	uint32_t inside; /* bytes of that packet that are used */
	bool empty;
};

static struct tail names_compact_look(const struct ring *ring)
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

/* Start at the packet of a sequence that is not given back yet. */
static struct wire_walk walk_packet(const struct ring *ring, const struct tail *tail, uint64_t sequence)
{
	const uint64_t position = tail->position - (tail->sequence - sequence) * ring->packet_words;
	const char *packet = ring->slots + (position & ring->word_mask) * 8;

	return (struct wire_walk){
		.at = packet + sizeof(struct wire_packet),
		.end = packet + (sequence == tail->sequence ? tail->inside : ring->packet_words * 8),
		.head.time = ((const struct wire_packet *)packet)->time_begin,
	};
}

/* The next record; false: the end, or bytes that are not a record. */
static bool walk_next(struct wire_walk *walk, struct name *name)
{
	const char *at = wire_walk_next(walk);
	const struct wire_head *head = &walk->head;
	uint64_t since;

	if (!at || head->id >= WIRE_NAME_IDS || head->length < head->bytes + 4 + WIRE_NAME_TAIL)
		return false;
	*name = (struct name){ .at = at,
			       .length = head->length,
			       .id = (uint16_t)head->id,
			       .tid = head->tid,
			       .since = head->time,
			       .payload = at + head->bytes,
			       .payload_bytes = head->length - head->bytes - WIRE_NAME_TAIL };
	since = number_load64(name->payload + name->payload_bytes);
	name->gone = number_load64(name->payload + name->payload_bytes + 8);
	if (since != 0)
		name->since = since;
	return true;
}

/* The times of the oldest and the newest record in a ring. */
struct span {
	uint64_t oldest, newest;
};

static bool ring_span(struct session *session, unsigned index, struct span *span)
{
	const struct ring *ring = session_ring_view(session, index);
	struct ring_look look = { .empty = true };

	if (ring && !ring_look(ring, &look)) { /* writers moved on meanwhile: rather keep a name too many */
		*span = (struct span){ 0, UINT64_MAX };
		return true;
	}
	if (look.empty)
		return false;
	*span = (struct span){ .newest = ring_packet(ring, &look, look.sequence)->time_end };
	/* The oldest packet may be overwritten by a later one; then the next one is the oldest. */
	for (uint32_t back = ring_present(ring, &look); back-- > 0;) {
		const struct wire_packet *packet = ring_packet(ring, &look, look.sequence - back);

		span->oldest = __atomic_load_n(&packet->time_begin, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&packet->sequence, __ATOMIC_RELAXED) == look.sequence - back)
			break;
	}
	return true;
}

/* The tid or pid that is announced. */
static uint32_t names_compact_number_of(const struct name *name)
{
	return name->id == WIRE_NAME_PROCESS ? number_load32(name->payload) : name->tid;
}

/*
 * The successors of a packet's announcements: a hash table by tid or pid, filled again for each packet, so that one walk
 * along the ring serves all of its names. Of several announcements in the packet the last counts; the others end with it
 * at the latest. Not a struct hash_table, since a traced program allocates no memory here. Only the owner of the ring's
 * lock writes it. If corrupt memory broke the lock, only times can be wrong.
 */
static struct successor {
	uint32_t number;
	uint16_t id;	/* 0: a free entry */
	uint64_t since; /* of the last announcement in the packet */
	uint64_t until; /* `since` of the next one; 0: there is none */
} successors[1024];

enum {
	SUCCESSORS = sizeof(successors) / sizeof(successors[0]),
	SUCCESSORS_MAX = SUCCESSORS / 2, /* further names count as not announced again */
};

/* The entry of a thread or process, or the free one for it. */
static struct successor *successor_of(const struct name *name)
{
	const uint32_t number = names_compact_number_of(name);
	uint32_t at = number * 2654435761u % SUCCESSORS;

	for (unsigned n = 1; n < SUCCESSORS && successors[at].id != 0; n++, at = (at + 1) % SUCCESSORS)
		if (successors[at].number == number && successors[at].id == name->id)
			break;
	return &successors[at];
}

static void find_successors(const struct ring *ring, const struct tail *tail, uint64_t compacted)
{
	struct wire_walk walk = walk_packet(ring, tail, compacted);
	unsigned count = 0;
	struct name name;

	memset(successors, 0, sizeof(successors));
	while (count < SUCCESSORS_MAX && walk_next(&walk, &name)) {
		struct successor *successor = successor_of(&name);

		count += successor->id == 0;
		if (successor->id == 0 || successor->since < name.since)
			*successor =
				(struct successor){ names_compact_number_of(&name), name.id, name.since, 0 };
	}
	for (uint32_t n = 0; n < ring->window && compacted + n <= tail->sequence; n++) {
		walk = walk_packet(ring, tail, compacted + n);
		while (walk_next(&walk, &name)) {
			struct successor *successor = successor_of(&name);

			if (successor->id != 0 && name.since > successor->since &&
			    (successor->until == 0 || name.since < successor->until))
				successor->until = name.since;
		}
	}
}

/*
 * Whether an announcement is still needed: the thread or process lives and has that name, or a ring may have records
 * from its time. Sets name->gone.
 */
static bool names_compact_is_needed(struct session *session, struct name *name)
{
	const struct successor *successor = successor_of(name);
	struct span span;

	if (name->gone == 0 && successor->id != 0)
		name->gone = name->since < successor->since ? successor->since : successor->until;
	if (name->gone == 0 && !session_thread_is_gone(names_compact_number_of(name)))
		return true;
	if (name->gone == 0)
		name->gone = ring_clock();
	for (unsigned n = 0; n < session_names_index(session); n++)
		if (ring_span(session, n, &span) && name->gone >= span.oldest && name->since <= span.newest)
			return true;
	return false;
}

/* Whether there is a copy already. It searches the whole ring, so only the successor of a dead writer calls it. */
static bool has_copy(const struct ring *ring, uint64_t compacted, const struct name *name)
{
	const struct tail tail = names_compact_look(ring);
	struct name other;

	for (uint32_t n = 1; n < ring->window && compacted + n <= tail.sequence; n++) {
		struct wire_walk walk = walk_packet(ring, &tail, compacted + n);

		while (walk_next(&walk, &other))
			if (other.tid == name->tid && other.id == name->id && other.since == name->since)
				return true;
	}
	return false;
}

static enum ring_result names_compact_copy(struct ring *ring, const struct name *name)
{
	_Alignas(8) char buffer[WIRE_HEADROOM + 8 + 2 * (WIRE_NAME_TEXT_MAX + 1) + WIRE_NAME_TAIL + 8];
	uint32_t bytes = name->payload_bytes;
	struct ring_record record = { buffer,
				      (uint32_t)sizeof(struct wire_compact) + bytes + WIRE_NAME_TAIL };

	if (bytes > sizeof(buffer) - WIRE_HEADROOM - WIRE_NAME_TAIL - 8)
		return RING_DONE; /* no writer wrote that: the memory is corrupt */
	memcpy(buffer + WIRE_HEADROOM, name->payload, bytes);
	memcpy(buffer + WIRE_HEADROOM + bytes, &name->since, 8);
	memcpy(buffer + WIRE_HEADROOM + bytes + 8, &name->gone, 8);
	memset(buffer + WIRE_HEADROOM + bytes + WIRE_NAME_TAIL, 0, 8);
	ring_prepare(buffer, name->id, record.length, name->tid);
	return ring_append_extended(ring, record);
}

/* Compact the oldest packet. Return: RING_DONE: it is given back; otherwise it stays. */
static enum ring_result names_compact_oldest(struct session *session, struct ring *ring)
{
	struct wire_ring *control = ring->control;
	const uint64_t consumed = __atomic_load_n(&control->consumed, __ATOMIC_RELAXED);
	const struct tail tail = names_compact_look(ring);
	/* A former owner of the lock died while compacting this packet: it may have made some copies. */
	const bool resumed = __atomic_load_n(&control->compaction, __ATOMIC_RELAXED) == consumed + 1;
	struct wire_walk walk = walk_packet(ring, &tail, consumed);
	enum ring_result result = RING_DONE;
	struct name name;

	find_successors(ring, &tail, consumed);
	__atomic_store_n(&control->compaction, consumed + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* before the first copy, in case this process dies */
	while (result == RING_DONE && walk_next(&walk, &name))
		if (names_compact_is_needed(session, &name) && !(resumed && has_copy(ring, consumed, &name)))
			result = names_compact_copy(ring, &name);
	/* Release: the copies are complete. Pairs with the acquire in ring_copy(). */
	if (result == RING_DONE)
		__atomic_store_n(&control->consumed, consumed + 1, __ATOMIC_RELEASE);
	return result;
}

/*
 * When a packet is to be opened and the ring is half full, two packets are compacted first. One is likely to have names
 * that are now first found to be gone, which are kept once more; the other one has names that can be dropped.
 */
enum {
	EARLY_COMPACTIONS = 2,
};

/* The last moment, in 2^24 ns, when all records of the ring were needed: within it no writer tries again. */
static uint64_t full_at;

static uint64_t names_compact_moment(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) >> 24;
}

enum ring_result names_append_compacting(struct session *session, struct ring *ring,
					 struct ring_record record)
{
	const uint32_t stride = wire_stride(record.length) + 8, packets = ring->window;

	for (uint32_t compactions = 0; compactions <= packets; compactions++) {
		const uint64_t consumed = __atomic_load_n(&ring->control->consumed, __ATOMIC_RELAXED);
		const struct tail tail = names_compact_look(ring);
		const uint64_t used = tail.sequence - consumed;
		const bool fits = tail.inside + stride <= ring->packet_words * 8;
		const bool early = used + 1 >= packets / 2 && compactions < EARLY_COMPACTIONS;
		enum ring_result result;

		if (tail.empty || (used < packets - 1 && fits) || (used + 1 < packets - 1 && !early))
			return ring_append_extended(ring, record);
		if (used >= packets) /* the memory is corrupt */
			return RING_FULL;
		if (!early && __atomic_load_n(&full_at, __ATOMIC_RELAXED) == names_compact_moment())
			return RING_FULL;
		result = names_compact_oldest(session, ring);
		if (result != RING_DONE)
			return result;
	}
	__atomic_store_n(&full_at, names_compact_moment(), __ATOMIC_RELAXED);
	return RING_FULL;
}
