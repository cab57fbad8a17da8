/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin events kernel; see kernel_listing.h. */
#include "cmd/control/kernel_listing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "source/kernel/probes/kernel_function.h"
#include "source/kernel/probes/probe.h"
#include "source/kernel/points/tracefs.h"
#include "source/kernel/points/unnamed_calls.h"
#include "view/json.h"
#include "wire/wire_format.h"
#include "wire/wire_terms.h"

struct kernel_list {
	struct view_buffer out;
	const struct session *module;
	unsigned count;
	bool as_json;
	char last[WIRE_NAME_MAX + 1]; /* the event */
};

static bool module_has(const struct session *module, const char *name)
{
	for (uint32_t n = 0; module && n < session_event_count(module); n++)
		if (strcmp(session_event_text(module, module->entries[n].name), name) == 0)
			return true;
	return false;
}

void kernel_listing_fields(const char *text, uint64_t types, struct view_buffer *out)
{
	struct format format;

	if (format_parse(text, types, &format, NULL) != 0)
		return;
	for (unsigned n = 0; n < format.count; n++) {
		const struct format_field *field = &format.fields[n];
		const bool array = field->type == WIRE_ARRAY;

		view_buffer_print(out, "%s%s:%s%s", n ? " " : "", field->name,
				  wire_type_keys[array ? field->element : field->type], array ? "[]" : "");
	}
}

static void kernel_listing_print_text(struct view_buffer *out, const struct tracepoint *point)
{
	view_buffer_print(out, "%s:%s %s", point->system, point->name, point->types ? " " : "");
	kernel_listing_fields(point->format, point->types, out);
	for (unsigned n = 0; n < point->count; n++)
		if (!point->fields[n].recorded)
			view_buffer_print(out, " (not recorded: %s %s)", point->fields[n].type,
					  point->fields[n].name);
	if (point->refused)
		view_buffer_print(out, " (not recorded: %s)", point->refused);
	view_buffer_print(out, "\n");
}

static void kernel_listing_print_json(struct view_buffer *out, const struct tracepoint *point)
{
	struct json json;

	json_begin_object(&json, out, 0);
	json_text(&json, "name", point->event);
	json_text(&json, "format", point->format);
	json_array(&json, "not_recorded");
	for (unsigned n = 0; n < point->count; n++)
		if (!point->fields[n].recorded)
			json_text(&json, NULL, point->fields[n].name);
	json_end(&json);
	json_end(&json);
}

static int kernel_listing_take(void *context, const struct tracepoint *point)
{
	struct kernel_list *list = context;

	/* The return instructions of a function are one event. */
	if (module_has(list->module, point->event) || !strcmp(list->last, point->event))
		return 0;
	snprintf(list->last, sizeof(list->last), "%s", point->event);
	if (!list->count++ && list->module && !list->as_json)
		view_buffer_print(&list->out, "\nBy burin record --kernel only:\n");
	(list->as_json ? kernel_listing_print_json : kernel_listing_print_text)(&list->out, point);
	return 0;
}

static int list_tracepoints(const char *const *globs, struct kernel_list *list, int events)
{
	const int error = tracefs_each(events, globs, kernel_listing_take, list);

	return error ? error : unnamed_calls_each(globs, kernel_listing_take, list);
}

/* The probes that the globs describe, and the tracepoints that match the others. */
static int list_each(const char *const *globs, struct kernel_list *list, int events, char why[PROBE_WHY])
{
	int error = *globs ? 0 : list_tracepoints(globs, list, events);

	for (; *globs && !error; globs++) {
		const char *const one[] = { *globs, NULL };
		int file = -1;

		*list->last = '\0';
		if (kernel_function_is_one(*globs))
			error = kernel_function_find(*globs, kernel_listing_take, list, why);
		else if (probe_is_one(*globs))
			error = probe_find(*globs, &file, kernel_listing_take, list, why);
		else
			error = list_tracepoints(one, list, events);
		if (file >= 0)
			close(file);
	}
	return error;
}

int kernel_listing(const char *const *globs, bool as_json, const struct session *module, bool found)
{
	struct kernel_list list = { .as_json = as_json, .module = module };
	char why[PROBE_WHY] = "";
	const int events = tracefs_open();
	int error = events;

	if (events >= 0) {
		error = list_each(globs, &list, events, why);
		close(events);
	}
	if (error < 0) {
		view_buffer_free(&list.out);
		if (found)
			return 0;
		if (*why)
			return cmd_usage("%s: %s", *globs, why);
		if (error == -EACCES || error == -EPERM)
			return cmd_failed("kernel: no permission to read tracefs; run as root");
		return cmd_failed("kernel: %s",
				  error == -ENODEV ? "the kernel has no tracefs" : strerror(-error));
	}
	if (!list.count && !found && *globs) {
		view_buffer_free(&list.out);
		return cmd_usage("%s: the kernel has no such tracepoint", *globs);
	}
	return cmd_print(&list.out, STDOUT_FILENO);
}
