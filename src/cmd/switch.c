/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin enable, disable, stop, go: what the events of a running program do.
 *
 * Everything that can be wrong is found before anything is changed; then all of it changes at once, also to a
 * listing, and also if this command is killed (session/changes.c).
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/size.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "control/listing.h"
#include "control/where.h"

const char cmd_enable_help[] =
	"Usage: burin enable [options] TARGET GLOB...\n"
	"\n"
	"Switch on the events of a running program whose names match, from the next one that\n"
	"is passed, and those that it registers later. TARGET is a pid, a program's name, or a\n"
	"session's path; see burin ls.\n"
	"\n"
	"  -w, --where EXPR   record only those whose arguments fit, such as\n"
	"                     'len > 1000 && proto == \"tcp\"'; see burin-enable(1)\n"
	"      --sample N     record every N-th of those\n"
	"      --limit N      record at most N a second\n"
	"      --level N      only events of level N or less, 0 to 9 (default: 9)\n"
	"  -q, --quiet        do not tell how many\n"
	"  -h, --help         this text\n"
	"\n"
	"--where, --sample and --limit are for events that are there now. Each call replaces\n"
	"what was asked of these events before.\n"
	"\n"
	"Exit code: 0; 1 if it failed; 2 if nothing was changed: no such TARGET or event, its\n"
	"program is gone, a wrong expression.\n";

const char cmd_disable_help[] =
	"Usage: burin disable [options] TARGET GLOB...\n"
	"\n"
	"Switch off the events of a running program whose names match, and those that it\n"
	"registers later.\n"
	"\n"
	"  -q, --quiet   do not tell how many\n"
	"  -h, --help    this text\n"
	"\n"
	"Exit code: 0; 1 if it failed; 2 if there is no such TARGET or event, or its program is gone.\n";

const char cmd_stop_help[] =
	"Usage: burin stop TARGET\n"
	"\n"
	"Switch everything off until burin go, and keep what is in the buffers. What events\n"
	"are to do is remembered, and can be changed meanwhile.\n"
	"\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0; 1 if it failed; 2 if there is no such TARGET, or its program is gone.\n";

const char cmd_go_help[] =
	"Usage: burin go TARGET\n"
	"\n"
	"Let events do again what they are to do, after burin stop.\n"
	"\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0; 1 if it failed; 2 if there is no such TARGET, or its program is gone.\n";

struct request {
	const char *name; /* of the subcommand */
	bool on;
	const char *where;
	uint32_t sample, limit;
	unsigned level;
	bool quiet;
	char **globs;
};

/* A program for one event, with the expression behind it, as it lies in the session. */
struct program {
	_Alignas(struct wire_filter) char bytes[WIRE_FILTER_MAX + 1024];
	uint32_t size;
	uint32_t offset;
};

static bool is_checked(const struct request *request)
{
	return request->where || request->sample > 1 || request->limit;
}

static bool is_meant(const struct request *request, const struct listed_event *event)
{
	if (request->on && event->level > request->level)
		return false;
	for (char **glob = request->globs; *glob; glob++)
		if (glob_match(*glob, event->name))
			return true;
	return false;
}

/* Return: 0 or CMD_USAGE. */
static int compile(const struct request *request, const struct listed_event *event, struct program *program)
{
	struct wire_filter *filter = (struct wire_filter *)program->bytes;
	struct where_fault fault;
	size_t text = strlen(request->where) + 1;

	memset(program, 0, sizeof(*program));
	if (where_compile(request->where, event->format, event->types, filter, WIRE_FILTER_MAX, &fault) !=
	    0) {
		cmd_failed(request->name, "%s: %s", event->name, fault.message);
		where_print_fault(stderr, request->where, &fault);
		return CMD_USAGE;
	}
	if (text > sizeof(program->bytes) - filter->bytes)
		text = 0;
	memcpy(program->bytes + filter->bytes, request->where, text);
	program->size =
		(uint32_t)((filter->bytes + text + WIRE_FILTER_ALIGN - 1) & ~(size_t)(WIRE_FILTER_ALIGN - 1));
	return 0;
}

/* All programs that will be needed, one for each event that is meant. Return: 0 or CMD_USAGE. */
static int compile_all(const struct request *request, const struct listing *listing, struct program *programs)
{
	for (unsigned n = 0; request->where && n < listing->count; n++)
		if (is_meant(request, &listing->events[n]) &&
		    compile(request, &listing->events[n], &programs[n]) != 0)
			return CMD_USAGE;
	return 0;
}

static int change_all(const struct request *request, struct session *session, const struct listing *listing,
		      struct program *programs, const char *target)
{
	for (unsigned n = 0; request->where && n < listing->count; n++) {
		if (!programs[n].size)
			continue;
		programs[n].offset = session_filter_add(session, programs[n].bytes, programs[n].size);
		if (!programs[n].offset)
			return cmd_failed(request->name, "%s: there is no room for another filter", target);
	}
	for (char **glob = request->globs; *glob && (!request->on || !is_checked(request)); glob++)
		if (session_change_rule(session, request->on ? '+' : '-', request->level, *glob) != 0)
			return cmd_failed(request->name,
					  "%s: there is no room for another glob; use wider ones", target);
	for (unsigned n = 0; n < listing->count; n++) {
		const struct wire_check check = { .filter = programs[n].offset,
						  .sample = request->sample,
						  .limit = request->limit };

		if (is_meant(request, &listing->events[n]) &&
		    session_change(session, listing->events[n].id,
				   !request->on		 ? WIRE_OFF
				   : is_checked(request) ? WIRE_CHECKED
							 : WIRE_ON,
				   is_checked(request) ? &check : NULL) != 0)
			return cmd_failed(request->name, "%s: there is no memory for it (/dev/shm full?)",
					  target);
	}
	return 0;
}

static int begin_change(const char *name, struct session *session, const char *target)
{
	int error = session_change_begin(session);

	return error ? cmd_failed(name, "%s: somebody else has been changing it for a second; try again",
				  target)
		     : 0;
}

enum {
	APPLY_TRIES = 100,
	APPLY_AGAIN = -1, /* events have come since the listing, for which nothing was prepared */
};

static int try_to_apply(const struct request *request, struct session *session, const char *target)
{
	struct program *programs;
	struct listing listing;
	unsigned meant = 0;
	char count[TEXT_SHORT];
	int result = 0;

	if (listing_read(&listing, session) != 0)
		return cmd_failed(request->name, "out of memory");
	programs = calloc(listing.count + 1, sizeof(*programs));
	for (unsigned n = 0; n < listing.count; n++)
		meant += is_meant(request, &listing.events[n]);
	if (!programs)
		result = cmd_failed(request->name, "out of memory");
	else if (meant == 0 && is_checked(request))
		result = cmd_failed(request->name, "%s: no event matches; burin events %s lists them",
				    *request->globs, target)
				 ? CMD_USAGE
				 : 0;
	else
		result = compile_all(request, &listing, programs);
	if (!result)
		result = begin_change(request->name, session, target);
	if (!result) {
		result = session_event_count(session) != listing.count
				 ? APPLY_AGAIN
				 : change_all(request, session, &listing, programs, target);
		if (result)
			session_change_cancel(session);
		else
			session_change_commit(session);
	}
	if (!result && !request->quiet)
		fprintf(stderr, "burin: %s event%s %s%s\n", text_count(count, meant), meant == 1 ? "" : "s",
			request->on ? "on" : "off",
			request->on && is_checked(request) ? "" : ", and those that match later");
	free(programs);
	listing_free(&listing);
	return result;
}

static int apply(const struct request *request, struct session *session, const char *target)
{
	int result = APPLY_AGAIN;

	for (unsigned tries = 0; result == APPLY_AGAIN && tries < APPLY_TRIES; tries++)
		result = try_to_apply(request, session, target);
	return result == APPLY_AGAIN
		       ? cmd_failed(request->name, "%s: it registers events all the time", target)
		       : result;
}

static bool parse_number(const char *text, uint64_t min, uint64_t max, uint32_t *out)
{
	uint64_t value;

	if (!size_parse(text, &value) || value < min || value > max)
		return false;
	*out = (uint32_t)value;
	return true;
}

static int run(struct request *request, int argc, char **argv, const struct option *options)
{
	struct session session;
	struct target target;
	int option, result;
	uint32_t level;

	optind = 0;
	while ((option = getopt_long(argc, argv, request->on ? "w:q" : "q", options, NULL)) != -1) {
		bool good = true;

		switch (option) {
		case 'w':
			request->where = optarg;
			break;
		case 's':
			good = parse_number(optarg, 1, UINT32_MAX, &request->sample);
			break;
		case 'l':
			good = parse_number(optarg, 1, UINT32_MAX, &request->limit);
			break;
		case 'v':
			good = parse_number(optarg, 0, WIRE_LEVEL_MAX, &level);
			request->level = good ? level : 0;
			break;
		case 'q':
			request->quiet = true;
			break;
		default:
			return cmd_usage(request->name, "wrong option");
		}
		if (!good)
			return cmd_usage(request->name, "'%s' will not do as a number here", optarg);
	}
	if (argc - optind < 2)
		return cmd_usage(request->name, "which events of which program? Give TARGET and globs");
	request->globs = argv + optind + 1;
	result = cmd_target_change(request->name, argv[optind], &target, &session);
	if (result)
		return result;
	result = apply(request, &session, argv[optind]);
	session_leave(&session);
	return result;
}

int cmd_enable(int argc, char **argv)
{
	static const struct option options[] = {
		{ "where", required_argument, NULL, 'w' }, { "sample", required_argument, NULL, 's' },
		{ "limit", required_argument, NULL, 'l' }, { "level", required_argument, NULL, 'v' },
		{ "quiet", no_argument, NULL, 'q' },	   { 0 }
	};
	struct request request = { .name = "enable", .on = true, .level = WIRE_LEVEL_MAX };

	return run(&request, argc, argv, options);
}

int cmd_disable(int argc, char **argv)
{
	static const struct option options[] = { { "quiet", no_argument, NULL, 'q' }, { 0 } };
	struct request request = { .name = "disable", .level = WIRE_LEVEL_MAX };

	return run(&request, argc, argv, options);
}

static int stop_or_go(const char *name, int argc, char **argv, bool stopped)
{
	static const struct option none[] = { { 0 } };
	struct session session;
	struct target target;
	int result;

	optind = 0;
	if (getopt_long(argc, argv, "", none, NULL) != -1)
		return cmd_usage(name, "wrong option");
	if (argc - optind != 1)
		return cmd_usage(name, "which program? Give a pid, a name or a session's path");
	result = cmd_target_change(name, argv[optind], &target, &session);
	if (result)
		return result;
	result = begin_change(name, &session, argv[optind]);
	if (!result) {
		session_change_stopped(&session, stopped);
		session_change_commit(&session);
	}
	session_leave(&session);
	return result;
}

int cmd_stop(int argc, char **argv)
{
	return stop_or_go("stop", argc, argv, true);
}

int cmd_go(int argc, char **argv)
{
	return stop_or_go("go", argc, argv, false);
}
