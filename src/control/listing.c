/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Listing the events of a session; see listing.h. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/listing.h"
#include "session/events/event_condition.h"
#include "wire/wire_enum.h"
#include "wire/wire_filter.h"

enum {
	LISTING_TRIES = 100,
	LISTING_STRING_MAX = WIRE_FORMAT_MAX,
};

/* Append a string to the listing's text, which has room for it. */
static const char *listing_keep(struct listing *listing, size_t *used, const char *string)
{
	size_t bytes = strnlen(string, LISTING_STRING_MAX);
	char *at = listing->text + *used;

	memcpy(at, string, bytes);
	at[bytes] = 0;
	*used += bytes + 1;
	return at;
}

/* Append a string of the event table, "?" if it is not valid. */
static const char *listing_keep_text(struct listing *listing, size_t *used, const struct session *session,
				     uint32_t offset, size_t max)
{
	char *at = listing->text + *used;

	if (!session_event_copy(session, offset, at, max + 1))
		return listing_keep(listing, used, "?");
	*used += strlen(at) + 1;
	return at;
}

/* The filter's text lies behind its program. Other processes may have damaged both. */
static const char *filter_text(const struct session *session, uint32_t offset)
{
	const uint64_t room = session->geometry.filters_bytes;
	const char *area = session->filters;
	uint64_t at;

	if (offset < WIRE_FILTERS_FIRST || offset > room - sizeof(struct wire_filter))
		return "";
	at = offset + number_load16(area + offset + offsetof(struct wire_filter, bytes));
	return at < room && strnlen(area + at, room - at) < room - at ? area + at : "";
}

static void copy_event(struct listing *listing, const struct session *session, uint32_t index, size_t *used)
{
	const struct wire_event entry = session->entries[index];
	struct listed_event *event = &listing->events[index];

	*event = (struct listed_event){
		.id = (uint16_t)(index + 1),
		.kind = entry.kind,
		.level = entry.level,
		.want = session->desired[index],
		.refused = entry.refused,
		.line = entry.line,
		.refused_line = entry.refused_line,
		.pid = entry.pid,
		.types = entry.types,
		.name = listing_keep_text(listing, used, session, entry.name, WIRE_NAME_MAX),
		.format = listing_keep_text(listing, used, session, entry.format, WIRE_FORMAT_MAX),
		.file = listing_keep_text(listing, used, session, entry.file, WIRE_FILE_MAX),
		.refused_file = listing_keep_text(listing, used, session,
						  entry.refused ? entry.refused_file : 0, WIRE_FILE_MAX),
		.enums = listing_keep_text(listing, used, session, entry.enums, WIRE_ENUMS_MAX),
		.where = "",
		.why = "",
	};
	if (!wire_enum_valid(event->enums))
		event->enums = "";
	if (event->want == WIRE_UNFIT) {
		struct event_unfit unfit;

		event_unfit_explain(session, index, &unfit);
		event->where = listing_keep(listing, used, unfit.where);
		event->why = listing_keep(listing, used, unfit.why);
	}
	if (event->want == WIRE_CONDITIONAL) {
		event->check = session->conditions[index];
		event->where = listing_keep(listing, used, filter_text(session, event->check.filter));
	}
}

static void copy_events(struct listing *listing, const struct session *session)
{
	size_t used = 0;

	for (uint32_t n = 0; n < listing->count; n++)
		copy_event(listing, session, n, &used);
	listing->paused = session->shared->paused != 0;
}

/* Return: whether there was no change during the copy. */
static bool copy_undisturbed(struct listing *listing, const struct session *session)
{
	const uint32_t *changes = &session->shared->changes;
	uint32_t before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);

	copy_events(listing, session);
	/* The copy is finished before the second load. Pairs with the fence in session_change_commit(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(before & 1) && __atomic_load_n(changes, __ATOMIC_RELAXED) == before;
}

int listing_read(struct listing *listing, struct session *session)
{
	const uint32_t count = session_event_count(session);

	*listing = (struct listing){ .count = count };
	listing->events = calloc(count + 1, sizeof(*listing->events));
	listing->text = malloc((size_t)(count + 1) * (6 * (LISTING_STRING_MAX + 1) + WIRE_ENUMS_MAX + 1));
	if (!listing->events || !listing->text) {
		listing_free(listing);
		return -ENOMEM;
	}
	for (unsigned tries = 0; tries < LISTING_TRIES; tries++) {
		if (copy_undisturbed(listing, session))
			return 0;
		sched_yield();
	}
	if (session->looked) {
		listing_free(listing);
		return -EBUSY;
	}
	/* A process died during a change: taking the lock completes the change. */
	if (session_change_begin(session) == 0) {
		copy_events(listing, session);
		session_change_cancel(session);
	}
	return 0;
}

void listing_free(struct listing *listing)
{
	free(listing->events);
	free(listing->text);
	*listing = (struct listing){ 0 };
}
