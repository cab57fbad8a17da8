/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of functions in `burin record`; see record_calls.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/sources/record_calls.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/record/recorder/recorder.h"
#include "session/calls/call_arguments.h"
#include "session/clock.h"

/* The second comes in with the first, but its vfork() and its other functions must come before those of the C library. */
static const char library_name[] = "libburin-calls.so", tracepoints_name[] = "libburin.so.0";

#if defined(__x86_64__)
static const bool is_patched = true;
static const char ways[] = "-fpatchable-function-entry=5 or -finstrument-functions, or record calls of "
			   "library functions: --libcalls";
#else
static const bool is_patched = false;
static const char ways[] = "-finstrument-functions; other hooks are not supported on this processor";
#endif

static bool are_valid(const struct view_globs *words)
{
	char rule[CALL_RULE_MAX];

	for (size_t n = 0; n < words->count; n++)
		if (!call_selection_parse(rule, '+', words->globs[n]))
			return false;
	return true;
}

/* Return: 0 or CMD_USAGE. */
static int check_arguments(const struct view_globs *words)
{
	static char rules[WIRE_CALL_RULES];
	const char *why;

	for (size_t n = 0; n < words->count; n++)
		if (call_arguments_add(rules, words->globs[n], &why) == -EINVAL)
			return cmd_usage("--args %s: %s; try --args 'open@path/s,flags/x,retval/i'",
					 words->globs[n], why);
	return 0;
}

/* Return: 0 or CMD_USAGE. */
static int check_automatic(const struct calls_options *options)
{
	static char rules[WIRE_CALL_RULES];
	const char *why;

	for (size_t n = 0; n < options->automatic.count; n++)
		if (call_arguments_add_known(rules, options->automatic.globs[n], &why) == -EINVAL)
			return cmd_usage("--auto-args=%s: %s; give a name, such as 'net_*'",
					 options->automatic.globs[n], why);
	return 0;
}

static bool have_file(const struct view_globs *words)
{
	char rule[CALL_RULE_MAX];

	for (size_t n = 0; n < words->count; n++)
		if (call_selection_parse(rule, '+', words->globs[n]) && rule[1] == 's')
			return true;
	return false;
}

bool calls_have_file(const struct calls_options *options)
{
	return have_file(&options->globs) || have_file(&options->not ) || have_file(&options->below);
}

int calls_check(const struct calls_options *options)
{
	if (!are_valid(&options->globs) || !are_valid(&options->not ) || !are_valid(&options->below))
		return cmd_usage("--calls, --no-calls, --below: give a name, such as 'net_*', "
				 "'image:libnet*' or 'file:net/*.c'");
	if (options->guest && calls_have_file(options))
		return cmd_usage(
			"file: is not supported for functions of guests; select them by their names");
	if (options->libraries && !is_patched)
		return cmd_usage("--libcalls is not supported on this processor");
	if (options->count && (options->depth || options->min_ns || options->below.count))
		return cmd_usage("--count-calls: it counts every call of a function; remove %s",
				 options->depth	   ? "--depth"
				 : options->min_ns ? "--min"
						   : "--below");
	if (options->count && (options->arguments.count || options->automatic.count))
		return cmd_usage("--count-calls: calls that are counted have no arguments; remove %s",
				 options->arguments.count ? "--args" : "--auto-args");
	return check_arguments(&options->arguments) ?: check_automatic(options);
}

static bool add_rules(char *rules, char sign, const struct view_globs *words)
{
	char rule[CALL_RULE_MAX];

	for (size_t n = 0; n < words->count; n++)
		if (!call_selection_parse(rule, sign, words->globs[n]) || !call_selection_add(rules, rule))
			return false;
	return true;
}

bool calls_rules(char rules[WIRE_CALL_RULES], const struct calls_options *options)
{
	const char all[] = { options->count ? '#' : '+', 'f', ':', '*', 0 }, *why;

	/* The last match counts: those of --args come before those of the debug information. */
	for (size_t n = 0; n < options->automatic.count; n++)
		if (call_arguments_add_known(rules, options->automatic.globs[n], &why) != 0)
			return false;
	for (size_t n = 0; n < options->arguments.count; n++)
		if (call_arguments_add(rules, options->arguments.globs[n], &why) != 0)
			return false;
	if (!options->globs.count && !options->not .count && !options->below.count && !options->count)
		return true;
	return (options->globs.count || call_selection_add(rules, all)) &&
	       add_rules(rules, *all, &options->globs) && add_rules(rules, '-', &options->not ) &&
	       add_rules(rules, '^', &options->below);
}

void calls_limits(const struct calls_options *options, const struct session *session)
{
	struct wire_calls *calls = session->calls.header;

	calls->depth_max = options->depth;
	calls->below = options->below.count != 0;
	calls->min_ticks = 0;
	if (options->min_ns)
		calls->min_ticks = (uint64_t)((unsigned __int128)options->min_ns * session_clock_hz(session) /
					      1000000000);
}

int calls_find_library(char *path, size_t bytes)
{
	return preload_find(library_name, path, bytes);
}

/* Store the rules in the session, and what is known of the arguments of a command's functions. */
static int record_calls_open_calls(void *state, struct recorder *recorder)
{
	struct calls *calls = state;
	const struct calls_options *options = calls->options;
	struct session *session = recorder->session;
	char paths[2][PRELOAD_PATH_MAX] = { 0 };
	int error;

	calls->quiet = recorder->quiet;
	if (!options->on || options->guest)
		return 0;
	/* Nothing records yet. */
	calls_limits(options, session);
	if (!calls_rules(session->calls.header->rules, options))
		return cmd_failed("--calls: the globs together are too long; use wider ones");
	if (recorder->program && (options->automatic.count || calls_have_file(options)))
		auto_arguments_find(&calls->automatic, recorder->program, session,
				    &(struct auto_arguments_options){
					    .option = options->automatic.count ? "--auto-args" : "file:GLOB",
					    .deadline_ns = options->names_ns,
					    .libcalls = options->libraries || options->nested,
					    .quiet = calls->quiet });
	session->calls.header->sources = (options->libraries ? WIRE_CALL_LIBRARIES : 0) |
					 (options->nested ? WIRE_CALL_NESTED : 0) |
					 (options->no_hooks ? WIRE_CALL_NO_HOOKS : 0);
	error = preload_find(library_name, paths[0], sizeof(paths[0]));
	if (!error)
		error = preload_find(tracepoints_name, paths[1], sizeof(paths[1]));
	if (error)
		return cmd_failed("--calls: %s %s", *paths[0] ? tracepoints_name : library_name,
				  preload_problem(error));
	snprintf(calls->library, sizeof(calls->library), "%s:%s", paths[0], paths[1]);
	return 0;
}

/* From now on files that the command loads later are read, too. */
static void record_calls_begin_calls(void *state, struct recorder *recorder)
{
	struct calls *calls = state;

	if (calls->automatic.options.option)
		later_files_begin(&calls->later, recorder->session, &calls->automatic);
}

static void child_ended(void *state, pid_t child)
{
	later_files_ended(&((struct calls *)state)->later, child);
}

static void record_calls_finish_calls(void *state, struct recorder *recorder)
{
	struct calls *calls = state;

	(void)recorder;
	later_files_finish(&calls->later, &calls->automatic);
}

static const char *record_calls_library_of(const void *state)
{
	return ((const struct calls *)state)->library;
}

/* How many functions have an entry. It lies in memory that others write to. */
static uint32_t record_calls_count_functions(const struct session *session)
{
	const uint32_t count = __atomic_load_n(&session->calls.header->functions, __ATOMIC_RELAXED);

	return count < session->geometry.functions_max ? count : session->geometry.functions_max - 1;
}

/* A bit for each value that the switch of some function has. */
static unsigned switches_of(const struct session *session)
{
	unsigned values = 0;

	for (uint32_t n = record_calls_count_functions(session); n > 0; n--)
		values |= 1u << (__atomic_load_n(&session->calls.switches[n], __ATOMIC_RELAXED) &
				 (WIRE_CALL_ARGUMENTS | (WIRE_CALL_ARGUMENTS - 1)));
	return values;
}

void calls_note_unmatched(const struct calls_options *options, const struct session *session)
{
	const unsigned values = switches_of(session), roots = 1u << WIRE_CALL_ROOT,
		       with_arguments = 0xffu << WIRE_CALL_ARGUMENTS;

	if (!(values & ~(1u << WIRE_CALL_OFF)))
		cmd_note("burin: no calls: none of the %u functions with hooks in what ran is selected; see "
			 "--calls and --no-calls\n",
			 record_calls_count_functions(session));
	else if (options->below.count && !(values & (roots | roots << WIRE_CALL_ARGUMENTS)))
		cmd_note("burin: no calls: none of the %u functions with hooks in what ran matches --below\n",
			 record_calls_count_functions(session));
	else if (options->arguments.count && !(values & with_arguments))
		cmd_note("burin: no arguments: no function that is recorded matches --args\n");
}

/* If nothing that ran has hooks for calls, or all are off, print what to do. */
static void note_none(const struct calls *calls, const struct session *session)
{
	const struct wire_calls *header = session->calls.header;

	/* Functions that were switched off from outside may have had calls before. */
	if (record_calls_count_functions(session) && !__atomic_load_n(&header->generation, __ATOMIC_RELAXED))
		calls_note_unmatched(calls->options, session);
	if (calls->options->no_hooks || record_calls_count_functions(session) ||
	    __atomic_load_n(&header->lost[WIRE_CALL_LOST_PATCH], __ATOMIC_RELAXED))
		return;
	cmd_note("burin: no calls: nothing that ran has hooks for them; build it with %s\n", ways);
}

static void record_calls_summarize(const void *state, const struct recorder *recorder, const char *output)
{
	const struct calls *calls = state;

	(void)output;
	if (calls->options->automatic.count)
		auto_arguments_summary(&calls->automatic);
	if (calls->options->on && !calls->options->guest && recorder->session->calls.header)
		note_none(calls, recorder->session);
}

static void record_calls_name_calls(void *state, int directory, const char *path, uint64_t deadline_ns)
{
	const struct calls *calls = state;

	if (!calls->options->guest)
		cmd_symbols_calls(directory, path,
				  &(struct cmd_symbols_options){ .deadline_ns = deadline_ns,
								 .progress = !calls->quiet });
}

const struct source_ops calls_source = {
	.open = record_calls_open_calls,
	.library = record_calls_library_of,
	.begin = record_calls_begin_calls,
	.child_ended = child_ended,
	.finish = record_calls_finish_calls,
	.names = record_calls_name_calls,
	.summary = record_calls_summarize,
};
