/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The calls area of a session: its functions, and the stacks of open calls (wire/wire_call.h).
 *
 * The functions here take the area's lock. A signal handler that interrupted the lock's owner, its own thread, gets no
 * number, and its call is counted as lost.
 */
#ifndef BURIN_SESSION_CALLS_SESSION_CALLS_H
#define BURIN_SESSION_CALLS_SESSION_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "wire/wire_call.h"

/* An image as its process sees it. */
struct session_call_image {
	const char *path; /* "": memory without a file */
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	uint64_t device, inode; /* 0: none */
};

/*
 * session_call_image - find or add an image.
 * @self: the calling thread
 * Context: any thread, signal handlers. Return: its number, from 1; 0: there is no room, or the lock is taken.
 */
SESSION_SHARED uint32_t session_call_image(struct session *session, const struct session_call_image *image,
					   uint32_t self);

/*
 * session_call_function - find or add a function.
 * @size: of its code in bytes; 0: unknown
 * @state: switch of a new one
 * Context, return: as session_call_image().
 */
SESSION_SHARED uint32_t session_call_function(struct session *session, uint32_t image, uint64_t offset,
					      uint32_t size, uint8_t state, uint32_t self);

/*
 * session_call_counts - counts of calls that are only counted, by function.
 * @part: 0: of threads without restartable sequences, which add atomically; n + 1: of those on CPU n
 */
static inline uint64_t *session_call_counts(const struct session *session, uint32_t part)
{
	return session->calls.counts + (uint64_t)part * session->geometry.functions_max;
}

/* session_call_count - how many calls of a function were counted. @number: at most the count of functions */
uint64_t session_call_count(const struct session *session, uint32_t number);

/* session_call_lose - count calls without a record. Context: any. */
SESSION_SHARED void session_call_lose(const struct session *session, enum wire_call_loss cause,
				      uint64_t count);

/*
 * session_call_segment - add a segment to a stack.
 * @previous: number of the segment before it; 0: this is the first
 * @stack: number of the stack; 0: a new one
 * Context: any thread, signal handlers. Return: its number, from 1; 0: there is no memory, or the lock is taken.
 */
SESSION_SHARED uint32_t session_call_segment(struct session *session, uint32_t pid, uint32_t tid,
					     uint32_t stack, uint32_t depth, uint32_t previous);

/* session_call_stack - a number for a stack that has no segment yet. Context: any. */
SESSION_SHARED uint32_t session_call_stack(const struct session *session);

/* session_call_segment_free - give a stack's segments back, the given one and those that follow it. */
SESSION_SHARED void session_call_segment_free(struct session *session, uint32_t first, uint32_t self);

/* session_call_segment_at - a segment by its number, which must be one of this session's. */
static inline struct wire_call_segment *session_call_segment_at(const struct session *session,
								uint32_t number)
{
	return (struct wire_call_segment *)(session->calls.segments +
					    (uint64_t)(number - 1) * WIRE_CALL_SEGMENT);
}

#endif
