/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Probes in programs; see probe.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/bpf_program.h"
#include "file/foreign.h"
#include "file/program_path.h"
#include "source/kernel/probes/probe.h"
#include "source/kernel/probes/probe_description.h"
#include "source/kernel/probes/probe_file.h"
#include "source/kernel/probes/probe_lines.h"
#include "source/kernel/probes/probe_types.h"
#include "wire/wire_enum.h"

enum {
	PROBE_LINK = 32,    /* bytes of file_link */
	SUGGESTED = 4,	    /* names in a message */
	COUNTER_SHIFT = 32, /* where the probes' configuration has the counter */
};

/* The file that was parsed, whatever its path leads to by now. */
#define file_link "/proc/self/fd/%d"

bool probe_is_one(const char *text)
{
	return probe_description_is_one(text);
}

/* Open the file: a path, or a command. Return: a descriptor or -errno. */
static int probe_open_file(const char *name, char path[PATH_MAX])
{
	if (!program_path(path, name) && !(strchr(name, '/') && realpath(name, path)))
		return -ENOENT;
	return foreign_open(&(struct foreign){ .bytes_max = FOREIGN_IMAGE_MAX }, FOREIGN_HERE, path);
}

/* Names of a file's parts have any characters; those for the terminal are printable. */
static void append_text(char *out, size_t room, const char *text)
{
	size_t used = 0;

	for (; *text && used + 1 < room; text++)
		out[used++] = (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text;
	out[used] = 0;
}

/* Names of events have few characters. */
static void probe_append(char *out, size_t room, const char *text)
{
	size_t used = strlen(out);

	for (; *text && used + 1 < room; text++)
		out[used++] = (*text >= '0' && *text <= '9') ||
					      ((*text | 32) >= 'a' && (*text | 32) <= 'z') ||
					      strchr("_.:-", *text)
				      ? *text
				      : '_';
	out[used] = 0;
}

/*
 * The file has the name that the user wrote, also of a link: redis-server is one to redis-check-rdb, which the user has never heard of.
 * @file: as it was described
 * @bytes: of the place's name: without parameters, if no other place differs by them only
 */
static void name_point(struct tracepoint *point, const char *file, const struct probe_place *place,
		       size_t bytes, const char *shift)
{
	const char *slash = strrchr(file, '/');
	char name[PROBE_NAME];

	probe_append(point->name, 28, slash ? slash + 1 : file);
	probe_append(point->name, sizeof(point->name), ":");
	if (*place->provider) {
		probe_append(point->name, sizeof(point->name) - 20, place->provider);
		probe_append(point->name, sizeof(point->name), ":");
	}
	snprintf(name, sizeof(name), "%.*s", (int)bytes, place->name);
	probe_append(point->name, sizeof(point->name) - strlen(shift), name);
	probe_append(point->name, sizeof(point->name), shift);
}

/* Whether another place is of a function of the same name with other parameters. */
static bool is_overloaded(const struct probe_place *places, unsigned count, const struct probe_place *one)
{
	for (unsigned n = 0; n < count; n++)
		if (places[n].bare == one->bare && strncmp(places[n].name, one->name, one->bare) == 0 &&
		    strcmp(places[n].name, one->name) != 0)
			return true;
	return false;
}

/* Whether another function of the name is described otherwise: static ones of several source files. Then they are several events. */
static bool is_ambiguous(const struct probe_place *places, char *const *specs, unsigned count, unsigned one)
{
	for (unsigned n = 0; n < count; n++)
		if (places[n].function != places[one].function && !strcmp(places[n].name, places[one].name) &&
		    strcmp(specs[n] ?: "", specs[one] ?: "") != 0)
			return true;
	return false;
}

/* The receiver of the places. */
struct taker {
	int (*take)(void *context, const struct tracepoint *);
	void *context;
	const struct probe_place *places;
	unsigned count;
	bool found; /* one of the functions has one of the arguments */
	char *why;
};

/* Whether names are of debug information, not the user's own for the arguments in their order: one of them is known, or none has a type. */
static bool means_names(const struct call_arguments *known, const struct probe_arguments *given)
{
	for (unsigned n = 0; n < given->count; n++)
		if (given->list[n].kind == TRACEPOINT_OTHER)
			return true;
	return !given->listed || probe_types_has(known, given);
}

/* The fields of a function, as its debug information has them, or as the user does. Return: false: *taker->why has the reason. */
static bool take_types(struct tracepoint *point, const struct probe_description *description,
		       const struct probe_place *place, const char *spec, struct call_arguments *known,
		       struct taker *taker)
{
	const struct probe_arguments *given = &description->arguments;
	const char *why;
	const bool is_known = spec && *spec && call_arguments_parse(known, spec, &why) == 0 &&
			      wire_enum_valid(known->enums);

	if (description->returns) {
		probe_arguments_of_return(point, given);
		if (is_known && !given->count)
			probe_types_result(point, known);
		return true;
	}
	if (!description->provider && !place->function && given->count) {
		snprintf(taker->why, PROBE_WHY,
			 "arguments are known only where a function begins; give none");
		return false;
	}
	if (!is_known || !means_names(known, given)) {
		if (place->is_go && given->count) {
			snprintf(taker->why, PROBE_WHY,
				 "%.80s: functions of Go do not have their arguments where those of C have "
				 "them; give none",
				 place->name);
			return false;
		}
		probe_arguments_of_function(point, given);
		return true;
	}
	return probe_types_arguments(point, known, given, taker->why) || taker->count > 1;
}

static int probe_take_place(const struct probe_description *description, int file,
			    const struct probe_place *place, const char *spec, const char *shift,
			    struct taker *taker)
{
	static unsigned number = PROBE_FIRST_ID;
	struct call_arguments known; /* has texts of the point */
	struct tracepoint point = { .id = number++,
				    .file = file,
				    .is_probe = true,
				    .is_return = place->is_return,
				    .site = place->offset,
				    .counter = place->counter,
				    .refused = probe_refusals[place->refused] };

	strcpy(point.system, description->provider ? "usdt" : description->returns ? "uret" : "u");
	name_point(&point, description->file, place,
		   place->bare && !is_overloaded(taker->places, taker->count, place) ? place->bare
										     : strlen(place->name),
		   shift);
	if (description->provider)
		probe_arguments_of_note(&point, &description->arguments, place->arguments);
	else if (!take_types(&point, description, place, spec, &known, taker))
		return -EINVAL;
	taker->found |= point.count != 0;
	tracepoint_make_event(&point);
	return taker->take(taker->context, &point);
}

static int probe_explain(char why[PROBE_WHY], const struct probe_description *description, const char *path,
			 int error)
{
	const char *kind = description->provider ? "probe" : "function";

	if (error == -ENOEXEC)
		snprintf(why, PROBE_WHY, "%.120s is not an ELF file of this machine", path);
	else if (error == -E2BIG)
		snprintf(why, PROBE_WHY, "more than %d %ss match; name fewer", PROBE_PLACES_MAX, kind);
	else if (error)
		snprintf(why, PROBE_WHY, "%.120s: %s", path, strerror(-error));
	else
		snprintf(why, PROBE_WHY, "no %s of %.60s matches %.60s", kind, path,
			 *description->whole && !description->provider ? description->whole
								       : description->name);
	return error ? error : -ENOENT;
}

/* Functions that are not what was asked for, but may be what was meant. */
static int probe_suggest(char why[PROBE_WHY], const struct probe_description *description, const char *path,
			 const struct probe_place *places, unsigned count)
{
	const bool overloads = places->match >= PROBE_BY_GLOB;
	size_t used;

	probe_explain(why, description, path, 0);
	used = strlen(why);
	used += (size_t)snprintf(why + used, PROBE_WHY - used, overloads ? "; there is" : "; did you mean");
	for (unsigned n = 0; n < count && n < SUGGESTED && used < PROBE_WHY; n++) {
		char name[PROBE_NAME] = "";

		append_text(name, sizeof(name), places[n].name);
		used += (size_t)snprintf(why + used, PROBE_WHY - used, "%s %s", n ? " or" : "", name);
	}
	if (used < PROBE_WHY)
		snprintf(why + used, PROBE_WHY - used, "%s%s", count > SUGGESTED ? " or others" : "",
			 overloads ? "" : "?");
	return -ENOENT;
}

/* A list in parentheses that is none of a function's parameters is one of arguments. Return: 0; a negative errno: it is none of these. */
static int check_list(struct probe_description *description, const char *path,
		      const struct probe_place *places, unsigned count, char why[PROBE_WHY])
{
	if (*description->whole && places->match >= PROBE_BY_WHOLE_GLOB) {
		description->arguments = (struct probe_arguments){ .count = 0 };
		return 0;
	}
	if (!*description->wrong)
		return 0;
	if (!description->provider && strlen(places->name) > places->bare)
		return probe_suggest(why, description, path, places, count);
	snprintf(why, PROBE_WHY, "%s", description->wrong);
	return -EINVAL;
}

/* Burin's own record of calls does not change the stack of such programs for long, and puts it back before it is unwound. */
static int probe_refuse(char why[PROBE_WHY], const struct probe_description *description,
			const struct probe_place *place)
{
	const char *phrase = probe_refusals[place->refused], *sign = *description->shift ? "+" : "";
	char name[PROBE_NAME] = "";

	append_text(name, sizeof(name), place->name);
	if (place->refused == PROBE_WITHIN)
		snprintf(why, PROBE_WHY, "%.80s%s: %s, but at %s0x%" PRIx64 " and %s0x%" PRIx64, name,
			 description->shift, phrase, sign, place->before, sign, place->next);
	else if (place->refused == PROBE_BEHIND)
		snprintf(why, PROBE_WHY, "%.80s%s: %s; it has 0x%" PRIx64 " bytes", name, description->shift,
			 phrase, place->before);
	else if (!description->returns)
		snprintf(why, PROBE_WHY, "%.80s%s: %s", name, description->shift, phrase);
	else if (place->refused == PROBE_CHOSEN_AT_LOAD)
		snprintf(why, PROBE_WHY, "%.80s: %s", name, phrase);
	else
		snprintf(why, PROBE_WHY,
			 "uret: %.80s: %s; the kernel's return probe would end a program whose functions are "
			 "unwound (exceptions, Go); use u: or burin record --calls",
			 name, phrase);
	return -EINVAL;
}

static int take_places(const struct probe_description *description, const char *path, int file,
		       const struct probe_place *places, unsigned count, struct taker *taker)
{
	char **specs = calloc(count, sizeof(*specs));
	int error = specs ? 0 : -ENOMEM;

	if (!error && !description->provider && places->function &&
	    (description->arguments.count || !description->arguments.listed))
		probe_types_find(path, file, places, count, specs);
	for (unsigned n = 0; n < count && !error; n++) {
		char shift[sizeof(description->shift) + 24];

		snprintf(shift, sizeof(shift), "%s", description->shift);
		if (is_ambiguous(places, specs, count, n))
			snprintf(shift, sizeof(shift), "%s.0x%" PRIx64, description->shift,
				 places[n].function);
		error = probe_take_place(description, file, &places[n], specs[n], shift, taker);
	}
	for (unsigned n = 0; specs && n < count; n++)
		free(specs[n]);
	free(specs);
	return error;
}

static int explain_line(char why[PROBE_WHY], const struct probe_description *description, const char *path,
			const struct probe_lines *lines)
{
	char near[64] = "";

	if (lines->before && lines->behind)
		snprintf(near, sizeof(near), "%u and %u", lines->before, lines->behind);
	else if (lines->before || lines->behind)
		snprintf(near, sizeof(near), "%u", lines->before ? lines->before : lines->behind);
	if (*near)
		snprintf(why, PROBE_WHY, "%.100s has no code of %.60s; the nearest lines with code: %s", path,
			 description->name, near);
	else
		snprintf(why, PROBE_WHY,
			 "the debug information of %.100s has no source file %.60s; was it built with -g?",
			 path, description->source);
	return -ENOENT;
}

/* The addresses that are described, if functions are not. @lines: the caller frees its addresses */
static int probe_find_addresses(const struct probe_description *description, const char *path, int file,
				struct probe_lines *lines, struct probe_search *search, char why[PROBE_WHY])
{
	int error;

	if (description->is_address) {
		search->addresses = &description->number;
		search->address_count = 1;
	}
	if (!*description->source)
		return 0;
	error = probe_lines_find(path, file, description->source, (uint32_t)description->number, lines);
	if (error)
		return probe_explain(why, description, path, error);
	search->addresses = lines->addresses;
	search->address_count = lines->count;
	return lines->count ? 0 : explain_line(why, description, path, lines);
}

static int find_places(struct probe_description *description, const char *path, int file,
		       struct probe_place **places, unsigned *count, char why[PROBE_WHY])
{
	struct probe_search search = { .provider = description->provider,
				       .name = description->name,
				       .whole = description->whole,
				       .returns = description->returns,
				       .is_shifted = *description->shift,
				       .number = description->number };
	struct probe_lines lines = { .addresses = NULL };
	int error = probe_find_addresses(description, path, file, &lines, &search, why);

	if (!error) {
		error = probe_file_find(file, &search, places, count);
		if (error || !*count)
			error = probe_explain(why, description, path, error);
	}
	free(lines.addresses);
	if (error)
		return error;
	/* A line may begin where a function does, and elsewhere too; all its places are one event. */
	for (unsigned n = 0; *description->source && n < *count; n++)
		(*places)[n].function = 0;
	if ((*places)->match < PROBE_BY_GLOB)
		return probe_suggest(why, description, path, *places, *count);
	if (check_list(description, path, *places, *count, why) != 0)
		return -EINVAL;
	return *count == 1 && (*places)->refused ? probe_refuse(why, description, *places) : 0;
}

int probe_find(const char *text, int *file, int (*take)(void *context, const struct tracepoint *),
	       void *context, char why[PROBE_WHY])
{
	static struct probe_description description;
	struct probe_place *places = NULL;
	char path[PATH_MAX] = "";
	unsigned count = 0;
	int error;

	memset(&description, 0, sizeof(description));
	error = probe_description_parse(&description, text, why);
	*file = -1;
	if (error)
		return error;
	*file = probe_open_file(description.file, path);
	if (*file < 0)
		return probe_explain(why, &description, description.file, *file);
	error = find_places(&description, path, *file, &places, &count, why);
	if (!error) {
		struct taker taker = { take, context, places, count, false, why };

		error = take_places(&description, path, *file, places, count, &taker);
		if (!error && description.arguments.count && !taker.found)
			error = probe_suggest(why, &description, path, places, count);
	}
	free(places);
	return error;
}

/* The type of the kernel's probes in programs, for perf_event_open(2). Return: 0: it has none. */
static unsigned probe_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned type = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%u", &type) != 1)
		type = 0;
	fclose(file);
	return type;
}

bool probe_is_like(const struct tracepoint *one, const struct tracepoint *other)
{
	return one->is_probe && other->is_probe && !one->refused && !other->refused &&
	       one->file == other->file && one->count == other->count && one->is_return == other->is_return &&
	       memcmp(one->fields, other->fields, one->count * sizeof(one->fields[0])) == 0;
}

int probe_attach_all(const struct tracepoint *points, const uint16_t *ids, unsigned count, int program)
{
	uint64_t *numbers = calloc(count, 3 * sizeof(*numbers));
	char path[PROBE_LINK];
	int result;

	if (!numbers)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++) {
		numbers[n] = points[n].site;
		numbers[count + n] = points[n].counter;
		numbers[2 * count + n] = ids[n];
	}
	snprintf(path, sizeof(path), file_link, points->file);
	result = bpf_attach_places(&(struct bpf_places){ .path = path,
							 .count = count,
							 .offsets = numbers,
							 .returns = points->is_return,
							 .counters = numbers + count,
							 .cookies = numbers + (size_t)2 * count },
				   program);
	free(numbers);
	return result;
}

int probe_attach(const struct tracepoint *point, int program)
{
	char path[PROBE_LINK];
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = probe_type(),
					.config = point->counter << COUNTER_SHIFT | point->is_return,
					.config1 = (uint64_t)(uintptr_t)path,
					.config2 = point->site };

	if (!attr.type)
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), file_link, point->file);
	return bpf_attach_event(&attr, program);
}
