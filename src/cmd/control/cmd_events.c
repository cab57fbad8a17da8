/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin events: list the events of a session. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/control/kernel_listing.h"
#include "cmd/target_argument.h"
#include "control/buffered_counts.h"
#include "control/listing.h"
#include "session/kernel_device.h"
#include "view/summary/summary.h"
#include "wire/wire_terms.h"

static bool as_json;

static const struct cmd_option table[] = {
	OPTION_FLAG("-j, --json", &as_json, "one JSON object per line"),
	{ 0 },
};

static const char *state_name(const struct listed_event *event)
{
	if (event->want == WIRE_ON)
		return "on";
	if (event->want == WIRE_UNFIT)
		return "unfit";
	if (event->want != WIRE_CONDITIONAL)
		return "off";
	return event->check.filter ? "where" : event->check.limit ? "limit" : "sample";
}

static void cmd_events_print_text(const struct listed_event *event, bool paused, uint64_t buffered,
				  struct view_buffer *out)
{
	char count[TEXT_SHORT], state[16];

	snprintf(state, sizeof(state), paused ? "(%s)" : "%s", state_name(event));
	view_buffer_print(out, "%-8s %9s  %s  ", state, text_count(count, buffered), event->name);
	if (event->types) {
		kernel_listing_fields(event->format, event->types, out);
		view_buffer_print(out, "  ");
	}
	if (event->level)
		view_buffer_print(out, "level %u  ", event->level);
	if (event->line) /* tracepoints of the kernel have none */
		view_buffer_print(out, "%s:%u", event->file, event->line);
	view_buffer_print(out, "\n");
	if (event->want == WIRE_UNFIT)
		view_buffer_print(out, "%20swhere %s: %s\n", "", event->where, event->why);
	if (event->want == WIRE_CONDITIONAL) {
		const struct wire_condition *check = &event->check;

		view_buffer_print(out, "%20s", "");
		if (*event->where)
			view_buffer_print(out, "where %s", event->where);
		if (check->sample > 1)
			view_buffer_print(out, "%severy %u. (%s dropped)", *event->where ? ", " : "",
					  check->sample, text_count(count, check->sampled_out));
		if (check->limit)
			view_buffer_print(out, "%s%u/s at most (%s dropped)",
					  *event->where || check->sample > 1 ? ", " : "", check->limit,
					  text_count(count, check->limited));
		view_buffer_print(out, "\n");
	}
	if (event->refused)
		view_buffer_print(out, "%20srefused %u times with another format, at %s:%u\n", "",
				  event->refused, event->refused_file, event->refused_line);
}

static void cmd_events_print_json(const struct listed_event *event, bool paused, uint64_t buffered,
				  struct view_buffer *out)
{
	const char *dot = strchr(event->name, '.');
	struct format format;
	struct json json;

	json_begin_object(&json, out, 0);
	json_text(&json, "name", event->name);
	json_bytes(&json, "group", event->name, dot ? (size_t)(dot - event->name) : 0);
	json_u64(&json, "id", event->id);
	json_text(&json, "kind", wire_kind_keys[event->kind % WIRE_KINDS]);
	json_u64(&json, "level", event->level);
	json_text(&json, "format", event->format);
	json_array(&json, "fields");
	if (format_parse(event->format, event->types, &format, NULL) == 0)
		for (unsigned n = 0; n < format.count; n++)
			view_field_json(&json, format.fields[n].name, format.fields[n].type);
	json_end(&json);
	json_text(&json, "file", event->file);
	json_u64(&json, "line", event->line);
	json_u64(&json, "pid", event->pid);
	json_text(&json, "state", state_name(event));
	json_bool(&json, "paused", paused);
	json_u64(&json, "buffered", buffered);
	if (event->want == WIRE_UNFIT) {
		json_text(&json, "where", event->where);
		json_text(&json, "why", event->why);
	}
	if (event->want == WIRE_CONDITIONAL) {
		json_text(&json, "where", event->where);
		json_u64(&json, "sample", event->check.sample);
		json_u64(&json, "limit_per_s", event->check.limit);
		json_u64(&json, "sampled_out", event->check.sampled_out);
		json_u64(&json, "limited", event->check.limited);
	}
	json_u64(&json, "refused", event->refused);
	json_text(&json, "refused_file", event->refused_file);
	json_u64(&json, "refused_line", event->refused_line);
	json_end(&json);
}

/* A refused event, with its texts copied: its program may be changing them. */
struct refused {
	struct wire_refusal entry;
	char name[WIRE_NAME_MAX + 2], format[WIRE_FORMAT_MAX + 1], file[WIRE_FILE_MAX + 1],
		why[WIRE_FILE_MAX + 1];
};

static void cmd_events_copy_text(const struct session *session, uint32_t offset, char *out, size_t room)
{
	if (!session_event_copy(session, offset, out, room))
		snprintf(out, room, "?");
}

static void cmd_events_copy_refused(const struct session *session, uint32_t number, struct refused *out)
{
	out->entry = session->shared->refused[number];
	cmd_events_copy_text(session, out->entry.name, out->name, sizeof(out->name));
	cmd_events_copy_text(session, out->entry.format, out->format, sizeof(out->format));
	cmd_events_copy_text(session, out->entry.file, out->file, sizeof(out->file));
	cmd_events_copy_text(session, out->entry.why, out->why, sizeof(out->why));
}

static void print_refusal_text(const struct refused *refused, struct view_buffer *out)
{
	view_buffer_print(out, "%-8s %9s  %s  %s:%u: %s\n", "refused", "", refused->name, refused->file,
			  refused->entry.line, refused->why);
}

/* A refused event has no id. Readers of the JSON distinguish it from events by its state. */
static void print_refusal_json(const struct refused *refused, struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 0);
	json_text(&json, "state", "refused");
	json_text(&json, "name", refused->name);
	json_text(&json, "format", refused->format);
	json_text(&json, "file", refused->file);
	json_u64(&json, "line", refused->entry.line);
	json_text(&json, "why", refused->why);
	json_u64(&json, "times", refused->entry.times);
	json_u64(&json, "pid", refused->entry.pid);
	json_end(&json);
}

/* Refused events whose names were not kept. */
static void print_more(uint32_t more, struct view_buffer *out)
{
	struct json json;

	if (!as_json) {
		view_buffer_print(out, "%-8s %9s  and %u more\n", "refused", "", more);
		return;
	}
	json_begin_object(&json, out, 0);
	json_text(&json, "state", "refused");
	json_u64(&json, "more", more);
	json_end(&json);
}

static void cmd_events_print_refused(const struct session *session, struct view_buffer *out)
{
	const uint32_t count = session->shared->refusals;

	for (uint32_t n = 0; n < count && n < WIRE_REFUSALS_MAX; n++) {
		struct refused refused;

		cmd_events_copy_refused(session, n, &refused);
		(as_json ? print_refusal_json : print_refusal_text)(&refused, out);
	}
	if (count > WIRE_REFUSALS_MAX)
		print_more(count - WIRE_REFUSALS_MAX, out);
}

static bool cmd_events_is_selected(const char *event, char **globs)
{
	for (char **glob = globs; *glob; glob++)
		if (glob_match(*glob, event))
			return true;
	return !*globs;
}

/* Frees the listing. @count: set to the number of matching events */
static int cmd_events_print(struct session *session, struct listing *listing, char **globs, unsigned *count)
{
	struct view_buffer out = { .used = 0 };
	unsigned printed = 0;
	uint64_t *counts = buffered_counts_read(session, listing->count);

	if (!as_json && listing->count)
		view_buffer_print(&out, "%-8s %9s  %s\n", "STATE", "BUFFERED", "EVENT");
	for (unsigned n = 0; n < listing->count; n++) {
		const struct listed_event *event = &listing->events[n];
		const uint64_t buffered = counts ? counts[event->id] : 0;

		if (!cmd_events_is_selected(event->name, globs))
			continue;
		printed++;
		if (as_json)
			cmd_events_print_json(event, listing->paused, buffered, &out);
		else
			cmd_events_print_text(event, listing->paused, buffered, &out);
	}
	if (!*globs)
		cmd_events_print_refused(session, &out);
	free(counts);
	listing_free(listing);
	*count = printed;
	return cmd_print(&out, STDOUT_FILENO);
}

/* Read a program's events. It is opened for changes only to complete one whose command has died. */
static int open_program(const char *word, struct target *target, struct session *session,
			struct listing *listing)
{
	int result = cmd_target_look(word, target, session), error;

	if (result)
		return result;
	error = listing_read(listing, session);
	if (error == -EBUSY) {
		cmd_target_leave(target->path, session, 0);
		result = cmd_target_open(word, target, session);
		if (result)
			return result;
		error = listing_read(listing, session);
	}
	return error ? cmd_target_leave(target->path, session, cmd_failed("out of memory")) : 0;
}

static int print_program(const char *word, char **globs)
{
	struct session session;
	struct listing listing;
	struct target target;
	unsigned count;
	int result = open_program(word, &target, &session, &listing);

	if (result)
		return result;
	result = cmd_events_print(&session, &listing, globs, &count);
	if (!result && !count && *globs)
		result = cmd_usage("%s: no such event", *globs);
	return cmd_target_leave(target.path, &session, result);
}

/* A copy of the globs for the module, whose events are kernel.SYSTEM:NAME; the others are for SYSTEM:NAME. */
static char **copy_globs(char **globs)
{
	size_t count = 0;
	char **copy;

	while (globs[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t n = 0; copy && n < count; n++)
		copy[n] = globs[n];
	return copy;
}

/* The module's events with state and counts, then the tracepoints that only burin record can attach to. */
static int print_kernel(char **globs)
{
	struct session session;
	struct listing listing;
	struct target target;
	char **names = copy_globs(globs);
	unsigned count = 0;
	int result;

	if (!kernel_device_is_there()) {
		free(names);
		return kernel_listing((const char *const *)globs, as_json, NULL, false);
	}
	result = names ? cmd_target_look(TARGET_KERNEL, &target, &session) : cmd_failed("out of memory");
	if (!result) {
		result = cmd_target_globs(&target, (const char **)names);
		if (!result && listing_read(&listing, &session) != 0)
			result = cmd_failed("out of memory");
		if (!result)
			result = cmd_events_print(&session, &listing, names, &count);
		if (!result)
			result = kernel_listing((const char *const *)globs, as_json, &session, count != 0);
		result = cmd_target_leave(target.path, &session, result);
	}
	free(names);
	return result;
}

static int cmd_events_run(char **operands)
{
	cmd_output_begin();
	return strcmp(operands[0], TARGET_KERNEL) == 0 ? print_kernel(operands + 1)
						       : print_program(operands[0], operands + 1);
}

const struct cmd cmd_events = {
	.name = "events",
	.line = "list the events of a program, with state, fields and source line",
	.usage = "Usage: burin events [options] TARGET [GLOB]...\n"
		 "\n"
		 "List the events of a program: state, records in the buffers, name, fields, and the line\n"
		 "in the source. TARGET is a pid, a program's name, a session's path or kernel; see burin "
		 "ls.\n"
		 "With TARGET kernel, list the events of burin.ko, if it is loaded, and then what only\n"
		 "burin record --kernel can record: name and fields.\n",
	.notes = "State: off, on, where (a filter decides), sample (every N-th), limit (N a second), unfit\n"
		 "(off, since the filter does not apply to its fields). While tracing is paused,\n"
		 "parentheses show the state that burin resume restores. Events with an invalid name or\n"
		 "format are listed last, with the reason.\n"
		 "\n"
		 "Exit code: 0; 2 if there is no such TARGET, or no event matches.\n",
	.options = table,
	.operands = { 1,
		      INT_MAX,
		      "give a TARGET: a pid, a program's name or a session's path",
		      { CMD_IS_TARGET, CMD_IS_EVENT } },
	.main = cmd_events_run,
};
