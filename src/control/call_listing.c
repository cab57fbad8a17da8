/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of a session; see call_listing.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/call_listing.h"
#include "session/calls/call_arguments.h"
#include "session/calls/call_known.h"
#include "session/calls/call_selection.h"
#include "session/calls/session_calls.h"
#include "session/events/history.h"

static size_t call_listing_bounded(uint32_t count, uint32_t max)
{
	return count < max ? count : max;
}

/* A copy of a text that another process may be changing. */
static char *call_listing_copy_path(const struct session *session, uint32_t offset)
{
	const size_t room = offset < WIRE_CALL_TEXT ? WIRE_CALL_TEXT - offset : 0;

	return strndup(room ? session->calls.text + offset : "",
		       room < WIRE_CALL_PATH_MAX ? room : WIRE_CALL_PATH_MAX);
}

static int read_images(struct call_listing *listing, const struct session *session)
{
	for (size_t n = 0; n < listing->image_count; n++) {
		struct listed_image *image = &listing->images[n];
		struct wire_call_image entry;

		memcpy(&entry, &session->calls.images[n], sizeof(entry));
		image->path = call_listing_copy_path(session, entry.path);
		if (!image->path)
			return -ENOMEM;
		image->build_id_bytes =
			entry.build_id_bytes <= WIRE_CALL_BUILD_ID_MAX ? entry.build_id_bytes : 0;
		memcpy(image->build_id, entry.build_id, sizeof(image->build_id));
	}
	return 0;
}

static void read_function(struct call_listing *listing, const struct session *session, uint32_t number)
{
	const struct session_calls *calls = &session->calls;
	struct wire_call_function entry;
	uint8_t state;

	memcpy(&entry, &calls->functions[number], sizeof(entry));
	state = __atomic_load_n(&calls->switches[number], __ATOMIC_RELAXED) & ~WIRE_CALL_ARGUMENTS;
	listing->functions[number - 1] = (struct listed_function){
		.number = number,
		.image = entry.image <= listing->image_count ? entry.image : 0,
		.offset = entry.offset,
		.count = session_call_count(session, number),
		.state = state < WIRE_CALL_SWITCHES ? state : WIRE_CALL_OFF,
	};
}

static size_t function_count(const struct session *session)
{
	/* Acquire: pairs with the release in session/calls/call_register.c. */
	return call_listing_bounded(__atomic_load_n(&session->calls.header->functions, __ATOMIC_ACQUIRE),
				    session->geometry.functions_max - 1);
}

int call_listing_read(struct call_listing *listing, const struct session *session)
{
	*listing = (struct call_listing){ .count = function_count(session) };
	listing->image_count = call_listing_bounded(
		__atomic_load_n(&session->calls.header->images, __ATOMIC_ACQUIRE), WIRE_CALL_IMAGES_MAX);
	listing->functions = calloc(listing->count + 1, sizeof(*listing->functions));
	listing->images = calloc(listing->image_count + 1, sizeof(*listing->images));
	if (!listing->functions || !listing->images || read_images(listing, session) != 0) {
		call_listing_free(listing);
		return -ENOMEM;
	}
	for (uint32_t number = 1; number <= listing->count; number++)
		read_function(listing, session, number);
	return 0;
}

void call_listing_free(struct call_listing *listing)
{
	for (size_t n = 0; listing->images && n < listing->image_count; n++)
		free(listing->images[n].path);
	free(listing->images);
	free(listing->functions);
	*listing = (struct call_listing){ 0 };
}

const char *call_listing_image(const struct call_listing *listing, const struct listed_function *function)
{
	return function->image ? listing->images[function->image - 1].path : "";
}

/* ---- Changes */

/* Its name as it is, and without parameters. */
static const char *call_listing_nth_name(void *data, unsigned n)
{
	static char bare[CALL_NAME_BARE_MAX];
	const struct listed_function *function = data;

	if (!function->name || n > 1)
		return NULL;
	if (n == 0)
		return function->name;
	return call_selection_bare(bare, function->name) ? bare : NULL;
}

/* Copy a text of the session, which its user may change while it is used. @copy: WIRE_CALL_KNOWN_MAX bytes */
static const char *copy_known(char *copy, const char *text)
{
	if (!text)
		return NULL;
	/* Also without a NUL these bytes are the session's: behind the texts it has segments. */
	memccpy(copy, text, 0, WIRE_CALL_KNOWN_MAX - 1);
	return copy;
}

/* The subject is valid until the next one. */
static struct call_subject call_listing_subject_of(const struct session *session,
						   const struct call_listing *listing,
						   struct listed_function *function)
{
	static char spec[WIRE_CALL_KNOWN_MAX], file[WIRE_CALL_KNOWN_MAX];
	struct call_known known = call_known_find(session, function->image, function->offset);

	known.spec = copy_known(spec, known.spec);
	known.file = function->file ?: copy_known(file, known.file);
	return (struct call_subject){ .image = call_listing_image(listing, function),
				      .offset = function->offset,
				      .known = known,
				      .name = call_listing_nth_name,
				      .data = function };
}

static bool call_listing_is_meant(const struct call_subject *subject, char sign, char *const *words)
{
	char rule[CALL_RULE_MAX];

	for (; *words; words++)
		if (call_selection_parse(rule, sign, *words) && call_selection_matches(rule, subject))
			return true;
	return false;
}

/* Functions of --below stay what they are when they are switched on again. */
static uint8_t new_state(const struct wire_calls *calls, uint8_t before, char sign)
{
	if (sign == '-')
		return WIRE_CALL_OFF;
	if (sign == '#')
		return WIRE_CALL_COUNT;
	if (before == WIRE_CALL_ROOT)
		return before;
	return calls->depth_max || calls->below ? WIRE_CALL_SLOW : WIRE_CALL_ON;
}

/* The rules and limits as they are now: the session's user may change them while they are read. */
static const struct wire_calls *call_listing_copy_rules(const struct session *session)
{
	static struct wire_calls copy;

	memcpy(&copy, session->calls.header, sizeof(copy));
	copy.rules[sizeof(copy.rules) - 1] = 0;
	return &copy;
}

/* Programs evaluate the rules for new functions at any time; the generation shows them that they change. */
static void store_rules(struct wire_calls *calls, const char *rules)
{
	__atomic_fetch_or(&calls->generation, 1, __ATOMIC_SEQ_CST);
	memcpy(calls->rules, rules, sizeof(calls->rules));
	__atomic_fetch_add(&calls->generation, 1, __ATOMIC_SEQ_CST);
}

static int call_listing_change_rules(const struct session *session, char sign, char *const *words)
{
	static char rules[WIRE_CALL_RULES];
	char rule[CALL_RULE_MAX];
	bool room = true;

	memcpy(rules, call_listing_copy_rules(session)->rules, sizeof(rules));
	if (!rules[0]) /* all functions are on; then a rule must say that */
		room = call_selection_add(rules, "+f:*");
	for (; room && *words; words++)
		room = call_selection_parse(rule, sign, *words) && call_selection_add(rules, rule);
	if (!room)
		return -ENOSPC;
	store_rules(session->calls.header, rules);
	return 0;
}

static void add_to_history(struct session *session, char sign, char *const *words, size_t changed)
{
	struct wire_change *change = history_draft(session, WIRE_CHANGE_CALLS);
	char text[WIRE_CHANGE_TEXT] = { sign };

	if (change)
		change->value = changed;
	for (; *words; words++) {
		strncpy(text + 1, *words, sizeof(text) - 2);
		history_text(session, text);
	}
}

static size_t change_switches(const struct session *session, struct call_listing *listing, char sign,
			      char *const *words, size_t *matched)
{
	const struct wire_calls *calls = call_listing_copy_rules(session);
	size_t changed = 0;

	*matched = 0;
	for (size_t n = 0; n < listing->count; n++) {
		struct listed_function *function = &listing->functions[n];
		uint8_t *state = &session->calls.switches[function->number];
		const uint8_t before = __atomic_load_n(state, __ATOMIC_RELAXED) & ~WIRE_CALL_ARGUMENTS;
		const struct call_subject subject = call_listing_subject_of(session, listing, function);

		if (!call_listing_is_meant(&subject, sign, words))
			continue;
		++*matched;
		function->state = new_state(calls, before, sign);
		changed += function->state != before;
		__atomic_store_n(state, call_arguments_state(calls, &subject, function->state),
				 __ATOMIC_RELAXED);
	}
	return changed;
}

/*
 * Whether the listing has all functions after the rules have changed. Either the program sees the new generation, or this sees its
 * function. Pairs with the fence in number_of() (source/calls/functions/call_functions.c).
 */
static int check_complete(const struct session *session, const struct call_listing *listing)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return function_count(session) == listing->count ? 0 : -EAGAIN;
}

int call_change(struct session *session, struct call_listing *listing, char sign, char *const *words,
		size_t *matched)
{
	int error = session_change_begin(session);

	if (error)
		return error;
	error = call_listing_change_rules(session, sign, words) ?: check_complete(session, listing);
	if (error) {
		session_change_cancel(session);
		return error;
	}
	add_to_history(session, sign, words, change_switches(session, listing, sign, words, matched));
	session_change_commit(session);
	return 0;
}

static size_t set_switches(const struct session *session, struct call_listing *listing)
{
	const struct wire_calls *calls = call_listing_copy_rules(session);
	size_t on = 0;

	for (size_t n = 0; n < listing->count; n++) {
		struct listed_function *function = &listing->functions[n];
		const struct call_subject subject = call_listing_subject_of(session, listing, function);

		function->state = call_selection_state(calls, &subject);
		on += function->state != WIRE_CALL_OFF;
		__atomic_store_n(&session->calls.switches[function->number],
				 call_arguments_state(calls, &subject, function->state), __ATOMIC_RELAXED);
	}
	return on;
}

int call_select(struct session *session, struct call_listing *listing, const char *rules, char *const *words,
		size_t *on)
{
	int error = session_change_begin(session);

	if (error)
		return error;
	store_rules(session->calls.header, rules);
	error = check_complete(session, listing);
	if (error) {
		session_change_cancel(session);
		return error;
	}
	*on = set_switches(session, listing);
	add_to_history(session, '+', words, *on);
	session_change_commit(session);
	return 0;
}
