/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments by debug information; see probe_types.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/symbolize/symbolize.h"
#include "source/kernel/probes/probe_types.h"

enum {
	READ_MS = 10000,
	STACK_POINTER = 152, /* in struct pt_regs; the return address is there when a function begins */
};

static const char result_name[] = "ret", result_enum[] = "retval";

/* ---- what the reader reports */

struct search {
	const struct probe_place *places;
	unsigned count;
	char **specs;
};

/* A function that is described in two ways is not known: "" until the end. */
static void probe_types_on_parameters(void *data, uint32_t image, uint64_t offset, const char *spec,
				      const char *file)
{
	const struct search *search = data;

	(void)image;
	(void)file;
	for (unsigned n = 0; spec && n < search->count; n++) {
		char **known = &search->specs[n];

		if (search->places[n].function != offset)
			continue;
		if (!*known)
			*known = strdup(spec);
		else if (strcmp(*known, spec) != 0)
			**known = 0;
	}
}

static int probe_types_on_entry(void *data, const void *bytes, size_t count)
{
	(void)data;
	(void)bytes;
	(void)count;
	return 0;
}

void probe_types_find(const char *path, int file, const struct probe_place *places, unsigned count,
		      char **specs)
{
	static const uint64_t any = 0;
	struct search search = { places, count, specs };
	const struct symbolize_image image = {
		.kind = WIRE_IMAGE_FILE, .number = 1, .path = path, .file = file, .offsets = &any, .count = 1
	};
	const struct symbolize_options options = { .deadline_ms = READ_MS,
						   .data = &search,
						   .entry = probe_types_on_entry,
						   .parameters = probe_types_on_parameters };
	struct symbolize_counts counts;

	memset(specs, 0, count * sizeof(*specs));
	symbolize(&image, 1, &options, &counts);
}

/* ---- fields */

/* Give a field the type. Return: false: it is not an integer, a pointer or a text. */
static bool probe_types_take_type(struct tracepoint_field *field, unsigned type)
{
	field->bytes = 8;
	if (type == WIRE_STR)
		field->kind = TRACEPOINT_USER_TEXT;
	else if (type == WIRE_PTR)
		field->kind = TRACEPOINT_POINTER;
	else if (type >= WIRE_U8 && type <= WIRE_U64)
		field->bytes = (uint8_t)(1 << (type - WIRE_U8));
	else if (type >= WIRE_I8 && type <= WIRE_I64)
		field->bytes = (uint8_t)(1 << (type - WIRE_I8));
	else
		return false;
	field->is_signed = type >= WIRE_I8 && type <= WIRE_I64;
	if (type != WIRE_STR && type != WIRE_PTR)
		field->kind = TRACEPOINT_INTEGER;
	return true;
}

static void add_argument(struct tracepoint *point, const struct call_argument *known)
{
	struct tracepoint_field *field = &point->fields[point->count++];

	snprintf(field->name, sizeof(field->name), "%s", known->name);
	strcpy(field->type, "argument");
	if (known->place == CALL_IN_VECTOR || !probe_types_take_type(field, known->type))
		return; /* it is not recorded */
	field->labelled = known->labelled;
	field->source = (struct tracepoint_source){ .place = TRACEPOINT_REGISTER,
						    .base = probe_arguments_register(known->index),
						    .index = TRACEPOINT_NO_REGISTER };
	if (known->place == CALL_ON_STACK) {
		field->source.place = TRACEPOINT_MEMORY;
		field->source.base = STACK_POINTER;
		field->source.number = 8 * (1 + (int64_t)known->index);
	}
}

static const struct call_argument *probe_types_find_argument(const struct call_arguments *known,
							     const char *name)
{
	for (unsigned n = 0; n < known->count; n++)
		if (strcmp(known->list[n].name, name) == 0)
			return &known->list[n];
	return NULL;
}

bool probe_types_has(const struct call_arguments *known, const struct probe_arguments *given)
{
	for (unsigned n = 0; n < given->count; n++)
		if (probe_types_find_argument(known, given->list[n].name))
			return true;
	return false;
}

static void probe_types_explain(const struct call_arguments *known, const char *name, char *why)
{
	size_t used = (size_t)snprintf(why, PROBE_WHY, "the function has no argument '%.40s'; it has:", name);

	for (unsigned n = 0; n < known->count && used < PROBE_WHY; n++)
		used += (size_t)snprintf(why + used, PROBE_WHY - used, " %s", known->list[n].name);
	if (!known->count && used < PROBE_WHY)
		snprintf(why + used, PROBE_WHY - used, " none that is known");
}

bool probe_types_arguments(struct tracepoint *point, const struct call_arguments *known,
			   const struct probe_arguments *given, char *why)
{
	bool whole = true;

	point->enums = known->enums;
	for (unsigned n = 0; !given->listed && n < known->count; n++)
		add_argument(point, &known->list[n]);
	for (unsigned n = 0; n < given->count; n++) {
		const struct call_argument *argument = probe_types_find_argument(known, given->list[n].name);

		if (!argument) {
			probe_types_explain(known, given->list[n].name, why);
			whole = false;
			continue;
		}
		add_argument(point, argument);
		if (given->list[n].kind != TRACEPOINT_OTHER) {
			point->fields[point->count - 1].labelled = false;
			probe_arguments_adapt(&point->fields[point->count - 1], &given->list[n]);
		}
	}
	return whole;
}

bool probe_types_result(struct tracepoint *point, struct call_arguments *known)
{
	struct tracepoint_field *field = &point->fields[0];
	const size_t bytes = sizeof(result_enum) - 1;
	char *line = known->enums;

	if (!known->has_result || known->result.place == CALL_IN_VECTOR ||
	    !probe_types_take_type(field, known->result.type))
		return false;
	strcpy(field->name, result_name);
	field->labelled = known->result.labelled;
	/* Its labels are those of the field's name. */
	while (field->labelled && line && strncmp(line, result_enum, bytes) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (field->labelled && line)
		memmove(line + sizeof(result_name) - 1, line + bytes, strlen(line + bytes) + 1);
	point->enums = known->enums;
	return true;
}
