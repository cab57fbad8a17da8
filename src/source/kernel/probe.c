/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Probes in programs; see probe.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/bpf_program.h"
#include "file/foreign.h"
#include "file/program_path.h"
#include "source/kernel/probe.h"
#include "source/kernel/probe_file.h"
#include "source/kernel/probe_types.h"
#include "wire/wire_enum.h"

enum {
	PROBE_TEXT = 1024,  /* bytes of a description */
	PROBE_LINK = 32,    /* bytes of file_link */
	COUNTER_SHIFT = 32, /* where the probes' configuration has the counter */
};

/* The file that was parsed, whatever its path leads to by now. */
#define file_link "/proc/self/fd/%d"

/* Kinds of probes, by the word before the first colon. */
static const char of_functions[] = "u:", of_returns[] = "uret:", of_notes[] = "usdt:";

struct description {
	bool returns;
	char text[PROBE_TEXT]; /* its parts: */
	const char *file, *provider, *name;
	struct probe_arguments arguments;
};

static bool starts(const char *text, const char *kind)
{
	return strncmp(text, kind, strlen(kind)) == 0;
}

bool probe_is_one(const char *text)
{
	return starts(text, of_functions) || starts(text, of_returns) || starts(text, of_notes);
}

/* Cut the text at its last colon. Return: the part behind it; NULL: it has none. */
static char *cut(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || !colon[1])
		return NULL;
	*colon = 0;
	return colon + 1;
}

static int parse(struct description *out, const char *text, char why[PROBE_WHY])
{
	const bool notes = starts(text, of_notes), returns = starts(text, of_returns);
	char *parenthesis;

	if (strlen(text) >= sizeof(out->text)) {
		snprintf(why, PROBE_WHY, "it is longer than %d bytes", PROBE_TEXT - 1);
		return -EINVAL;
	}
	out->returns = returns;
	strcpy(out->text, text + strlen(notes ? of_notes : returns ? of_returns : of_functions));
	parenthesis = strchr(out->text, '(');
	if (!probe_arguments_parse(&out->arguments, parenthesis, why))
		return -EINVAL;
	if (probe_arguments_has_members(&out->arguments)) {
		snprintf(why, PROBE_WHY,
			 "members of structures can be given of functions of the kernel only (k:)");
		return -EINVAL;
	}
	if (parenthesis)
		*parenthesis = 0;
	out->name = cut(out->text);
	out->provider = notes && out->name ? cut(out->text) : NULL;
	out->file = out->text;
	if (!out->name || !*out->file || (notes && !out->provider)) {
		snprintf(why, PROBE_WHY, "give %s",
			 notes	   ? "usdt:FILE:PROVIDER:NAME"
			 : returns ? "uret:FILE:FUNCTION"
				   : "u:FILE:FUNCTION");
		return -EINVAL;
	}
	if (returns && out->arguments.count > 1) {
		snprintf(why, PROBE_WHY, "a return has one value: uret:FILE:FUNCTION(NAME:TYPE)");
		return -EINVAL;
	}
	return 0;
}

/* Open the file: a path, or a command. Return: a descriptor or -errno. */
static int open_file(const char *name, char path[PATH_MAX])
{
	if (!program_path(path, name) && !(strchr(name, '/') && realpath(name, path)))
		return -ENOENT;
	return foreign_open(&(struct foreign){ .bytes_max = FOREIGN_IMAGE_MAX }, FOREIGN_HERE, path);
}

/* Names of events have few characters; those of a file's parts have any. */
static void append(char *out, size_t room, const char *text)
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

static void name_point(struct tracepoint *point, const char *path, const struct probe_place *place)
{
	const char *slash = strrchr(path, '/');

	append(point->name, 28, slash ? slash + 1 : path);
	append(point->name, sizeof(point->name), ":");
	if (*place->provider) {
		append(point->name, sizeof(point->name) - 20, place->provider);
		append(point->name, sizeof(point->name), ":");
	}
	append(point->name, sizeof(point->name), place->name);
}

/* The receiver of the places. */
struct taker {
	int (*take)(void *context, const struct tracepoint *);
	void *context;
	bool single; /* one function: a name that it has not is wrong */
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
static bool take_types(struct tracepoint *point, const struct description *description,
		       const struct probe_place *place, const char *spec, struct call_arguments *known,
		       const struct taker *taker)
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
	return probe_types_arguments(point, known, given, taker->why) || !taker->single;
}

static int take_place(const struct description *description, const char *path, int file,
		      const struct probe_place *place, const char *spec, struct taker *taker)
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
	name_point(&point, path, place);
	if (description->provider)
		probe_arguments_of_note(&point, &description->arguments, place->arguments);
	else if (!take_types(&point, description, place, spec, &known, taker))
		return -EINVAL;
	tracepoint_make_event(&point);
	return taker->take(taker->context, &point);
}

static int explain(char why[PROBE_WHY], const struct description *description, const char *path, int error)
{
	const char *kind = description->provider ? "probe" : "function";

	if (error == -ENOEXEC)
		snprintf(why, PROBE_WHY, "%.120s is not an ELF file of this machine", path);
	else if (error == -E2BIG)
		snprintf(why, PROBE_WHY, "more than %d %ss match; name fewer", PROBE_PLACES_MAX, kind);
	else if (error)
		snprintf(why, PROBE_WHY, "%.120s: %s", path, strerror(-error));
	else
		snprintf(why, PROBE_WHY, "no %s of %.60s matches %.40s", kind, path, description->name);
	return error ? error : -ENOENT;
}

/* Burin's own record of calls does not change the stack of such programs for long, and puts it back before it is unwound. */
static int refuse_return(char why[PROBE_WHY], const struct probe_place *place)
{
	snprintf(why, PROBE_WHY,
		 "uret: %.80s: %s; the kernel's return probe would end a program whose functions are unwound "
		 "(exceptions, Go); use u: or burin record --calls",
		 place->name, probe_refusals[place->refused]);
	return -EINVAL;
}

static int take_places(const struct description *description, const char *path, int file,
		       const struct probe_place *places, unsigned count, struct taker *taker)
{
	char **specs = calloc(count, sizeof(*specs));
	int error = specs ? 0 : -ENOMEM;

	if (!error && !description->provider &&
	    (description->arguments.count || !description->arguments.listed))
		probe_types_find(path, file, places, count, specs);
	for (unsigned n = 0; n < count && !error; n++)
		error = take_place(description, path, file, &places[n], specs[n], taker);
	for (unsigned n = 0; specs && n < count; n++)
		free(specs[n]);
	free(specs);
	return error;
}

int probe_find(const char *text, int *file, int (*take)(void *context, const struct tracepoint *),
	       void *context, char why[PROBE_WHY])
{
	struct description description = { .file = "" };
	struct probe_place *places = NULL;
	char path[PATH_MAX] = "";
	unsigned count = 0;
	int error = parse(&description, text, why);

	*file = -1;
	if (error)
		return error;
	*file = open_file(description.file, path);
	if (*file < 0)
		return explain(why, &description, description.file, *file);
	error = probe_file_find(
		*file, &(struct probe_search){ description.provider, description.name, description.returns },
		&places, &count);
	if (error || !count)
		error = explain(why, &description, path, error);
	else if (count == 1 && places->refused)
		error = refuse_return(why, places);
	else
		error = take_places(&description, path, *file, places, count,
				    &(struct taker){ take, context, count == 1, why });
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
