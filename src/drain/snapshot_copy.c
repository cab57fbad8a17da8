/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The private copy of the rings; see snapshot_copy.h.
 *
 * All rings end at one moment, ->until, though they are copied one after the other: a ring that is copied
 * later has later records, which the window leaves out. The moment is chosen before the first ring is copied,
 * so no ring lacks records of it. The names ring is copied last and as a whole: a record is appended after
 * the announcement of its thread, so the names of all records that were copied are in it.
 *
 * A slot of the copy holds one piece. An open packet gives a piece, and another one when it has grown, so
 * there is one slot more than the ring has. The control is copied behind the pieces: its counts of losses
 * then include those up to the last record.
 *
 * Memory is reserved for the whole ring and populated for what it has now. NORESERVE: an untouched rest costs
 * nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "drain/snapshot_copy.h"
#include "drain/validate.h"
#include "ring/ring_deps.h"
#include "session/clock.h"

enum {
	BURST_BYTES = 1 << 20, /* bytes of pieces between two pauses */
};

/* About how many packets a ring has now; they lie in its first slots. */
static uint32_t present_packets(const struct ring *ring)
{
	struct ring_look look;

	ring_look(ring, &look);
	return look.empty ? 0 : ring_present(ring, &look);
}

/*
 * Reserve memory for all packets of a ring and one more, since the open packet may be copied, grow, and be copied again.
 * Only the memory for the present packets is populated, on both sides, since page faults would slow the copy. Packets
 * that a writer adds meanwhile cost page faults, and nothing else.
 */
static int snapshot_copy_reserve(struct copied_ring *copied, const struct ring *ring)
{
	const size_t packet_bytes = ring->packet_words * 8;
	const size_t ready = present_packets(ring) * packet_bytes;

	copied->slots = ring->window + 1;
	copied->bytes = copied->slots * packet_bytes;
	copied->pieces = calloc(copied->slots, sizeof(*copied->pieces));
	if (!copied->pieces)
		return -ENOMEM;
	copied->memory = mmap(NULL, copied->bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copied->memory == MAP_FAILED) {
		copied->memory = NULL;
		return -ENOMEM;
	}
	madvise(copied->memory, copied->bytes, MADV_HUGEPAGE);
	if (!ring_have_memory(copied->memory, ready))
		return -ENOMEM;
	madvise(ring->slots, ready, MADV_POPULATE_READ); /* fails on old kernels: the copy is only slower */
	return 0;
}

/* Whether the copied pieces of a ring reach the moment @until. */
static bool snapshot_copy_reaches(const struct wire_packet *packet, const struct ring_piece *piece,
				  uint64_t until)
{
	return !piece->last || packet->time_begin > until;
}

static void copy_ring(struct copied_ring *copied, const struct ring *ring, uint64_t until)
{
	struct ring_cursor cursor = { .passive = true };

	/* Bounded by the slots: writers may be as fast as the copy. */
	while (copied->count < copied->slots) {
		char *packet = copied->memory + copied->count * ring->packet_words * 8;
		struct ring_piece *piece = &copied->pieces[copied->count];
		int found = ring_copy(ring, &cursor, packet, piece);

		copied->stale = found < 0;
		if (found <= 0)
			break;
		copied->count++;
		if (snapshot_copy_reaches((const struct wire_packet *)packet, piece, until))
			break;
	}
	memcpy(&copied->control, ring->control, sizeof(copied->control));
}

static int get_memory(struct snapshot_copy *copy, struct session *session, const struct ring *more,
		      unsigned count)
{
	int error = 0;

	*copy = (struct snapshot_copy){ .session = session, .count = session->ring_count + count };
	copy->rings = calloc(copy->count, sizeof(*copy->rings));
	if (!copy->rings)
		return -ENOMEM;
	for (unsigned n = 0; !error && n < copy->count; n++) {
		const bool beside = n >= session->ring_count;
		const struct ring *ring =
			beside ? &more[n - session->ring_count] : session_ring_view(session, n);

		copy->rings[n].ring = ring;
		error = ring ? snapshot_copy_reserve(&copy->rings[n], ring) : 0;
	}
	return error;
}

/* The copy ends now. */
static uint64_t end_now(void *data)
{
	struct snapshot_copy *copy = data;

	copy->until = ring_clock();
	copy->until_ns = clock_ns(CLOCK_MONOTONIC);
	return copy->until;
}

/* Open calls first: one that ends meanwhile has a record. */
int snapshot_copy_rings(struct snapshot_copy *copy, struct session *session, const struct ring *more,
			unsigned count, struct call_tables *calls, const struct event_table *events)
{
	int error = get_memory(copy, session, more, count);

	if (!error)
		error = call_tables_open(calls, events, end_now, copy);
	if (error)
		return error;

	for (unsigned n = session->ring_count; n < copy->count; n++)
		copy_ring(&copy->rings[n], copy->rings[n].ring, copy->until_ns);
	for (unsigned n = 0; n < session->ring_count; n++)
		if (copy->rings[n].memory)
			copy_ring(&copy->rings[n], &session->rings[n],
				  n == session_names_index(session) ? UINT64_MAX : copy->until);
	return 0;
}

/* After each burst, pause as long as it took, unless the ring has not changed since it was copied. */
static void snapshot_copy_throttle(struct snapshot_copy *copy, unsigned index, size_t bytes)
{
	const struct wire_ring *ring = copy->rings[index].ring->control;
	uint64_t time;

	copy->given += bytes;
	if (copy->given < BURST_BYTES)
		return;
	copy->given = 0;
	time = clock_ns(CLOCK_MONOTONIC);
	if (copy->paused &&
	    __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) != copy->rings[index].control.tail) {
		uint64_t ns = time - copy->paused;

		nanosleep(&(struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) }, NULL);
		time = clock_ns(CLOCK_MONOTONIC);
	}
	copy->paused = time;
}

int snapshot_copy_next(struct snapshot_copy *copy, unsigned index, struct wire_packet **packet,
		       struct ring_piece *piece)
{
	struct copied_ring *copied = &copy->rings[index];

	if (copied->next == copied->count)
		return copied->stale ? -ESTALE : 0;
	*packet = (struct wire_packet *)(copied->memory + copied->next * (copied->bytes / copied->slots));
	*piece = copied->pieces[copied->next++];
	snapshot_copy_throttle(copy, index, copied->bytes / copied->slots);
	return 1;
}

/* The time of a piece's last record; 0: it has no valid record, or does not begin where its packet does. */
static uint64_t last_of_piece(const char *packet, const struct ring_piece *piece,
			      const struct event_table *table)
{
	const uint64_t begin = ((const struct wire_packet *)packet)->time_begin;
	struct validated validated;

	if (piece->begin != sizeof(struct wire_packet))
		return 0;
	validated = validate_records(table, packet, piece->begin, piece->end, begin, begin, ring_clock(),
				     (struct window){ 0, UINT64_MAX });
	return validated.count ? validated.time : 0;
}

uint64_t snapshot_copy_last(const struct snapshot_copy *copy, const struct event_table *table)
{
	uint64_t last = 0;

	for (unsigned n = 0; n < session_names_index(copy->session); n++) {
		const struct copied_ring *copied = &copy->rings[n];
		uint64_t time = 0;

		for (uint32_t piece = copied->count; piece > 0 && !time; piece--)
			time = last_of_piece(copied->memory + (piece - 1) * (copied->bytes / copied->slots),
					     &copied->pieces[piece - 1], table);
		if (time > last)
			last = time;
	}
	return last;
}

void snapshot_copy_release(struct snapshot_copy *copy, unsigned index)
{
	struct copied_ring *copied = &copy->rings[index];

	if (copied->memory)
		munmap(copied->memory, copied->bytes);
	free(copied->pieces);
	copied->memory = NULL;
	copied->pieces = NULL;
	copied->next = copied->count = 0;
}

void snapshot_copy_free(struct snapshot_copy *copy)
{
	for (unsigned n = 0; copy->rings && n < copy->count; n++)
		snapshot_copy_release(copy, n);
	free(copy->rings);
	copy->rings = NULL;
}
