/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The segments of stacks; see session_calls.h.
 *
 * A segment is in one of these states:
 *
 *	unused	its number is above header->segments: it may have no memory yet
 *	free	tid 0, and in the list that begins at header->free
 *	in use	tid is not 0: it belongs to a thread, or with stack WIRE_CALL_VALUES_STACK to a process
 *
 * Segments change their state under header->lock, whose owner may die at any instruction, and another thread then
 * takes the lock over (ring/lock.h). So the order of stores matters: a taken segment gets its tid last, one that is
 * put back loses it first. A death in between makes a segment, or the rest of a list, useless to later threads; it
 * damages no call.
 *
 * While a segment is in use, its thread changes the frames without the lock. A reader takes no lock either: it copies
 * heads and frames, and checks them (drain/calls/call_tables.c). The release of tid pairs with its acquire.
 *
 * A thread that ends gives its segments back. Threads that end otherwise leave theirs. When there is no free segment,
 * those of dead threads of the same process are taken; then those of dead processes, whose open calls are lost and
 * counted.
 *
 * Numbers and lists are shared memory, which any process of the user can write. is_segment() checks a number before
 * it becomes an address, and each walk through a list ends after as many steps as there are segments: a forged list
 * may be a circle.
 */
#include <string.h>

#include "session/calls/call_lock.h"
#include "session/calls/session_calls.h"

static bool is_segment(const struct session *session, uint64_t number)
{
	return number - 1 < session->calls.header->segments && number <= session->geometry.call_segments;
}

static void call_stacks_put_back(struct session *session, uint32_t number)
{
	struct wire_calls *header = session->calls.header;
	struct wire_call_segment *segment = session_call_segment_at(session, number);

	/* The frames first: a reader takes a segment without a thread for free, whatever is in it. */
	__atomic_store_n(&segment->tid, 0, __ATOMIC_RELEASE);
	memset(segment + 1, 0, WIRE_CALL_SEGMENT - sizeof(*segment));
	*segment = (struct wire_call_segment){ .next = header->free };
	header->free = number;
}

/* Under the lock. Bounded: the list may be damaged. */
static void put_back_list(struct session *session, uint64_t first)
{
	for (uint32_t n = 0; is_segment(session, first) && n < session->geometry.call_segments; n++) {
		const uint64_t next = session_call_segment_at(session, (uint32_t)first)->next;

		if (session_call_segment_at(session, (uint32_t)first)->tid == 0)
			return;
		call_stacks_put_back(session, (uint32_t)first);
		first = next;
	}
}

/* Calls that were open in a list of segments. Bounded: the list may be damaged. */
static uint64_t count_open(const struct session *session, uint64_t number)
{
	uint64_t open = 0;

	if (session_call_segment_at(session, (uint32_t)number)->stack == WIRE_CALL_VALUES_STACK)
		return 0;

	for (uint32_t n = 0; is_segment(session, number) && n < session->geometry.call_segments; n++) {
		const struct wire_call_segment *segment = session_call_segment_at(session, (uint32_t)number);
		const struct wire_call_frame *frames = (const struct wire_call_frame *)segment + 1;

		for (unsigned at = 0; at < WIRE_CALL_FRAMES; at++)
			open += frames[at].start != 0;
		number = segment->next;
	}
	return open;
}

/* Take the segments of processes that have died. Their open calls will not be in the trace. */
static void collect_processes(struct session *session)
{
	for (uint32_t number = 1; is_segment(session, number); number++) {
		const struct wire_call_segment *segment = session_call_segment_at(session, number);

		if (!segment->tid || segment->previous || !ring_owner_is_dead(segment->pid))
			continue;
		session_call_lose(session, WIRE_CALL_LOST_OPEN, count_open(session, number));
		put_back_list(session, number);
	}
}

/*
 * Take the segments of a process's dead threads, but not those with arguments, which belong to the process. A killed process
 * keeps its own: they show where it was.
 */
static void call_stacks_collect(struct session *session, uint32_t pid)
{
	for (uint32_t number = 1; is_segment(session, number); number++) {
		const struct wire_call_segment *segment = session_call_segment_at(session, number);

		if (segment->tid && segment->pid == pid && !segment->previous &&
		    segment->stack != WIRE_CALL_VALUES_STACK && session_thread_is_gone(segment->tid))
			put_back_list(session, number);
	}
}

static uint32_t call_stacks_take(struct session *session)
{
	struct wire_calls *header = session->calls.header;
	const uint32_t number = header->free;

	if (is_segment(session, number)) {
		header->free = (uint32_t)session_call_segment_at(session, number)->next;
		return number;
	}
	if (header->segments >= session->geometry.call_segments ||
	    !session_have_memory(session,
				 (uint64_t)((char *)session_call_segment_at(session, header->segments + 1) -
					    session->base),
				 WIRE_CALL_SEGMENT))
		return 0;
	return ++header->segments;
}

uint32_t session_call_stack(const struct session *session)
{
	return __atomic_add_fetch(&session->calls.header->stacks, 1, __ATOMIC_RELAXED);
}

uint32_t session_call_segment(struct session *session, uint32_t pid, uint32_t tid, uint32_t stack,
			      uint32_t depth, uint32_t previous)
{
	struct wire_call_segment *segment;
	uint32_t number;

	if (!call_lock_take(session, tid))
		return 0;
	number = call_stacks_take(session);
	if (!number) {
		call_stacks_collect(session, pid);
		number = call_stacks_take(session);
	}
	if (!number) {
		collect_processes(session);
		number = call_stacks_take(session);
	}
	if (number) {
		segment = session_call_segment_at(session, number);
		*segment = (struct wire_call_segment){ .pid = pid,
						       .stack = stack ? stack : session_call_stack(session),
						       .depth = depth,
						       .previous = previous };
		if (is_segment(session, previous))
			session_call_segment_at(session, previous)->next = number;
		/* Release: a reader that sees the thread sees the rest of the head. */
		__atomic_store_n(&segment->tid, tid, __ATOMIC_RELEASE);
	}
	call_lock_drop(session);
	return number;
}

void session_call_segment_free(struct session *session, uint32_t first, uint32_t self)
{
	if (!call_lock_take(session, self))
		return;
	if (is_segment(session, session_call_segment_at(session, first)->previous))
		session_call_segment_at(session, (uint32_t)session_call_segment_at(session, first)->previous)
			->next = 0;
	put_back_list(session, first);
	call_lock_drop(session);
}
