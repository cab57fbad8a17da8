/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The index of the event table; see event_index.h. */
#include <string.h>
#include <sys/mman.h>

#include "base/containers/hash.h"
#include "session/event_index.h"

enum {
	ENTRIES_FEW = 64, /* so many are compared one by one, without memory for an index */
};

struct session_index_slot {
	uint32_t hash, number; /* number 0: free */
};

static uint32_t event_index_text_of(const struct session *session, enum session_index which, uint32_t number)
{
	const struct wire_event *entry = &session->entries[number - 1];

	return which == SESSION_BY_NAME ? entry->name : entry->enums;
}

static bool event_index_is_text(const struct session *session, uint32_t offset, const char *text)
{
	const uint64_t room = session->geometry.text_bytes;

	return offset < room && strncmp(session->text + offset, text, room - offset) == 0;
}

/* The text may change meanwhile, so its length is found once. */
static uint32_t event_index_hash_of(const char *text, size_t bytes)
{
	uint64_t hash = hash_begin();

	for (size_t n = 0; n < bytes; n++)
		hash = hash_byte(hash, ((const volatile char *)text)[n]);
	return (uint32_t)hash_fold(hash);
}

/* At most half of the places are used. */
static uint64_t places_of(const struct session *session)
{
	uint64_t places = 2 * ENTRIES_FEW;

	while (places < 2 * (uint64_t)session->geometry.events_max)
		places *= 2;
	return places;
}

static void event_index_add(const struct session *session, enum session_index which, uint32_t number,
			    uint64_t places)
{
	const uint64_t room = session->geometry.text_bytes;
	const uint32_t offset = event_index_text_of(session, which, number);
	struct session_index_slot *slots = session->indexes[which].slots;
	uint64_t at;

	if (!offset || offset >= room) /* it has no such text */
		return;
	const uint32_t hash =
		event_index_hash_of(session->text + offset, strnlen(session->text + offset, room - offset));

	for (at = hash; slots[at & (places - 1)].number; at++)
		;
	slots[at & (places - 1)] = (struct session_index_slot){ hash, number };
}

/* Add the entries that were registered since, by any process. Return: false: there is no memory for an index. */
static bool event_index_update(struct session *session, enum session_index which, uint32_t count,
			       uint64_t places)
{
	if (!session->indexes[which].slots) {
		void *slots = mmap(NULL, places * sizeof(struct session_index_slot), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (slots == MAP_FAILED)
			return false;
		session->indexes[which].slots = slots;
	}
	while (session->indexes[which].entries < count) {
		event_index_add(session, which, session->indexes[which].entries + 1, places);
		session->indexes[which].entries++;
	}
	return true;
}

static uint32_t find_among(const struct session *session, enum session_index which, const char *text,
			   uint32_t count)
{
	for (uint32_t n = 1; n <= count; n++)
		if (event_index_text_of(session, which, n) &&
		    event_index_is_text(session, event_index_text_of(session, which, n), text))
			return n;
	return 0;
}

uint32_t event_index_find(struct session *session, enum session_index which, const char *text, uint32_t count)
{
	const uint64_t places = places_of(session);
	const uint32_t hash = event_index_hash_of(text, strlen(text));
	const struct session_index_slot *slot;

	if (count <= ENTRIES_FEW || !event_index_update(session, which, count, places))
		return find_among(session, which, text, count);
	for (uint64_t at = hash;; at++) {
		slot = &session->indexes[which].slots[at & (places - 1)];
		if (!slot->number)
			return 0;
		if (slot->hash == hash &&
		    event_index_is_text(session, event_index_text_of(session, which, slot->number), text))
			return slot->number;
	}
}

void event_index_free(struct session *session)
{
	for (unsigned which = 0; which < SESSION_INDEXES; which++)
		if (session->indexes[which].slots)
			munmap(session->indexes[which].slots,
			       places_of(session) * sizeof(struct session_index_slot));
}
