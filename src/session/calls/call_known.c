/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Facts of functions from debug information, in the session; see call_known.h. Also part of libburin-calls.so. */
#include <string.h>

#include "session/calls/call_known.h"

static const struct wire_call_described *call_known_find_file(const struct session *session, uint32_t image)
{
	const struct wire_calls *calls = session->calls.header;
	/* Acquire: the files that it counts are complete. Pairs with the release in auto_arguments.c. */
	const uint32_t count = __atomic_load_n(&calls->described, __ATOMIC_ACQUIRE);
	const struct wire_call_image *file;

	if (image - 1 >= WIRE_CALL_IMAGES_MAX)
		return NULL;
	file = &session->calls.images[image - 1];
	for (uint32_t n = 0; n < count && n < WIRE_CALL_DESCRIBED_MAX; n++)
		if (calls->described_files[n].inode == file->inode &&
		    calls->described_files[n].device == file->device)
			return &calls->described_files[n];
	return NULL;
}

bool call_known_has(const struct session *session, uint32_t image)
{
	return call_known_find_file(session, image) != NULL;
}

/* The search for the end is bounded: a command looks up each function of a session that its user may have filled with anything. */
static const char *call_known_text_at(const struct session *session, uint32_t offset)
{
	const uint64_t bytes = (uint64_t)session->geometry.functions_max * WIRE_CALL_SPEC_TEXT;
	const uint64_t room = offset && offset < bytes ? bytes - offset : 0;
	const char *text = session->calls.spec_text + offset;

	return room && memchr(text, 0, room < WIRE_CALL_KNOWN_MAX ? room : WIRE_CALL_KNOWN_MAX) ? text : NULL;
}

struct call_known call_known_find(const struct session *session, uint32_t image, uint64_t offset)
{
	const uint32_t max = session->geometry.functions_max;
	const struct wire_call_described *file = call_known_find_file(session, image);
	const uint32_t first = file ? __atomic_load_n(&file->first, __ATOMIC_RELAXED) : 0,
		       count = file ? __atomic_load_n(&file->count, __ATOMIC_RELAXED) : 0;
	const struct wire_call_spec *specs = session->calls.specs + first;
	uint32_t from = 0, to = count;

	if (first > max || count > max - first)
		return (struct call_known){ 0 };
	while (from < to) {
		const uint32_t middle = from + (to - from) / 2;

		if (specs[middle].offset < offset)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == count || specs[from].offset != offset)
		return (struct call_known){ 0 };
	return (struct call_known){
		call_known_text_at(session, __atomic_load_n(&specs[from].text, __ATOMIC_RELAXED)),
		call_known_text_at(session, __atomic_load_n(&specs[from].source, __ATOMIC_RELAXED))
	};
}
