/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin events: the events of a session and what they do. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "control/hits.h"
#include "control/listing.h"
#include "view/buffer.h"

const char cmd_events_help[] =
	"Usage: burin events [options] TARGET [GLOB]...\n"
	"\n"
	"List the events of a program: what each does when it is passed, its name, fields and\n"
	"format, and where it stands in the source. TARGET is a pid, a program's name, or a\n"
	"session's path; see burin ls.\n"
	"\n"
	"  -j, --json   one JSON object per line\n"
	"  -h, --help   this text\n"
	"\n"
	"Switch: off, on, where (those that match a filter), sample, limit; what is wanted in\n"
	"parentheses while everything is stopped. Held: records of the event in the buffers.\n"
	"\n"
	"Exit code: 0; 2 if there is no such TARGET, or no event matches.\n";

static const char name[] = "events";

static const char *const type_names[] = { "",	 "bool", "i8",	"i16", "i32", "i64", "u8",    "u16",
					  "u32", "u64",	 "f32", "f64", "ptr", "str", "bytes", "char" };

/* "len:u32 proto:str" */
static void print_fields(const struct listed_event *event, struct view_buffer *out)
{
	struct format format;

	if (format_parse(event->format, event->types, &format, NULL) != 0)
		return;
	for (unsigned n = 0; n < format.count; n++)
		view_buffer_print(out, "%s%s:%s", n ? " " : "", format.fields[n].name,
				  type_names[format.fields[n].type & 15]);
}

static const char *switch_name(const struct listed_event *event)
{
	if (event->want == WIRE_ON)
		return "on";
	if (event->want != WIRE_CHECKED)
		return "off";
	return event->check.filter ? "where" : event->check.limit ? "limit" : "sample";
}

static void print_text(const struct listed_event *event, bool stopped, uint64_t held, struct view_buffer *out)
{
	char count[TEXT_SHORT], state[16];

	snprintf(state, sizeof(state), stopped ? "(%s)" : "%s", switch_name(event));
	view_buffer_print(out, "%-8s %9s  ", state, text_count(count, held));
	view_buffer_escape(out, event->name);
	view_buffer_print(out, "  ");
	if (event->types) {
		print_fields(event, out);
		view_buffer_print(out, "  ");
	}
	if (event->level)
		view_buffer_print(out, "level %u  ", event->level);
	view_buffer_escape(out, event->file);
	view_buffer_print(out, ":%u\n", event->line);
	if (event->want == WIRE_CHECKED) {
		const struct wire_check *check = &event->check;

		view_buffer_print(out, "%20s", "");
		if (*event->where) {
			view_buffer_print(out, "where ");
			view_buffer_escape(out, event->where);
		}
		if (check->sample > 1)
			view_buffer_print(out, "%severy %u. (%s left out)", *event->where ? ", " : "",
					  check->sample, text_count(count, check->sampled_out));
		if (check->limit)
			view_buffer_print(out, "%s%u/s at most (%s left out)",
					  *event->where || check->sample > 1 ? ", " : "", check->limit,
					  text_count(count, check->limited));
		view_buffer_print(out, "\n");
	}
	if (event->refused) {
		view_buffer_print(out, "%20srefused %u times with another format, at ", "", event->refused);
		view_buffer_escape(out, event->refused_file);
		view_buffer_print(out, ":%u\n", event->refused_line);
	}
}

static void print_json(const struct listed_event *event, bool stopped, uint64_t held, struct view_buffer *out)
{
	static const char *const kinds[] = { "event", "begin", "end", "counter" };
	const char *dot = strchr(event->name, '.');
	char group[WIRE_NAME_MAX + 1];

	snprintf(group, sizeof(group), "%.*s", (int)(dot ? dot - event->name : 0), event->name);
	view_buffer_print(out, "{\"name\":");
	view_buffer_json(out, event->name);
	view_buffer_print(out, ",\"group\":");
	view_buffer_json(out, group);
	view_buffer_print(out, ",\"id\":%u,\"kind\":\"%s\",\"level\":%u,\"format\":", event->id,
			  kinds[event->kind & 3], event->level);
	view_buffer_json(out, event->format);
	view_buffer_print(out, ",\"fields\":\"");
	print_fields(event, out);
	view_buffer_print(out, "\",\"file\":");
	view_buffer_json(out, event->file);
	view_buffer_print(out, ",\"line\":%u,\"pid\":%u,\"switch\":\"%s\",\"stopped\":%s,\"held\":%" PRIu64,
			  event->line, event->pid, switch_name(event), stopped ? "true" : "false", held);
	if (event->want == WIRE_CHECKED) {
		view_buffer_print(out, ",\"where\":");
		view_buffer_json(out, event->where);
		view_buffer_print(
			out, ",\"sample\":%u,\"limit\":%u,\"sampled_out\":%" PRIu64 ",\"limited\":%" PRIu64,
			event->check.sample, event->check.limit, event->check.sampled_out,
			event->check.limited);
	}
	view_buffer_print(out, ",\"refused\":%u,\"refused_at\":", event->refused);
	view_buffer_json(out, event->refused_file);
	view_buffer_print(out, ",\"refused_line\":%u}\n", event->refused_line);
}

static bool is_wanted(const char *event, char **globs)
{
	for (char **glob = globs; *glob; glob++)
		if (glob_match(*glob, event))
			return true;
	return !*globs;
}

static int print(struct session *session, char **globs, bool json)
{
	struct view_buffer out = { .used = 0 };
	struct listing listing;
	unsigned printed = 0;
	uint64_t *hits;
	int result;

	if (listing_read(&listing, session) != 0)
		return cmd_failed(name, "out of memory");
	if (listing.torn)
		cmd_failed(name, "a change was cut short; this may show a part of it");
	hits = hits_count(session, listing.count);
	if (!json && listing.count)
		view_buffer_print(&out, "%-8s %9s  %s\n", "SWITCH", "HELD", "EVENT");
	for (unsigned n = 0; n < listing.count; n++) {
		const struct listed_event *event = &listing.events[n];
		uint64_t held = hits ? hits[event->id] : 0;

		if (!is_wanted(event->name, globs))
			continue;
		printed++;
		if (json)
			print_json(event, listing.stopped, held, &out);
		else
			print_text(event, listing.stopped, held, &out);
	}
	free(hits);
	listing_free(&listing);
	if (!printed && *globs) {
		view_buffer_free(&out);
		cmd_failed(name, "%s: no such event", *globs);
		return CMD_USAGE;
	}
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	return cmd_written(name, result);
}

int cmd_events(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	struct session session;
	struct target target;
	bool json = false;
	int option, result;

	cmd_output_begin();
	optind = 0;
	while ((option = getopt_long(argc, argv, "j", options, NULL)) != -1) {
		if (option != 'j')
			return cmd_usage(name, "wrong option");
		json = true;
	}
	if (optind == argc)
		return cmd_usage(name, "of which program? Give a pid, a name or a session's path");
	result = cmd_target_open(name, argv[optind], &target, &session);
	if (result)
		return result;
	result = print(&session, argv + optind + 1, json);
	session_leave(&session);
	return result;
}
