/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Register events.
 *
 * The owner of events_lock (transaction.c) writes the table: text first, then the entry, then the count, which makes the
 * entry exist. An existing entry never changes, except for the count and place of refused registrations.
 */
#include <errno.h>
#include <string.h>

#include "base/nolibc.h"
#include "wire/wire_enum.h"
#include "wire/wire_format.h"
#include "session/event_index.h"
#include "session/events/transaction.h"

static const char no_room[] = "there is no room for another event in the session";

/* Whether the text at an offset is this string. The offset is not trusted. */
static bool text_is(const struct session *session, uint32_t offset, const char *string)
{
	uint64_t room = session->geometry.text_bytes;

	return offset < room && strncmp(session->text + offset, string, room - offset) == 0;
}

/* Append a string to the text; 0: there is no room. A string that is too long loses its end, or with @keep_end its
 * beginning. */
static uint32_t event_register_add_text(struct session *session, const char *string, size_t max,
					bool keep_end)
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
		entry->refused_file = event_register_add_text(session, event->file, WIRE_FILE_MAX, true);
	entry->refused_line = event->line;
	entry->refused = (uint16_t)(before == UINT16_MAX ? before : before + 1);
	return 0;
}

/* Allocate memory for an entry's switch and desired state, a page at a time. */
static bool have_switch(struct session *session, uint32_t index)
{
	return index % 4096 != 0 ||
	       (session_have_memory(session, session->geometry.switches_offset + index, 1) &&
		session_have_memory(session, session->geometry.desired_offset + index, 1));
}

/* The text of enums, which many events may share; 0: there is no room. */
static uint32_t event_register_add_enums(struct session *session, const char *enums, uint32_t count)
{
	const uint32_t before = event_index_find(session, SESSION_BY_ENUMS, enums, count);

	return before ? session->entries[before - 1].enums
		      : event_register_add_text(session, enums, WIRE_ENUMS_MAX, false);
}

static uint16_t event_register_add_event(struct session *session, const struct session_event *event,
					 uint32_t count)
{
	struct wire_event *entry = &session->entries[count];
	uint64_t offset = (uint64_t)((char *)entry - session->base);
	uint32_t name, format, file, enums;

	if (count >= session->geometry.events_max || !session_have_memory(session, offset, sizeof(*entry)) ||
	    !have_switch(session, count))
		return 0;
	name = event_register_add_text(session, event->name, WIRE_NAME_MAX, false);
	format = event_register_add_text(session, event->format, WIRE_FORMAT_MAX, false);
	file = event_register_add_text(session, event->file, WIRE_FILE_MAX, true);
	enums = event->enums ? event_register_add_enums(session, event->enums, count) : 0;
	if (!name || !format || (event->enums && !enums))
		return 0;
	*entry = (struct wire_event){ .types = event->types,
				      .name = name,
				      .format = format,
				      .file = file,
				      .line = event->line,
				      .kind = event->kind,
				      .level = event->level,
				      .pid = nolibc_pid(),
				      .enums = enums };
	transaction_new_event(session, count, event);
	/* Release: entry, text and switch are complete. Pairs with session_event_count() and the drain's load. */
	__atomic_store_n(&session->events->count, count + 1, __ATOMIC_RELEASE);
	return (uint16_t)(count + 1);
}

/* Why an event is not valid by itself; NULL if it is. */
static const char *fault_of(const struct session_event *event)
{
	struct format format;
	const char *why = NULL;

	if (!name_is_valid(event->name))
		return "its name is not 1 to 127 letters, digits and _ . : -";
	if (event->kind >= WIRE_KINDS || event->level > WIRE_LEVEL_MAX)
		return "its kind or level is unknown";
	if (event->enums && !wire_enum_valid(event->enums))
		return "an enum has a label that is not 1 to 63 letters, digits and _ . : -, or is too long";
	if (format_parse(event->format, event->types, &format, &why))
		return why;
	return wire_has_span_id(event->kind) && !format_has_span_id(&format)
		       ? "the first field of a span with an id is not span_id"
		       : NULL;
}

/* The earlier refusal of the same event at the same line, if there is one. */
static struct wire_refusal *find_refusal(struct session *session, const struct session_event *event)
{
	struct wire_session *shared = session->shared;

	for (uint32_t n = 0; n < shared->refusals && n < WIRE_REFUSALS_MAX; n++) {
		struct wire_refusal *refusal = &shared->refused[n];

		if (refusal->line == event->line && text_is(session, refusal->name, event->name) &&
		    text_is(session, refusal->file, event->file))
			return refusal;
	}
	return NULL;
}

/* Note an event that gets no id, so that it is listed. */
static uint16_t event_register_refuse(struct session *session, const struct session_event *event,
				      const char *why)
{
	struct wire_session *shared = session->shared;
	struct wire_refusal *refusal = find_refusal(session, event);
	const uint32_t index = shared->refusals;

	if (!refusal) {
		shared->refusals = index == UINT32_MAX ? index : index + 1;
		if (index >= WIRE_REFUSALS_MAX)
			return 0;
		refusal = &shared->refused[index];
		/* One byte more than allowed, which shows that the name is too long. */
		*refusal = (struct wire_refusal){
			.name = event_register_add_text(session, event->name, WIRE_NAME_MAX + 1, false),
			.format = event_register_add_text(session, event->format, WIRE_FORMAT_MAX, false),
			.file = event_register_add_text(session, event->file, WIRE_FILE_MAX, true),
			.why = event_register_add_text(session, why, WIRE_FILE_MAX, false),
			.line = event->line,
		};
	}
	refusal->pid = nolibc_pid();
	refusal->times++;
	return 0;
}

/* Whether an entry, which has the name of an event, is that event. */
static bool event_register_is_same(const struct session *session, const struct wire_event *entry,
				   const struct session_event *event)
{
	return entry->types == event->types && entry->kind == event->kind &&
	       text_is(session, entry->format, event->format) &&
	       text_is(session, entry->enums, event->enums ? event->enums : "");
}

static uint16_t register_one(struct session *session, const struct session_event *event)
{
	uint32_t count = session_event_count(session);
	const char *why = fault_of(event);
	uint32_t before;
	uint16_t id;

	if (why)
		return event_register_refuse(session, event, why);
	before = event_index_find(session, SESSION_BY_NAME, event->name, count);
	if (before) {
		struct wire_event *entry = &session->entries[before - 1];

		return event_register_is_same(session, entry, event) ? (uint16_t)before
								     : note_refusal(session, entry, event);
	}
	id = event_register_add_event(session, event, count);
	return id ? id : event_register_refuse(session, event, no_room);
}

const char *session_event_fault(const struct session *session, const struct session_event *event)
{
	const char *why = fault_of(event);

	for (uint32_t n = 0; !why && n < session_event_count(session); n++)
		if (text_is(session, session->entries[n].name, event->name))
			why = "the name is taken by an event with another format or kind";
	return why ? why : no_room;
}

bool session_event_is_taken(struct session *session, const struct session_event *event)
{
	const int error = transaction_begin_table(session);
	uint32_t before;
	bool taken;

	if (error)
		return false;
	before = event_index_find(session, SESSION_BY_NAME, event->name, session_event_count(session));
	taken = before && !event_register_is_same(session, &session->entries[before - 1], event);
	transaction_end_table(session);
	return taken;
}

int session_event_register(struct session *session, const struct session_event *events, unsigned count,
			   uint16_t *ids)
{
	int error = transaction_begin_table(session);

	if (error)
		return error;
	for (unsigned n = 0; n < count; n++)
		ids[n] = register_one(session, &events[n]);
	transaction_end_table(session);
	return 0;
}
