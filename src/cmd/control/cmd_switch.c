/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin enable, disable, pause, resume: change the states of events of a running program.
 *
 * All errors are found before the first change. Then all events change in one transaction, which a listing sees as a
 * whole or not at all, even if this command is killed (session/events/transaction.c).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target_argument.h"
#include "cmd/unknown_events.h"
#include "control/listing.h"
#include "filter/filter.h"
#include "filter/filter_entry.h"
#include "session/events/event_condition.h"

struct request {
	bool on;
	const char *where;
	uint32_t sample, limit;
	unsigned level;
	bool later; /* also names that no event has yet */
	bool quiet;
	char **globs;
};

static bool is_conditional(const struct request *request)
{
	return request->where || request->sample > 1 || request->limit;
}

static enum wire_switch state_of(const struct request *request)
{
	return !request->on ? WIRE_OFF : is_conditional(request) ? WIRE_CONDITIONAL : WIRE_ON;
}

static bool cmd_switch_is_selected(const struct request *request, const struct listed_event *event)
{
	if (request->on && event->level > request->level)
		return false;
	for (char **glob = request->globs; *glob; glob++)
		if (glob_match(*glob, event->name))
			return true;
	return false;
}

/* @event: its name; "": of any event. Return: CMD_USAGE. */
static int blame_filter(const struct request *request, const char *event, const struct filter_error *fault)
{
	cmd_failed("%s%s%s", event, *event ? ": " : "", fault->message);
	filter_error_print(stderr, request->where, fault);
	return CMD_USAGE;
}

/* @in_kernel: burin.ko runs the filter. Return: 0 or CMD_USAGE. */
static int cmd_switch_compile(const struct request *request, bool in_kernel, const struct listed_event *event,
			      struct filter_entry *compiled)
{
	struct filter_error fault;
	unsigned unknown;

	if (filter_entry_make(compiled, request->where, event->format, event->enums, event->types, &fault) !=
	    0)
		return blame_filter(request, event->name, &fault);
	unknown = in_kernel ? event_condition_lacks(compiled) : 0;
	if (!unknown)
		return 0;
	return cmd_usage("%s: events of the kernel have no %s; use pid or thread", event->name,
			 filter_fact_name(unknown));
}

/* Compile the filter for each selected event: their fields differ. Return: 0 or CMD_USAGE. */
static int compile_all(const struct request *request, bool in_kernel, const struct listing *listing,
		       struct filter_entry *filters)
{
	struct filter_error fault;
	bool matched = false;

	if (!request->where)
		return 0;
	for (unsigned n = 0; n < listing->count; n++) {
		if (!cmd_switch_is_selected(request, &listing->events[n]))
			continue;
		if (cmd_switch_compile(request, in_kernel, &listing->events[n], &filters[n]) != 0)
			return CMD_USAGE;
		matched = true;
	}
	/* Without an event only the form of the expression can be checked. */
	return matched || filter_check(request->where, &fault) == 0 ? 0 : blame_filter(request, "", &fault);
}

/* For events that register later. */
static int cmd_switch_change_rules(const struct request *request, struct session *session, const char *target)
{
	const struct session_rule rule = { .state = state_of(request),
					   .level = request->level,
					   .sample = request->sample,
					   .limit = request->limit,
					   .where = request->where ? request->where : "" };

	for (char **glob = request->globs; *glob; glob++)
		if (session_change_rule(session, *glob, &rule) != 0)
			return cmd_failed("%s: no room for another glob in the session; use wider globs",
					  target);
	session_change_conditions_text(session, &rule);
	return 0;
}

static int change_event(const struct request *request, struct session *session,
			const struct listed_event *event, const struct filter_entry *filter,
			const char *target)
{
	struct wire_condition condition = { .sample = request->sample, .limit = request->limit };

	if (filter->size) {
		condition.filter = session_filter_add(session, filter->bytes, filter->size);
		if (!condition.filter)
			return cmd_failed("%s: no room for another filter in the session", target);
	}
	if (session_change(session, event->id, state_of(request),
			   is_conditional(request) ? &condition : NULL) != 0)
		return cmd_failed("%s: no memory for the condition; is /dev/shm full?", target);
	return 0;
}

static int change_all(const struct request *request, struct session *session, const struct listing *listing,
		      const struct filter_entry *filters, const char *target)
{
	int result = cmd_switch_change_rules(request, session, target);

	for (unsigned n = 0; !result && n < listing->count; n++)
		if (cmd_switch_is_selected(request, &listing->events[n]))
			result = change_event(request, session, &listing->events[n], &filters[n], target);
	return result;
}

static int begin_change(struct session *session, const char *target)
{
	int error = session_change_begin(session);

	return error ? cmd_failed("%s: another command has been changing events for a second; try again",
				  target)
		     : 0;
}

enum {
	APPLY_TRIES = 100,
	APPLY_AGAIN = -1, /* events were registered after the listing, and have no compiled filter */
};

static int cmd_switch_commit(struct session *session, const char *target)
{
	const int error = session_change_commit(session);

	return error == -EAGAIN ? APPLY_AGAIN : cmd_target_uncommitted(target, error);
}

static int try_to_apply(const struct request *request, struct session *session, const char *target)
{
	struct filter_entry *filters;
	struct listing listing;
	unsigned matching = 0;
	char count[TEXT_SHORT];
	int result = 0;

	if (listing_read(&listing, session) != 0)
		return cmd_failed("out of memory");
	if (!request->later &&
	    unknown_events(&listing, (const char *const *)request->globs, target, "give --later")) {
		listing_free(&listing);
		return CMD_USAGE;
	}
	filters = calloc(listing.count + 1, sizeof(*filters));
	for (unsigned n = 0; n < listing.count; n++)
		matching += cmd_switch_is_selected(request, &listing.events[n]);
	if (!filters)
		result = cmd_failed("out of memory");
	else
		result = compile_all(request, session->device, &listing, filters);
	if (!result)
		result = begin_change(session, target);
	if (!result) {
		result = session_event_count(session) != listing.count
				 ? APPLY_AGAIN
				 : change_all(request, session, &listing, filters, target);
		if (result)
			session_change_cancel(session);
		else
			result = cmd_switch_commit(session, target);
	}
	if (!result && !request->quiet)
		cmd_note("burin: %s event%s %s; also those that match later\n", text_count(count, matching),
			 text_plural(matching), request->on ? "on" : "off");
	free(filters);
	listing_free(&listing);
	return result;
}

static int cmd_switch_apply(const struct request *request, struct session *session, const char *target)
{
	int result = APPLY_AGAIN;

	for (unsigned tries = 0; result == APPLY_AGAIN && tries < APPLY_TRIES; tries++)
		result = try_to_apply(request, session, target);
	return result == APPLY_AGAIN ? cmd_failed("%s: cannot change its events, since it registers new ones "
						  "all the time; try again",
						  target)
				     : result;
}

static struct request request = { .level = WIRE_LEVEL_MAX };

#define LATER_HELP \
	"accept names that no event has yet; a GLOB with a wildcard holds for later events in any case"

static const struct cmd_option enable_table[] = {
	OPTION_TEXT("-w, --where EXPR", &request.where,
		    "record only if EXPR is true of the arguments, such as\n'len > 1000 && proto == "
		    "\"tcp\"'; see burin-enable(1)"),
	OPTION_NUMBER("--sample N", &request.sample, 1, UINT32_MAX, "of these, record every N-th"),
	OPTION_NUMBER("--limit N", &request.limit, 1, UINT32_MAX, "of these, record at most N a second"),
	OPTION_NUMBER("--level N", &request.level, 0, WIRE_LEVEL_MAX,
		      "only events of level N or less, 0 to 9 (default: 9)"),
	OPTION_FLAG("--later", &request.later, LATER_HELP),
	OPTION_FLAG("-q, --quiet", &request.quiet, "do not print how many events changed"),
	{ 0 },
};

static const struct cmd_option disable_table[] = {
	OPTION_FLAG("--later", &request.later, LATER_HELP),
	OPTION_FLAG("-q, --quiet", &request.quiet, "do not print how many events changed"),
	{ 0 },
};

/* For scripts that give it to each command that changes something. */
static const struct cmd_option pause_table[] = {
	OPTION_FLAG("-q, --quiet", &request.quiet, "print nothing, as without it"),
	{ 0 },
};

static int cmd_switch_run(char **operands)
{
	struct session session;
	struct target target;
	int result = cmd_target_change(operands[0], &target, &session);

	if (result)
		return result;
	request.globs = operands + 1;
	result = cmd_target_globs(&target, (const char **)request.globs);
	if (!result)
		result = cmd_switch_apply(&request, &session, operands[0]);
	return cmd_target_leave(target.path, &session, result);
}

static int cmd_switch_enable(char **operands)
{
	request.on = true;
	return cmd_switch_run(operands);
}

static int cmd_switch_disable(char **operands)
{
	return cmd_switch_run(operands);
}

static int pause_or_resume(char **operands, bool paused)
{
	struct session session;
	struct target target;
	int result = cmd_target_change(operands[0], &target, &session);

	if (result)
		return result;
	result = begin_change(&session, operands[0]);
	if (!result) {
		session_change_paused(&session, paused);
		result = cmd_target_uncommitted(operands[0], session_change_commit(&session));
	}
	return cmd_target_leave(target.path, &session, result);
}

static int pause_events(char **operands)
{
	return pause_or_resume(operands, true);
}

static int resume_events(char **operands)
{
	return pause_or_resume(operands, false);
}

const struct cmd cmd_enable = {
	.name = "enable",
	.line = "switch events on, with filters, sampling and rate limits",
	.usage = "Usage: burin enable [options] TARGET GLOB...\n"
		 "\n"
		 "Switch on the events of a running program whose names match, at once, and also those\n"
		 "that it registers later. TARGET is a pid, a program's name, a session's path or kernel; "
		 "see\n"
		 "burin ls. A GLOB without a wildcard is the name of an event that there is.\n",
	.notes = "Each call replaces --where, --sample and --limit of the events that match. If EXPR does\n"
		 "not apply to an event that is registered later, the event stays off; burin events\n"
		 "prints the reason.\n"
		 "\n"
		 "Exit code: 0; 1 if it failed; 2 if nothing was changed: no such TARGET or event, the\n"
		 "program has ended, or EXPR is wrong.\n",
	.options = enable_table,
	.operands = { 2,
		      INT_MAX,
		      "give a TARGET and the names of events, such as: burin enable server 'http.*'",
		      { CMD_IS_TARGET, CMD_IS_EVENT } },
	.main = cmd_switch_enable,
};

const struct cmd cmd_disable = {
	.name = "disable",
	.line = "switch events off",
	.usage = "Usage: burin disable [options] TARGET GLOB...\n"
		 "\n"
		 "Switch off the events of a running program whose names match, and those that it\n"
		 "registers later.\n",
	.notes = "Exit code: 0; 1 if it failed; 2 if there is no such TARGET, or the program has ended.\n",
	.options = disable_table,
	.operands = { 2,
		      INT_MAX,
		      "give a TARGET and the names of events, such as: burin disable server 'http.*'",
		      { CMD_IS_TARGET, CMD_IS_EVENT } },
	.main = cmd_switch_disable,
};

const struct cmd cmd_pause = {
	.name = "pause",
	.line = "switch all events off and keep the records in the buffers",
	.usage = "Usage: burin pause [options] TARGET\n"
		 "\n"
		 "Switch all events off until burin resume, and keep the records in the buffers. The state\n"
		 "of each event is kept, and can be changed while tracing is paused.\n",
	.notes = "Exit code: 0; 1 if it failed; 2 if there is no such TARGET, or the program has ended.\n",
	.options = pause_table,
	.operands = CMD_ONE_TARGET,
	.main = pause_events,
};

const struct cmd cmd_resume = {
	.name = "resume",
	.line = "restore the state of all events after pause",
	.usage = "Usage: burin resume [options] TARGET\n"
		 "\n"
		 "Restore the state of each event, after burin pause.\n",
	.notes = "Exit code: 0; 1 if it failed; 2 if there is no such TARGET, or the program has ended.\n",
	.options = pause_table,
	.operands = CMD_ONE_TARGET,
	.main = resume_events,
};
