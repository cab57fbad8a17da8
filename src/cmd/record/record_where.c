/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of a program's events; see record_where.h.
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

/* Return: the expression of a glob, which the caller frees; "": it has none; NULL: it is too long. */
static char *where_join(const struct record_where *where, const char *glob)
{
	const char **chosen = calloc(where->conditions.count + 1, sizeof(*chosen));
	char text[FILTER_CONDITIONS_MAX] = "";
	size_t count = 0;
	int joined = 0;

	if (!chosen)
		abort();
	for (size_t n = 0; n < where->conditions.count; n++)
		if (where_is_for(where->conditions.globs[n], glob))
			chosen[count++] = filter_condition_expression(where->conditions.globs[n]);
	if (count)
		joined = filter_conditions_join(chosen, "", text);
	free(chosen);
	return joined < 0 ? NULL : strdup(text);
}

bool record_where_has_glob(const char *condition)
{
	return where_glob_bytes(condition) != 0;
}

char *record_where_glob(const char *condition)
{
	const size_t bytes = where_glob_bytes(condition);
	char *glob = bytes ? strndup(condition, bytes) : NULL;

	if (bytes && !glob)
		abort();
	return glob;
}

/* @where: NULL: without a condition */
static int where_add_rule(const struct record_where *where, struct record_rules *rules, size_t *count,
			  char *glob)
{
	if (!glob)
		abort();
	rules->globs[*count] = glob;
	rules->wheres[*count] = where ? where_join(where, glob) : strdup("");
	return rules->wheres[(*count)++] ? 0 : -E2BIG;
}

int record_where_rules(const struct record_where *where, const char *first, const char *const *events,
		       bool rest, struct record_rules *out)
{
	size_t most = where->conditions.count + 2, count = 0;
	int error = 0;

	for (size_t n = 0; events[n]; n++)
		most++;

	*out = (struct record_rules){ calloc(most, sizeof(*out->globs)), calloc(most, sizeof(*out->wheres)) };
	if (!out->globs || !out->wheres)
		abort();
	if (first)
		error = where_add_rule(where, out, &count, strdup(first));
	for (size_t n = 0; n < where->events && !error; n++)
		error = where_add_rule(where, out, &count, strdup(events[n]));
	for (size_t n = where->events; rest && events[n] && !error; n++)
		error = where_add_rule(NULL, out, &count, strdup(events[n]));
	for (size_t n = 0; n < where->conditions.count && !error; n++) {
		char *glob = record_where_glob(where->conditions.globs[n]);

		if (glob)
			error = where_add_rule(where, out, &count, glob);
	}
	return error;
}

void record_rules_free(struct record_rules *rules)
{
	for (size_t n = 0; rules->globs && rules->globs[n]; n++) {
		free((char *)rules->globs[n]);
		free((char *)rules->wheres[n]);
	}
	free(rules->globs);
	free(rules->wheres);
	*rules = (struct record_rules){ 0 };
}

static int where_change_rules(struct session *session, const struct record_rules *rules)
{
	int error = 0;

	for (size_t n = 0; rules->globs[n] && !error; n++) {
		const struct session_rule rule = { .state = *rules->wheres[n] ? WIRE_CONDITIONAL : WIRE_ON,
						   .level = WIRE_LEVEL_MAX,
						   .where = rules->wheres[n] };

		error = session_change_rule(session, rules->globs[n], &rule);
		if (!error)
			session_change_conditions_text(session, &rule);
	}
	return error;
}

int record_where_failed(int error)
{
	return cmd_failed("--where: %s", error == -ENOSPC || error == -E2BIG
						 ? "the conditions are too long for the session"
						 : kernel_device_explain(error));
}

int record_where_begin(const struct record_where *where, struct session *session, const char *const *events)
{
	struct record_rules rules;
	int error;

	if (!where->conditions.count)
		return 0;
	error = record_where_rules(where, NULL, events, false, &rules);
	if (!error)
		error = session_change_begin(session);
	if (!error) {
		error = where_change_rules(session, &rules);
		if (error)
			session_change_cancel(session);
		else
			error = session_change_commit(session);
	}
	record_rules_free(&rules);
	return error ? record_where_failed(error) : 0;
}

unsigned record_where_end(const struct record_where *where, struct session *session,
			  const struct enable_lease *lease)
{
	struct listing listing;
	unsigned count = 0;

	if (!where->conditions.count || listing_read(&listing, session) != 0)
		return 0;
	for (unsigned n = 0; n < listing.count; n++) {
		const struct listed_event *event = &listing.events[n];

		if (event->want != WIRE_UNFIT || (lease && !enable_lease_unfit(lease, event->id)))
			continue;
		cmd_failed("%s: not recorded: --where %s: %s", event->name, event->where, event->why);
		count++;
	}
	listing_free(&listing);
	return count;
}
