/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Another size for the rings of a session; see resize.h.
 *
 * When may memory beyond the size be given back? Who opens a packet loads the tail first and then the size, and
 * opens only if the tail is still the same. So once the new size has been seen by every CPU (a barrier on each), whoever
 * goes by the old one can open the slot behind the tail that we look at, and none else. If that slot is within the
 * size, nobody writes beyond it any more, until the next resize, and that has to wait for us (`resize_lock`).
 *
 * Who reads: in stream mode all of the lap before must have been given back. In flight mode a reader may be copying
 * there, and takes what it copied for whole if the packet has its sequence afterwards; so the pages that hold the
 * sequences go first.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control/resize.h"
#include "ring/copy.h"
#include "ring/lock.h"

enum {
	RESIZE_TRIES = 200, /* with pauses of 5 ms, a second */
	RESIZE_PAGE = 4096,
	RESIZE_TURNS = 100, /* each failure: somebody else has written there, or interrupted us */
};

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static uint32_t self(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* What the CPUs have stored before this is there to be seen, and what they load after it is new. */
static void barrier_everywhere(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		pause_ms(20); /* not on this kernel: no store waits that long */
}

/* The slots beyond the size. */
struct beyond {
	char *begin;
	size_t bytes;
};

static struct beyond beyond_of(const struct ring *ring)
{
	const size_t used = ring_size(ring) * ring->packet_words * 8, all = (ring->word_mask + 1) * 8;

	return (struct beyond){ ring->slots + used, all - used };
}

/* How much memory they take. */
static uint64_t resident(const struct beyond *beyond)
{
	const size_t pages = beyond->bytes / RESIZE_PAGE;
	unsigned char *there = calloc(pages + 1, 1);
	uint64_t count = 0;

	if (there && mincore(beyond->begin, beyond->bytes, there) == 0)
		for (size_t n = 0; n < pages; n++)
			count += there[n] & 1;
	free(there);
	return count * RESIZE_PAGE;
}

/* Let go of the packet that is open, as a writer of the ring's CPU. */
static void turn(struct ring *ring)
{
	cpu_set_t before, there;
	enum ring_result result = RING_MOVED;

	if (ring->locked) {
		if (ring_turn_locked(ring, self()) == RING_BUSY)
			ring_bury(ring);
		return;
	}
	CPU_ZERO(&there);
	CPU_SET(ring->cpu, &there);
	if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
	    sched_setaffinity(0, sizeof(there), &there) != 0)
		return;
	for (unsigned n = 0; n < RESIZE_TURNS && result == RING_MOVED; n++)
		result = ring_turn(ring);
	sched_setaffinity(0, sizeof(before), &before);
}

/*
 * Whether nobody writes or reads beyond the size any more. @unread: set if it is for want of reading: of the lap before,
 * or, where the tail cannot leave, of the packet in slot 0.
 */
static bool is_free(const struct ring *ring, bool *unread)
{
	struct ring_look look;
	uint64_t wanted;
	bool left, read;

	if (!ring_look(ring, &look))
		return false;
	left = look.slot + 1 < ring_size(ring);
	wanted = look.sequence - look.slot + !left;
	read = ring->overwrite || __atomic_load_n(&ring->control->consumed, __ATOMIC_ACQUIRE) >= wanted;
	*unread |= !read;
	return left && read;
}

/* Give back what lies beyond a ring's size, if that can be done now. Return: bytes that could not. */
static uint64_t shed(struct ring *ring, struct resized *resized)
{
	const struct beyond beyond = beyond_of(ring);
	const size_t packet_bytes = ring->packet_words * 8;
	const uint64_t before = resident(&beyond);
	uint64_t after;
	struct ring_look look;

	if (before == 0)
		return 0;
	if (ring_look(ring, &look) && look.slot + 1 >= ring_size(ring))
		turn(ring);
	if (!is_free(ring, &resized->unread))
		return before;
	for (size_t at = 0; at < beyond.bytes && ring->overwrite; at += packet_bytes)
		madvise(beyond.begin + at, RESIZE_PAGE, MADV_REMOVE);
	madvise(beyond.begin, beyond.bytes, MADV_REMOVE);
	after = resident(&beyond);
	resized->freed += before > after ? before - after : 0;
	return after;
}

static void shed_all(struct session *session, struct resized *resized)
{
	for (unsigned tries = 0; tries < RESIZE_TRIES; tries++) {
		resized->kept = 0;
		resized->unread = false;
		for (unsigned n = 0; n < session_names_index(session); n++) {
			struct ring *ring = session_ring_view(session, n);

			resized->kept += ring ? shed(ring, resized) : 0;
		}
		if (resized->kept == 0)
			return;
		pause_ms(5);
	}
}

static bool take_lock(struct session *session)
{
	for (unsigned tries = 0; tries < RESIZE_TRIES; tries++) {
		if (lock_take(&session->shared->resize_lock, self()))
			return true;
		lock_bury(&session->shared->resize_lock);
		pause_ms(5);
	}
	return false;
}

int resize_rings(struct session *session, uint64_t bytes, struct resized *resized)
{
	const uint64_t packet_bytes = session->geometry.packet_bytes;
	uint64_t packets = bytes / packet_bytes + (bytes % packet_bytes != 0);

	if (packets < WIRE_RING_PACKETS_MIN)
		packets = WIRE_RING_PACKETS_MIN;
	*resized = (struct resized){ .before = ring_size(&session->rings[0]) * packet_bytes,
				     .after = packets * packet_bytes,
				     .most = session->geometry.ring_packets * packet_bytes };
	if (packets > session->geometry.ring_packets)
		return -E2BIG;
	if (!take_lock(session))
		return -EBUSY;
	for (unsigned n = 0; n < session_names_index(session); n++) {
		uint64_t *size = &session->rings[n].control->size;
		uint64_t changes = (__atomic_load_n(size, __ATOMIC_RELAXED) >> WIRE_RING_CHANGES_SHIFT) + 1;

		/* Release: what the last one gave back is gone before anybody may have it again. */
		__atomic_store_n(size, changes << WIRE_RING_CHANGES_SHIFT | packets, __ATOMIC_RELEASE);
	}
	barrier_everywhere();
	shed_all(session, resized);
	lock_drop(&session->shared->resize_lock);
	return 0;
}
