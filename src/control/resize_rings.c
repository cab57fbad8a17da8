/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Resizing the rings of a session; see resize_rings.h.
 *
 * When can memory beyond the size be freed? A writer that opens a packet loads the tail, then the size, and opens only if
 * the tail is unchanged. After a barrier on every CPU, a writer with the old size can open only the slot behind the tail
 * that we read. If that slot is within the size, no writer stores beyond the size until the next resize, which has to
 * wait for us (`resize_lock`).
 *
 * Readers. In stream mode all packets of the lap before must have been given back. In flight mode a reader may be copying
 * there, and accepts its copy if the packet still has its sequence. The pages that hold the sequences are freed first.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control/resize_rings.h"
#include "ring/copy.h"
#include "ring/lock.h"

enum {
	RESIZE_TRIES = 200, /* with pauses of 5 ms: a second */
	RESIZE_PAGE = 4096,
	RESIZE_SWITCHES = 100, /* a try fails if another thread has written to the ring or interrupted us */
};

static void resize_rings_pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static uint32_t resize_rings_self(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* All earlier stores of all CPUs are visible after this, and their later loads see new values. */
static void barrier_everywhere(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		resize_rings_pause_ms(
			20); /* this kernel has no such call, and no store stays invisible that long */
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

/* How much memory these slots take. */
static uint64_t resize_rings_resident(const struct beyond *beyond)
{
	const size_t pages = beyond->bytes / RESIZE_PAGE;
	unsigned char *present = calloc(pages + 1, 1);
	uint64_t count = 0;

	if (present && mincore(beyond->begin, beyond->bytes, present) == 0)
		for (size_t n = 0; n < pages; n++)
			count += present[n] & 1;
	free(present);
	return count * RESIZE_PAGE;
}

/* Open the next packet, as a writer on the ring's CPU. */
static void switch_packet(struct ring *ring)
{
	cpu_set_t before, cpu;
	enum ring_result result = RING_MOVED;

	if (ring->locked) {
		if (ring_switch_packet_locked(ring, resize_rings_self()) == RING_BUSY)
			ring_break_stale_lock(ring);
		return;
	}
	CPU_ZERO(&cpu);
	CPU_SET(ring->cpu, &cpu);
	if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
	    sched_setaffinity(0, sizeof(cpu), &cpu) != 0)
		return;
	for (unsigned n = 0; n < RESIZE_SWITCHES && result == RING_MOVED; n++)
		result = ring_switch_packet(ring);
	sched_setaffinity(0, sizeof(before), &before);
}

/*
 * Whether writers and readers no longer use the slots beyond the size. @unread: set if the recorder must first read
 * packets: those of the lap before, or, if the tail cannot leave, the packet in slot 0.
 */
static bool resize_rings_is_free(const struct ring *ring, bool *unread)
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

/* Free the memory beyond a ring's size, if that is possible now. Return: bytes that could not be freed. */
static uint64_t free_beyond(struct ring *ring, struct resized *resized)
{
	const struct beyond beyond = beyond_of(ring);
	const size_t packet_bytes = ring->packet_words * 8;
	const uint64_t before = resize_rings_resident(&beyond);
	uint64_t after;
	struct ring_look look;

	if (before == 0)
		return 0;
	if (ring_look(ring, &look) && look.slot + 1 >= ring_size(ring))
		switch_packet(ring);
	if (!resize_rings_is_free(ring, &resized->unread))
		return before;
	for (size_t at = 0; at < beyond.bytes && ring->overwrite; at += packet_bytes)
		madvise(beyond.begin + at, RESIZE_PAGE, MADV_REMOVE);
	madvise(beyond.begin, beyond.bytes, MADV_REMOVE);
	after = resize_rings_resident(&beyond);
	resized->freed += before > after ? before - after : 0;
	return after;
}

static void free_beyond_all(struct session *session, struct resized *resized)
{
	for (unsigned tries = 0; tries < RESIZE_TRIES; tries++) {
		resized->kept = 0;
		resized->unread = false;
		for (unsigned n = 0; n < session_names_index(session); n++) {
			struct ring *ring = session_ring_view(session, n);

			resized->kept += ring ? free_beyond(ring, resized) : 0;
		}
		if (resized->kept == 0)
			return;
		resize_rings_pause_ms(5);
	}
}

static bool resize_rings_take_lock(struct session *session)
{
	for (unsigned tries = 0; tries < RESIZE_TRIES; tries++) {
		if (lock_take(&session->shared->resize_lock, resize_rings_self()))
			return true;
		lock_break_stale(&session->shared->resize_lock);
		resize_rings_pause_ms(5);
	}
	return false;
}

static int change_size(struct session *session, uint32_t packets)
{
	int error = session_change_begin(session);

	if (error)
		return error;
	session_change_size(session, packets);
	return session_change_commit(session);
}

int resize_rings(struct session *session, uint64_t bytes, struct resized *resized)
{
	const uint64_t packet_bytes = session->geometry.packet_bytes;
	uint64_t packets = bytes / packet_bytes + (bytes % packet_bytes != 0);
	int error;

	if (packets < WIRE_RING_PACKETS_MIN)
		packets = WIRE_RING_PACKETS_MIN;
	*resized = (struct resized){ .before = ring_size(&session->rings[0]) * packet_bytes,
				     .after = packets * packet_bytes,
				     .most = session->geometry.ring_packets * packet_bytes };
	if (packets > session->geometry.ring_packets)
		return -E2BIG;
	if (session->device)
		return change_size(session, (uint32_t)packets);
	if (!resize_rings_take_lock(session))
		return -EBUSY;
	error = change_size(session, (uint32_t)packets);
	if (!error) {
		barrier_everywhere();
		free_beyond_all(session, resized);
	}
	lock_drop(&session->shared->resize_lock);
	return error ? -EBUSY : 0;
}
