/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading the event table, which other processes may damage. */
#include <string.h>

#include "session/session.h"

uint32_t session_event_count(const struct session *session)
{
	/* Acquire: entry, text and switch are complete. Pairs with the release in add_event(). */
	uint32_t count = __atomic_load_n(&session->events->count, __ATOMIC_ACQUIRE);

	return count < session->geometry.events_max ? count : session->geometry.events_max;
}

const char *session_event_text(const struct session *session, uint32_t offset)
{
	const uint64_t room = session->geometry.text_bytes;

	if (offset >= room || strnlen(session->text + offset, room - offset) == room - offset)
		return "?";
	return session->text + offset;
}
