/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin calls: list the functions of a session whose calls are recorded, and switch them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/control/listing_names.h"
#include "cmd/target_argument.h"
#include "control/listing.h"
#include "control/running/process_change.h"
#include "session/calls/call_selection.h"
#include "view/buffer.h"
#include "view/json.h"

static bool as_json, quiet;

static const struct cmd_option table[] = {
	OPTION_FLAG("-j, --json", &as_json, "list as one JSON object per line"),
	OPTION_FLAG("-q, --quiet", &quiet, "do not print how many functions changed"),
	{ 0 },
};

/* The words of the changes, and the sign of their rules. */
static const struct {
	const char *word, *past;
	char sign;
} changes[] = { { "enable", "on", '+' }, { "disable", "off", '-' }, { "count", "counted", '#' } };

/* Depth and callers are options of the recording, so a function for which they decide is on. */
static const char *const states[WIRE_CALL_SWITCHES] = { [WIRE_CALL_OFF] = "off",
							[WIRE_CALL_ON] = "on",
							[WIRE_CALL_COUNT] = "count",
							[WIRE_CALL_SLOW] = "on",
							[WIRE_CALL_ROOT] = "on" };

static void cmd_calls_print_json(const struct call_listing *listing, const struct listed_function *function,
				 struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 0);
	json_u64(&json, "number", function->number);
	json_text(&json, "function", function->name);
	json_text(&json, "file", function->file);
	json_text(&json, "image", call_listing_image(listing, function));
	json_u64(&json, "offset", function->offset);
	json_text(&json, "state", states[function->state]);
	json_u64(&json, "counted", function->count);
	json_end(&json);
}

static void cmd_calls_print_text(const struct call_listing *listing, const struct listed_function *function,
				 struct view_buffer *out)
{
	const char *path = call_listing_image(listing, function), *slash = strrchr(path, '/');
	char count[TEXT_SHORT];

	view_buffer_print(out, "%-6s %11s  ", states[function->state], text_count(count, function->count));
	if (function->name)
		view_buffer_print(out, "%s  %s\n", function->name, slash ? slash + 1 : path);
	else
		view_buffer_print(out, "0x%llx  %s\n", (unsigned long long)function->offset,
				  slash ? slash + 1 : path);
}

/* The most often counted ones first, then in order of their first calls. */
static int cmd_calls_compare(const void *one, const void *other)
{
	const struct listed_function *a = one, *b = other;

	return a->count != b->count ? number_order(b->count, a->count) : number_order(a->number, b->number);
}

static int read_named(struct call_listing *listing, struct listing_names *names,
		      const struct session *session, const struct target *target)
{
	int error = call_listing_read(listing, session);

	if (error)
		return cmd_failed("out of memory");
	error = listing_names_find(names, listing, target);
	if (!error)
		return 0;
	listing_names_free(names);
	call_listing_free(listing);
	return cmd_failed("cannot look up the names of functions: %s", strerror(-error));
}

static int cmd_calls_list(const struct session *session, const struct target *target)
{
	struct view_buffer out = { .used = 0 };
	struct call_listing listing;
	struct listing_names names;
	int result = read_named(&listing, &names, session, target);

	if (result)
		return result;
	qsort(listing.functions, listing.count, sizeof(*listing.functions), cmd_calls_compare);
	if (!as_json && listing.count)
		view_buffer_print(&out, "%-6s %11s  %s\n", "STATE", "COUNTED", "FUNCTION");
	for (size_t n = 0; n < listing.count; n++)
		(as_json ? cmd_calls_print_json : cmd_calls_print_text)(&listing, &listing.functions[n],
									&out);
	listing_names_free(&names);
	call_listing_free(&listing);
	return cmd_print(&out, STDOUT_FILENO);
}

enum {
	CHANGE_TRIES = 100,
	CHANGE_AGAIN = -1,
};

/* Change the code of the programs accordingly. Where that is not permitted, the switches alone decide. */
static void cmd_calls_patch(struct session *session, const struct target *target)
{
	struct process_change change;
	char count[TEXT_SHORT];

	if (process_change_patch(target, session, &change) != 0)
		cmd_note(
			"burin: process %d: its code stays as it is, so functions that were off at its start "
			"stay off: %s\n",
			(int)change.pid, change.problem);
	if (change.patched.missed)
		cmd_note("burin: the code of %s function%s could not be changed\n",
			 text_count(count, change.patched.missed), text_plural(change.patched.missed));
}

static int try_to_change(struct session *session, const struct target *target, const char *word,
			 unsigned change, char **words)
{
	struct call_listing listing;
	struct listing_names names;
	char count[TEXT_SHORT];
	size_t matched = 0;
	int result = read_named(&listing, &names, session, target), error;

	if (result)
		return result;
	error = call_change(session, &listing, changes[change].sign, words, &matched);
	listing_names_free(&names);
	call_listing_free(&listing);
	if (error == -EAGAIN)
		return CHANGE_AGAIN;
	if (error == -ENOSPC)
		return cmd_failed("%s: no room for another glob in the session; use wider globs", word);
	if (error)
		return cmd_failed("%s: another command has been changing events for a second; try again",
				  word);
	if (!quiet)
		cmd_note("burin: %s function%s %s; also those that match later\n", text_count(count, matched),
			 text_plural(matched), changes[change].past);
	return 0;
}

/* The switch of the event of calls holds for all functions. A recorder of a running program switches it off when it ends. */
static void note_event_off(struct session *session, const char *word)
{
	struct listing listing;
	bool off = false;

	if (listing_read(&listing, session) != 0)
		return;
	for (unsigned n = 0; n < listing.count; n++)
		off |= listing.events[n].want == WIRE_OFF && !strcmp(listing.events[n].name, WIRE_CALL_EVENT);
	listing_free(&listing);
	if (off)
		cmd_note("burin: no call is recorded as long as the event burin.call is off: burin enable %s "
			 "burin.call\n",
			 word);
}

static int change_functions(struct session *session, const struct target *target, const char *word,
			    unsigned change, char **words)
{
	int result = CHANGE_AGAIN;

	for (unsigned tries = 0; result == CHANGE_AGAIN && tries < CHANGE_TRIES; tries++)
		result = try_to_change(session, target, word, change, words);
	if (!result && !quiet && changes[change].sign == '+')
		note_event_off(session, word);
	return result == CHANGE_AGAIN
		       ? cmd_failed("%s: cannot change its functions, since new ones are called "
				    "all the time; try again",
				    word)
		       : result;
}

/* Return: 0 or CMD_USAGE. */
static int check_words(char **operands, unsigned *change)
{
	const unsigned count = sizeof(changes) / sizeof(changes[0]);
	char rule[CALL_RULE_MAX];

	for (*change = 0; *change < count && strcmp(operands[1], changes[*change].word) != 0;)
		++*change;
	if (*change == count)
		return cmd_usage("%s: give enable, disable or count, and the names of functions",
				 operands[1]);
	if (!operands[2])
		return cmd_usage("%s: give the names of functions, such as: burin calls %s %s 'net_*'",
				 operands[1], operands[0], operands[1]);
	for (char **word = operands + 2; *word; word++)
		if (!call_selection_parse(rule, '+', *word))
			return cmd_usage(
				"'%.40s': give a name, such as 'net_*', 'image:libnet.so*' or 'file:net/*.c'",
				*word);
	return 0;
}

static int cmd_calls_run(char **operands)
{
	const bool changing = operands[1] != NULL;
	struct session session;
	struct target target;
	unsigned change = 0;
	int result = changing ? check_words(operands, &change) : 0;

	if (!result)
		result = changing ? cmd_target_change(operands[0], &target, &session)
				  : cmd_target_look(operands[0], &target, &session);
	if (result)
		return result;
	cmd_output_begin();
	if (target.kernel)
		result = cmd_usage("%s: burin.ko records no calls of functions", operands[0]);
	else if (!session.calls.header)
		result = cmd_usage(
			"%s: its calls are not recorded; to record them: burin record --calls -- %s",
			operands[0], target.geometry.program);
	else if (changing)
		result = change_functions(&session, &target, operands[0], change, operands + 2);
	else
		result = cmd_calls_list(&session, &target);
	if (changing && session.calls.header && !result)
		cmd_calls_patch(&session, &target);
	return cmd_target_leave(target.path, &session, result);
}

const struct cmd cmd_calls = {
	.name = "calls",
	.line = "list the functions whose calls are recorded, and switch them",
	.usage = "Usage: burin calls [options] TARGET\n"
		 "       burin calls [options] TARGET enable|disable|count GLOB...\n"
		 "\n"
		 "List the functions that were called in a program that runs under burin record --calls:\n"
		 "state, calls that were only counted, name and image. Or switch the functions that match\n"
		 "on or off, or only count their calls; at once, and also those that are called for the\n"
		 "first time later. TARGET is a pid, a program's name, or a session's path; see burin ls.\n",
	.notes = "GLOB is a name, image:GLOB, file:GLOB (a source file), 0xOFFSET or IMAGE+0xOFFSET, as\n"
		 "for burin record --calls. Code is changed while threads execute it, or stand still for\n"
		 "a moment; where the system does not permit that, only functions that were on before\n"
		 "can be switched.\n"
		 "The history of the trace has each change; see burin info.\n"
		 "\n"
		 "Exit code: 0; 1 if it failed; 2 if there is no such TARGET, its calls are not recorded,\n"
		 "or the program has ended.\n",
	.options = table,
	.operands = { 1,
		      INT_MAX,
		      "give a TARGET: a pid, a program's name or a session's path",
		      { CMD_IS_TARGET } },
	.main = cmd_calls_run,
};
