/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of a command's events; see record_where.h.
 *
 * A rule is for a glob, and the last rule that matches decides. So each glob has one rule, with all conditions that are for it: first the
 * globs of --event, then those of 'GLOB: EXPR', in their order.
 */
#include "cmd/record/record_where.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/selection_options.h"
#include "control/listing.h"
#include "filter/filter_conditions.h"
#include "session/kernel_device.h"

static const char kernel_prefix[] = "kernel.";

/* The bytes of a condition's glob; 0: it has none. */
static size_t where_glob_bytes(const char *condition)
{
	const char *expression = filter_condition_expression(condition);
	const char *colon = expression;

	while (colon > condition && *colon != ':')
		colon--;
	return (size_t)(colon - condition);
}

static bool where_is_for(const char *condition, const char *glob)
{
	const size_t bytes = where_glob_bytes(condition);

	return !bytes || (strlen(glob) == bytes && strncmp(condition, glob, bytes) == 0);
}

int record_where_check(const struct record_where *where)
{
	for (size_t n = 0; n < where->conditions.count; n++) {
		const char *condition = where->conditions.globs[n];
		const char *expression = filter_condition_expression(condition);

		if (view_where_is_wrong(condition, &cmd_where_fault))
			return cmd_where_failed();
		if (!where_glob_bytes(condition) && !where->events)
			return cmd_usage("--where: say of which events: add --event, or write 'GLOB: %s'",
					 expression);
		if (!strncmp(condition, kernel_prefix, sizeof(kernel_prefix) - 1) &&
		    where_glob_bytes(condition))
			return cmd_usage("--where: events of the kernel have --k-where");
	}
	return 0;
}

/* The rule of a glob. Return: 0; -ENOSPC: there is no room for it. */
static int where_add_rule(const struct record_where *where, struct session *session, const char *glob)
{
	const char **chosen = calloc(where->conditions.count + 1, sizeof(*chosen));
	char text[FILTER_CONDITIONS_MAX];
	struct session_rule rule = { .state = WIRE_CONDITIONAL, .level = WIRE_LEVEL_MAX, .where = text };
	size_t count = 0;
	int error = 0;

	if (!chosen)
		abort();
	for (size_t n = 0; n < where->conditions.count; n++)
		if (where_is_for(where->conditions.globs[n], glob))
			chosen[count++] = filter_condition_expression(where->conditions.globs[n]);
	if (count)
		error = filter_conditions_join(chosen, "", text);
	if (count && error >= 0)
		error = session_change_rule(session, glob, &rule);
	if (count && error >= 0)
		session_change_conditions_text(session, &rule);
	free(chosen);
	return error < 0 ? error : 0;
}

static int where_add_rules(const struct record_where *where, struct session *session,
			   const char *const *events)
{
	int error = 0;

	for (size_t n = 0; n < where->events && !error; n++)
		error = where_add_rule(where, session, events[n]);
	for (size_t n = 0; n < where->conditions.count && !error; n++) {
		const size_t bytes = where_glob_bytes(where->conditions.globs[n]);
		char *glob = bytes ? strndup(where->conditions.globs[n], bytes) : NULL;

		if (glob)
			error = where_add_rule(where, session, glob);
		free(glob);
	}
	return error;
}

int record_where_begin(const struct record_where *where, struct session *session, const char *const *events)
{
	int error = where->conditions.count ? session_change_begin(session) : 0;

	if (!where->conditions.count)
		return 0;
	if (!error) {
		error = where_add_rules(where, session, events);
		if (error)
			session_change_cancel(session);
		else
			error = session_change_commit(session);
	}
	return error ? cmd_failed("--where: %s", error == -ENOSPC || error == -E2BIG
							 ? "the conditions are too long for the session"
							 : kernel_device_explain(error))
		     : 0;
}

unsigned record_where_end(const struct record_where *where, struct session *session)
{
	struct listing listing;
	unsigned count = 0;

	if (!where->conditions.count || listing_read(&listing, session) != 0)
		return 0;
	for (unsigned n = 0; n < listing.count; n++) {
		const struct listed_event *event = &listing.events[n];

		if (event->want != WIRE_UNFIT)
			continue;
		cmd_failed("%s: not recorded: --where %s: %s", event->name, event->where, event->why);
		count++;
	}
	listing_free(&listing);
	return count;
}
