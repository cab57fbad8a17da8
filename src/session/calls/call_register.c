/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions and images of a session; see session_calls.h.
 *
 * The owner of the area's lock writes an entry, then the count, which makes it exist, then its place in the index. If it
 * dies before the last store, the next process that asks adds the function once more: two numbers for one function are
 * harmless.
 */
#include <string.h>

#include "session/calls/call_lock.h"
#include "session/calls/session_calls.h"

static bool call_register_have(struct session *session, const void *begin, size_t bytes)
{
	return session_have_memory(session, (uint64_t)((const char *)begin - session->base), bytes);
}

void session_call_lose(const struct session *session, enum wire_call_loss cause, uint64_t count)
{
	__atomic_fetch_add(&session->calls.header->lost[cause], count, __ATOMIC_RELAXED);
}

static bool call_register_is_same(const struct session *session, const struct wire_call_image *entry,
				  const struct session_call_image *image)
{
	const uint32_t path = entry->path;

	return entry->device == image->device && entry->inode == image->inode &&
	       entry->build_id_bytes == image->build_id_bytes &&
	       memcmp(entry->build_id, image->build_id, image->build_id_bytes) == 0 &&
	       path < WIRE_CALL_TEXT &&
	       strncmp(session->calls.text + path, image->path, WIRE_CALL_TEXT - path) == 0;
}

static uint32_t call_register_add_image(struct session *session, const struct session_call_image *image)
{
	const struct session_calls *calls = &session->calls;
	const uint32_t count = calls->header->images, at = calls->header->text_bytes;
	const size_t bytes = strlen(image->path) + 1;
	struct wire_call_image *entry = &calls->images[count];

	if (count >= WIRE_CALL_IMAGES_MAX || at >= WIRE_CALL_TEXT || bytes > WIRE_CALL_TEXT - at ||
	    !call_register_have(session, entry, sizeof(*entry)) ||
	    !call_register_have(session, calls->text + at, bytes))
		return 0;
	memcpy(calls->text + at, image->path, bytes);
	*entry = (struct wire_call_image){ .path = at,
					   .build_id_bytes = image->build_id_bytes,
					   .device = image->device,
					   .inode = image->inode };
	memcpy(entry->build_id, image->build_id, image->build_id_bytes);
	calls->header->text_bytes = at + (uint32_t)bytes;
	/* Release: a reader that sees the count sees the entry. Pairs with the acquire in call_tables.c. */
	__atomic_store_n(&calls->header->images, count + 1, __ATOMIC_RELEASE);
	return count + 1;
}

uint32_t session_call_image(struct session *session, const struct session_call_image *image, uint32_t self)
{
	const struct session_calls *calls = &session->calls;
	uint32_t number = 0;

	if (image->build_id_bytes > WIRE_CALL_BUILD_ID_MAX || !call_lock_take(session, self))
		return 0;
	for (uint32_t n = 0; !number && n < calls->header->images && n < WIRE_CALL_IMAGES_MAX; n++)
		if (call_register_is_same(session, &calls->images[n], image))
			number = n + 1;
	if (!number)
		number = call_register_add_image(session, image);
	call_lock_drop(session);
	return number;
}

/* Where the search in the index begins. All processes of the session must agree, so the secret is the session's own. */
static uint32_t first_place(const struct session *session, uint32_t image, uint64_t offset)
{
	uint64_t hash;

	memcpy(&hash, session->geometry.uuid, sizeof(hash));
	hash = (hash ^ offset) * UINT64_C(0x9e3779b97f4a7c15);
	hash = ((hash ^ hash >> 32) + image) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)(hash >> 32) & session->calls.index_mask;
}

/* Whether the place of the index with @number has this function. */
static bool call_register_is_function(const struct session *session, uint32_t number, uint32_t image,
				      uint64_t offset)
{
	const struct wire_call_function *entry = &session->calls.functions[number];

	return number < session->geometry.functions_max && entry->image == image && entry->offset == offset;
}

/*
 * Memory for a function's counts, one for each CPU. They lie in the same page of their CPU's part as those of the function before,
 * unless it is the first of a page.
 */
static bool have_counts(struct session *session, uint32_t number)
{
	if (number != 1 && number * sizeof(uint64_t) % 4096 != 0)
		return true;
	for (uint32_t part = 0; part <= session->geometry.cpus; part++)
		if (!call_register_have(session, &session_call_counts(session, part)[number],
					sizeof(uint64_t)))
			return false;
	return true;
}

static uint32_t add_function(struct session *session, uint32_t *place, struct wire_call_function function,
			     uint8_t state)
{
	const struct session_calls *calls = &session->calls;
	const uint32_t number = calls->header->functions + 1;

	if (number >= session->geometry.functions_max ||
	    !call_register_have(session, place, sizeof(*place)) ||
	    !call_register_have(session, &calls->functions[number], sizeof(function)) ||
	    !call_register_have(session, &calls->switches[number], 1) || !have_counts(session, number))
		return 0;
	calls->functions[number] = function;
	__atomic_store_n(&calls->switches[number], state, __ATOMIC_RELAXED);
	__atomic_store_n(&calls->header->functions, number, __ATOMIC_RELEASE); /* as for images */
	__atomic_store_n(place, number, __ATOMIC_RELAXED);
	return number;
}

uint32_t session_call_function(struct session *session, uint32_t image, uint64_t offset, uint32_t size,
			       uint8_t state, uint32_t self)
{
	const struct session_calls *calls = &session->calls;
	const uint32_t mask = calls->index_mask;
	uint32_t at = first_place(session, image, offset), number = 0;
	bool known = false;

	if (!call_lock_take(session, self))
		return 0;
	/* The index has twice as many places as there can be functions; the bound is for a damaged one. */
	for (uint32_t n = 0; n <= mask && calls->index[at]; n++) {
		number = calls->index[at];
		known = call_register_is_function(session, number, image, offset);
		if (known)
			break;
		at = (at + 1) & mask;
	}
	if (!known)
		number = calls->index[at]
				 ? 0
				 : add_function(session, &calls->index[at],
						(struct wire_call_function){ image, size, offset }, state);
	call_lock_drop(session);
	return number;
}

uint64_t session_call_count(const struct session *session, uint32_t number)
{
	uint64_t count = 0;

	for (uint32_t part = 0; part <= session->geometry.cpus; part++)
		count += __atomic_load_n(&session_call_counts(session, part)[number], __ATOMIC_RELAXED);
	return count;
}
