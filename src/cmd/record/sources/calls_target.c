/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a program that runs already; see calls_target.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/control/listing_names.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/sources/calls_target.h"
#include "control/running/process_change.h"
#include "file/foreign_file.h"
#include "session/calls/call_selection.h"

enum {
	SELECT_TRIES = 100,
	NAME_MAX_BYTES = 16, /* of a program's name in the kernel, with its NUL */
};

/* ---- finding the program */

/* Whether a process has this name, and is this user's, or the user is root. */
static bool calls_target_is_meant(const char *pid, const char *name)
{
	const uint32_t number = (uint32_t)strtoul(pid, NULL, 10);
	char path[64], found[FOREIGN_NAME_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%.10s", pid);
	if (stat(path, &status) != 0 || (geteuid() != 0 && status.st_uid != geteuid()))
		return false;
	return foreign_name(number, number, found) && strncmp(found, name, NAME_MAX_BYTES - 1) == 0;
}

/* The process with a name. Return: 0 after a message: there is none, or several. */
static pid_t find_by_name(const char *name)
{
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;
	unsigned count = 0;

	while (all && (entry = readdir(all)))
		if (isdigit((unsigned char)entry->d_name[0]) && calls_target_is_meant(entry->d_name, name)) {
			found = (pid_t)atoi(entry->d_name);
			count++;
		}
	if (all)
		closedir(all);
	if (count == 1)
		return found;
	if (count)
		cmd_failed("%s: %u processes have this name; give the pid of one", name, count);
	else
		cmd_failed("%s: no such program is running; to run it: burin record --calls -- %s", name,
			   name);
	return 0;
}

static pid_t find_process(const char *word)
{
	char *end;
	const unsigned long number = strtoul(word, &end, 10);

	if (*word >= '0' && *word <= '9' && !*end)
		return number <= INT32_MAX ? (pid_t)number : 0;
	return find_by_name(word);
}

/* Whether sessions of running programs match the word. @calls: whether one of them was made with calls */
static bool has_session(const char *word, bool *calls)
{
	struct target_list list;
	const char *why = "";
	bool found = false;

	*calls = false;
	if (target_list_matching(&list, word, &why) == 0)
		for (unsigned n = 0; n < list.count; n++) {
			found |= list.targets[n].state <= TARGET_LEFT;
			*calls |= list.targets[n].state <= TARGET_LEFT &&
				  list.targets[n].geometry.functions_max != 0;
		}
	target_list_free(&list);
	return found;
}

/* Cost of loading the library, in all attempts. */
static struct load_calls_result loaded;

static int calls_target_attach(pid_t process, const char *library, struct process_change *change)
{
	const int error = process_change_attach(process, library, change);

	loaded.thread_ns += change->loaded.thread_ns;
	if (change->loaded.longest_ns > loaded.longest_ns)
		loaded.longest_ns = change->loaded.longest_ns;
	return error;
}

const char *calls_target_open(const char *word, char pid[CALLS_TARGET_WORD])
{
	char library[PRELOAD_PATH_MAX];
	struct process_change change;
	bool calls;
	pid_t process;
	int error;

	if (has_session(word, &calls) && calls)
		return word;
	if (strchr(word, '/') || has_session(word, &calls)) {
		cmd_failed("%s: its session was made without calls; start it by burin record --calls", word);
		return NULL;
	}
	process = find_process(word);
	if (!process)
		return NULL;
	error = calls_find_library(library, sizeof(library));
	if (error) {
		cmd_failed("--calls: libburin-calls.so %s", preload_problem(error));
		return NULL;
	}
	if (calls_target_attach(process, library, &change) != 0) {
		cmd_failed("%s: its calls cannot be recorded: %s", word, change.problem);
		return NULL;
	}
	snprintf(pid, CALLS_TARGET_WORD, "%d", (int)process);
	return pid;
}

/* ---- switching */

/* A command that attached before may have been stopped, or given up, before the program was ready. */
static int finish_attaching(const struct attachment *attachment)
{
	const struct session *session = &attachment->session;
	const struct wire_calls *calls = session->calls.header;
	char library[PRELOAD_PATH_MAX];
	struct process_change change;

	if (session->geometry.owner_kind != WIRE_OWNER_PROGRAM || *calls->rules || calls->functions ||
	    calls_find_library(library, sizeof(library)) != 0 ||
	    calls_target_attach((pid_t)session->geometry.owner, library, &change) == 0)
		return 0;
	return cmd_failed("%s: its calls cannot be recorded: %s", attachment->word, change.problem);
}

/* Whether a word can only be compared with a function's name or file. */
static bool needs_names(const struct view_globs *words)
{
	char rule[CALL_RULE_MAX];

	for (size_t n = 0; n < words->count; n++)
		if (strcmp(words->globs[n], "*") != 0 &&
		    (!call_selection_parse(rule, '+', words->globs[n]) || strchr("fs", rule[1])))
			return true;
	return false;
}

/* Report functions that cannot be selected by their file. */
static void note_unknown_files(const struct call_listing *listing)
{
	char count[TEXT_SHORT];
	size_t unknown = 0;

	for (size_t n = 0; n < listing->count; n++)
		unknown += !listing->functions[n].file;
	if (unknown)
		cmd_note("burin: %s function%s no debug information, so file: does not select %s; build with "
			 "-g\n",
			 text_count(count, unknown), unknown == 1 ? " has" : "s have",
			 unknown == 1 ? "it" : "them");
}

static int try_to_select(const struct calls_options *options, struct attachment *attachment,
			 const char *rules, bool named, size_t *on)
{
	static const char *const all[] = { "*", NULL };
	const char *const *words = options->globs.count ? options->globs.globs : all;
	struct call_listing listing;
	struct session *session = &attachment->session;
	struct listing_names names;
	int error = call_listing_read(&listing, session);

	if (error)
		return error;
	error = named ? listing_names_find(&names, &listing, &attachment->target) : 0;
	if (!error)
		error = call_select(session, &listing, rules, (char *const *)(uintptr_t)words, on);
	if (!error && calls_have_file(options))
		note_unknown_files(&listing);
	if (named)
		listing_names_free(&names);
	call_listing_free(&listing);
	return error;
}

static int calls_target_patch(struct calls_target *calls, struct attachment *attachment)
{
	struct process_change change;
	const int error = process_change_patch(&attachment->target, &attachment->session, &change);
	char missed[TEXT_SHORT];

	if (change.patched.longest_ns > calls->longest_ns)
		calls->longest_ns = change.patched.longest_ns;
	if (change.patched.missed)
		cmd_note("burin: the code of %s function%s could not be changed\n",
			 text_count(missed, change.patched.missed), text_plural(change.patched.missed));
	return error ? cmd_failed("%s: its code cannot be changed: %s", attachment->word, change.problem) : 0;
}

/* Switch the functions on that the options mean. Until their event is on, too, nothing is recorded. */
static int calls_target_open_calls(void *state, struct recorder *recorder)
{
	struct calls_target *calls = state;
	const struct calls_options *options = calls->options;
	struct attachment *attachment = recorder->attachment;
	static char rules[WIRE_CALL_RULES];
	struct session *session = &attachment->session;
	const bool named =
		needs_names(&options->globs) || needs_names(&options->not ) || needs_names(&options->below);
	size_t on = 0;
	int error = -EAGAIN, result;

	calls->attachment = attachment;
	calls->quiet = recorder->quiet;
	if (!options->on)
		return 0;
	if (!session->calls.header)
		return cmd_failed("%s: its session was made without calls", attachment->word);
	if (!enable_lease_calls(session, attachment->file))
		return cmd_failed("%s: another burin record --calls records it; burin calls %s changes which "
				  "functions it records",
				  attachment->word, attachment->word);
	result = finish_attaching(attachment);
	if (result)
		return result;
	memset(rules, 0, sizeof(rules));
	if (!calls_rules(rules, options))
		return cmd_failed("--calls: the globs together are too long; use wider ones");
	calls_limits(options, session);
	for (unsigned n = 0; error == -EAGAIN && n < SELECT_TRIES; n++)
		error = try_to_select(options, attachment, rules, named, &on);
	if (error)
		return cmd_failed("%s: cannot select its functions: %s", attachment->word, strerror(-error));
	calls->on = true;
	result = calls_target_patch(calls, attachment);
	if (result)
		return result;
	calls->functions = on;
	return 0;
}

/* Print how many functions are recorded. */
static void calls_target_begin_calls(void *state, struct recorder *recorder)
{
	const struct calls_target *calls = state;
	char count[TEXT_SHORT];

	if (!calls->on)
		return;
	if (calls->functions)
		calls_note_unmatched(calls->options, recorder->session);
	if (calls->functions && calls->quiet)
		return;
	if (calls->functions)
		cmd_note("burin: calls of %s function%s are recorded\n", text_count(count, calls->functions),
			 text_plural(calls->functions));
	else
		cmd_note("burin: no function matches that has room for a jump; build it with "
			 "-fpatchable-function-entry=5\n");
}

static void note_stops(const struct calls_target *calls, const char *word)
{
	const uint64_t longest_ns =
		calls->longest_ns > loaded.longest_ns ? calls->longest_ns : loaded.longest_ns;
	char loading[2 * TEXT_SHORT] = "";

	if (loaded.thread_ns)
		snprintf(loading, sizeof(loading), "; one loaded the library for %.2f ms",
			 (double)loaded.thread_ns / 1e6);
	if (longest_ns)
		cmd_note("burin: threads of %s stood still for at most %.2f ms%s\n", word,
			 (double)longest_ns / 1e6, loading);
	else
		cmd_note("burin: no thread of %s stood still%s\n", word, loading);
}

/* Return: 0, or CMD_FAULTS after a message. */
static int calls_target_switch_off(struct calls_target *calls, struct attachment *attachment)
{
	static char all[] = "*";
	char *const words[] = { all, NULL };
	struct session *session = &attachment->session;
	struct call_listing listing;
	size_t matched;
	int error = -EAGAIN, result;

	if (!calls->on)
		return 0;
	for (unsigned n = 0; error == -EAGAIN && n < SELECT_TRIES; n++) {
		error = call_listing_read(&listing, session);
		if (error)
			break;
		error = call_change(session, &listing, '-', words, &matched);
		call_listing_free(&listing);
	}
	if (error)
		return cmd_failed("%s: cannot switch its functions off: %s; use burin calls %s disable '*'",
				  attachment->word, strerror(-error), attachment->word);
	result = attachment->ended ? 0 : calls_target_patch(calls, attachment);
	if (!calls->quiet)
		note_stops(calls, attachment->word);
	return result;
}

static void calls_target_finish_calls(void *state, struct recorder *recorder)
{
	struct calls_target *calls = state;

	recorder->faulted |= calls_target_switch_off(calls, recorder->attachment) != 0;
	calls->on = false;
}

static void calls_target_name_calls(void *state, int directory, const char *path, uint64_t deadline_ns)
{
	const struct calls_target *calls = state;

	cmd_symbols_calls(directory, path,
			  &(struct cmd_symbols_options){ .deadline_ns = deadline_ns,
							 .progress = !calls->quiet,
							 .target = &calls->attachment->target });
}

const struct source_ops calls_target_source = {
	.open = calls_target_open_calls,
	.begin = calls_target_begin_calls,
	.finish = calls_target_finish_calls,
	.names = calls_target_name_calls,
};
