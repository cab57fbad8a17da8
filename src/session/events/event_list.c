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

bool session_event_copy(const struct session *session, uint32_t offset, char *out, size_t room)
{
	const uint64_t area = session->geometry.text_bytes;

	for (size_t n = 0; n < room && offset + n < area; n++) {
		out[n] = ((const volatile char *)session->text)[offset + n];
		if (out[n] == 0)
			return true;
	}
	out[0] = 0;
	return false;
}

const char *session_event_text(const struct session *session, uint32_t offset)
{
	const uint64_t room = session->geometry.text_bytes;

	if (offset >= room || strnlen(session->text + offset, room - offset) == room - offset)
		return "?";
	return session->text + offset;
}
