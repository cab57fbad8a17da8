/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a snapshot holds; see hold.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "drain/hold.h"
#include "ring/ring_deps.h"
#include "session/clock.h"

enum {
	HOLD_STRETCH = 1 << 20, /* bytes of pieces between two rests */
};

/* Packets that live in a ring now, more or less: so many of its first slots are worth looking at. */
static uint32_t living(const struct ring *ring)
{
	struct ring_look look;

	ring_look(ring, &look);
	return look.empty ? 0 : ring_present(ring, &look);
}

/*
 * Memory for all that a ring can hold, and one packet more: the open one may be copied, and grow, and be copied
 * again. But only as much as lives now is populated; what a writer adds meanwhile costs page faults, and
 * nothing else. So is what will be read: the first look at a page of the session costs a fault too.
 */
static int reserve(struct held_ring *held, const struct ring *ring)
{
	const size_t packet_bytes = ring->packet_words * 8;
	const size_t ready = living(ring) * packet_bytes;

	held->slots = ring->window + 1;
	held->bytes = held->slots * packet_bytes;
	held->pieces = calloc(held->slots, sizeof(*held->pieces));
	if (!held->pieces)
		return -ENOMEM;
	held->memory = mmap(NULL, held->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (held->memory == MAP_FAILED) {
		held->memory = NULL;
		return -ENOMEM;
	}
	madvise(held->memory, held->bytes, MADV_HUGEPAGE);
	if (!ring_have_memory(held->memory, ready))
		return -ENOMEM;
	madvise(ring->slots, ready, MADV_POPULATE_READ); /* fails where it is not known: nothing but slower */
	return 0;
}

/* Whether the copies of a ring reach the moment `until`. */
static bool reaches(const struct wire_packet *packet, const struct ring_piece *piece, uint64_t until)
{
	return !piece->last || packet->time_begin > until;
}

static void copy_ring(struct held_ring *held, const struct ring *ring, uint64_t until)
{
	struct ring_cursor cursor = { .passive = true };

	while (held->count < held->slots) {
		char *packet = held->memory + held->count * ring->packet_words * 8;
		struct ring_piece *piece = &held->pieces[held->count];
		int found = ring_copy(ring, &cursor, packet, piece);

		held->stale = found < 0;
		if (found <= 0)
			break;
		held->count++;
		if (reaches((const struct wire_packet *)packet, piece, until))
			break;
	}
	memcpy(&held->control, ring->control, sizeof(held->control));
}

int hold_rings(struct hold *hold, struct session *session)
{
	int error = 0;

	*hold = (struct hold){ .session = session, .count = session->ring_count };
	hold->rings = calloc(hold->count, sizeof(*hold->rings));
	if (!hold->rings)
		return -ENOMEM;
	for (unsigned n = 0; !error && n < hold->count; n++) {
		struct ring *ring = session_ring_view(session, n);

		error = ring ? reserve(&hold->rings[n], ring) : 0;
	}
	hold->until = ring_clock();
	for (unsigned n = 0; !error && n < hold->count; n++)
		if (hold->rings[n].memory)
			copy_ring(&hold->rings[n], &session->rings[n],
				  n == session_names_index(session) ? UINT64_MAX : hold->until);
	return error;
}

/* After each stretch, as long as it took; unless nobody has written to the ring since it was copied. */
static void rest(struct hold *hold, unsigned index, size_t bytes)
{
	const struct wire_ring *ring = hold->session->rings[index].control;
	uint64_t time;

	hold->given += bytes;
	if (hold->given < HOLD_STRETCH)
		return;
	hold->given = 0;
	time = clock_ns(CLOCK_MONOTONIC);
	if (hold->rested &&
	    __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) != hold->rings[index].control.tail) {
		uint64_t ns = time - hold->rested;

		nanosleep(&(struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) }, NULL);
		time = clock_ns(CLOCK_MONOTONIC);
	}
	hold->rested = time;
}

int hold_next(struct hold *hold, unsigned index, struct wire_packet **packet, struct ring_piece *piece)
{
	struct held_ring *held = &hold->rings[index];

	if (held->next == held->count)
		return held->stale ? -ESTALE : 0;
	*packet = (struct wire_packet *)(held->memory + held->next * (held->bytes / held->slots));
	*piece = held->pieces[held->next++];
	rest(hold, index, held->bytes / held->slots);
	return 1;
}

void hold_release(struct hold *hold, unsigned index)
{
	struct held_ring *held = &hold->rings[index];

	if (held->memory)
		munmap(held->memory, held->bytes);
	free(held->pieces);
	held->memory = NULL;
	held->pieces = NULL;
	held->next = held->count = 0;
}

void hold_free(struct hold *hold)
{
	for (unsigned n = 0; hold->rings && n < hold->count; n++)
		hold_release(hold, n);
	free(hold->rings);
	hold->rings = NULL;
}
