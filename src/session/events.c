/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Registering events.
 *
 * The table is written by whoever holds events_lock (changes.c): text first, then the entry, then the count,
 * which makes the entry exist. An entry that exists is never changed again, but for the note that somebody came
 * with the same name and something else.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "wire/format.h"
#include "session/changes.h"

/* Whether the text at an offset, which may be anything, is this string. */
static bool text_is(const struct session *session, uint32_t offset, const char *string)
{
	uint64_t room = session->geometry.text_bytes;

	return offset < room && strncmp(session->text + offset, string, room - offset) == 0;
}

/* Append a string to the text; 0 if there is no room. A string that is too long loses its beginning or its
 * end. */
static uint32_t add_text(struct session *session, const char *string, size_t max, bool keep_end)
{
	uint32_t at = session->events->text_bytes;
	size_t bytes = strlen(string);

	if (bytes > max) {
		string += keep_end ? bytes - max : 0;
		bytes = max;
	}
	if (at == 0 || at >= session->geometry.text_bytes || session->geometry.text_bytes - at <= bytes)
		return 0;
	if (!session_have_memory(session, session->geometry.text_offset + at, bytes + 1))
		return 0;
	memcpy(session->text + at, string, bytes);
	session->text[at + bytes] = 0;
	session->events->text_bytes = at + (uint32_t)bytes + 1;
	return at;
}

static bool name_is_valid(const char *name)
{
	size_t length = 0;

	for (; name[length]; length++)
		if (!(name[length] >= '0' && name[length] <= '9') &&
		    !((name[length] | 32) >= 'a' && (name[length] | 32) <= 'z') &&
		    !strchr("_.:-", name[length]))
			return false;
	return length >= 1 && length <= WIRE_NAME_MAX;
}

static uint16_t note_refusal(struct session *session, struct wire_event *entry,
			     const struct session_event *event)
{
	uint16_t before = entry->refused;

	if (!text_is(session, entry->refused_file, event->file))
		entry->refused_file = add_text(session, event->file, WIRE_FILE_MAX, true);
	entry->refused_line = event->line;
	entry->refused = (uint16_t)(before == UINT16_MAX ? before : before + 1);
	return 0;
}

/* Memory for an entry's switch and what is wanted of it: had a page at a time. */
static bool have_switch(struct session *session, uint32_t index)
{
	return index % 4096 != 0 ||
	       (session_have_memory(session, session->geometry.switches_offset + index, 1) &&
		session_have_memory(session, session->geometry.wants_offset + index, 1));
}

static uint16_t add_event(struct session *session, const struct session_event *event, uint32_t count)
{
	struct wire_event *entry = &session->entries[count];
	uint64_t offset = (uint64_t)((char *)entry - session->base);
	uint32_t name, format, file;

	if (count >= session->geometry.events_max || !session_have_memory(session, offset, sizeof(*entry)) ||
	    !have_switch(session, count))
		return 0;
	name = add_text(session, event->name, WIRE_NAME_MAX, false);
	format = add_text(session, event->format, WIRE_FORMAT_MAX, false);
	file = add_text(session, event->file, WIRE_FILE_MAX, true);
	if (!name || !format)
		return 0;
	*entry = (struct wire_event){ .types = event->types,
				      .name = name,
				      .format = format,
				      .file = file,
				      .line = event->line,
				      .kind = event->kind,
				      .level = event->level,
				      .pid = plain_pid() };
	changes_new_event(session, count, event->name, event->level);
	/* Release: entry, text and switch are there. Pairs with session_event_count() and drain's look at the table. */
	__atomic_store_n(&session->events->count, count + 1, __ATOMIC_RELEASE);
	return (uint16_t)(count + 1);
}

static uint16_t register_one(struct session *session, const struct session_event *event)
{
	uint32_t count = session_event_count(session);
	struct format format;

	if (!name_is_valid(event->name) || event->kind >= WIRE_KINDS || event->level > WIRE_LEVEL_MAX ||
	    format_parse(event->format, event->types, &format, NULL) != 0)
		return 0;
	for (uint32_t n = 0; n < count; n++) {
		struct wire_event *entry = &session->entries[n];

		if (!text_is(session, entry->name, event->name))
			continue;
		if (entry->types == event->types && entry->kind == event->kind &&
		    text_is(session, entry->format, event->format))
			return (uint16_t)(n + 1);
		return note_refusal(session, entry, event);
	}
	return add_event(session, event, count);
}

int session_event_register(struct session *session, const struct session_event *events, unsigned count,
			   uint16_t *ids)
{
	int error = changes_begin_table(session);

	if (error)
		return error;
	for (unsigned n = 0; n < count; n++)
		ids[n] = register_one(session, &events[n]);
	changes_end_table(session);
	return 0;
}
