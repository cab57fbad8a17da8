/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lines and addresses of one function; see annotate.h. */
#include "view/annotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"

enum {
	AROUND = 3, /* lines that are shown before and behind */
	GAP = 12,   /* lines without samples that are still shown between two with some */
};

/* The function of a place that is meant; -1: none. */
static int function_at(const struct view_profile *counted, const char *symbol, uint32_t place,
		       struct burin_frame *frame)
{
	char address[512];

	for (uint32_t n = 0; !burin_profile_frame(counted->profile, place, n, frame); n++) {
		if (frame->function &&
		    (!strcmp(frame->function, symbol) || glob_match(symbol, frame->function)))
			return (int)n;
	}
	*frame = (struct burin_frame){ .function = NULL };
	burin_profile_address(counted->profile, place, address, sizeof(address));
	return !strcmp(address, symbol) ? 0 : -1;
}

/* The number of a line, from 1, new or known; 0: no memory. */
static uint32_t line_of(struct view_annotation *annotation, const struct burin_frame *frame)
{
	uint32_t file = view_string(&annotation->strings, frame->file ? frame->file : "");

	for (size_t n = 0; n < annotation->line_count; n++) {
		if (annotation->lines[n].file == file && annotation->lines[n].line == frame->line)
			return (uint32_t)n + 1;
	}
	if (annotation->line_count == annotation->line_room) {
		size_t room = annotation->line_room ? 2 * annotation->line_room : 64;
		struct view_line_cost *lines = reallocarray(annotation->lines, room, sizeof(*lines));

		if (!lines)
			return 0;
		annotation->lines = lines;
		annotation->line_room = room;
	}
	annotation->lines[annotation->line_count++] =
		(struct view_line_cost){ .file = file, .line = frame->line };
	return (uint32_t)annotation->line_count;
}

/* What is known of a place: the function's line there, and what the place costs. */
struct place_cost {
	uint32_t line; /* from 1; 0: not looked for yet; NO_LINE: another function */
	struct view_cost self, total;
};

enum {
	NO_LINE = UINT32_MAX
};

struct adding {
	struct view_annotation *annotation;
	const struct view_profile *counted;
	const char *symbol;
	struct place_cost *places; /* by number */
};

/* The line of the function that a place lies on; NULL: it is in no such function; *failed: no memory. */
static struct view_line_cost *line_at(const struct adding *adding, uint32_t number, bool *failed)
{
	uint32_t *line = &adding->places[number].line;
	struct burin_place place;
	struct burin_frame frame;

	if (!*line) {
		*line = NO_LINE;
		if (!burin_profile_place(adding->counted->profile, number, &place) && place.image &&
		    function_at(adding->counted, adding->symbol, number, &frame) >= 0)
			*line = line_of(adding->annotation, &frame);
		*failed |= !*line;
	}
	return !*line || *line == NO_LINE ? NULL : &adding->annotation->lines[*line - 1];
}

static int add_pair(const struct adding *adding, const struct view_pair *pair, size_t number)
{
	struct burin_stack stack;
	bool failed = false;

	for (uint32_t at = pair->stack; !burin_profile_stack(adding->counted->profile, at, &stack);
	     at = stack.caller) {
		struct view_line_cost *line = line_at(adding, stack.place, &failed);

		if (!line)
			continue;
		if (at == pair->stack) {
			view_cost_add(&line->self, pair);
			view_cost_add(&adding->places[stack.place].self, pair);
		}
		if (line->last != number) {
			view_cost_add(&line->total, pair);
			view_cost_add(&adding->places[stack.place].total, pair);
		}
		line->last = number;
	}
	return failed ? -ENOMEM : 0;
}

static int by_line(const void *a, const void *b)
{
	const struct view_line_cost *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

static int by_offset(const void *a, const void *b)
{
	const struct view_address_cost *one = a, *other = b;

	if (one->image != other->image)
		return one->image < other->image ? -1 : 1;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

/* The addresses with samples of their own, and the function that most of them lie in. */
static int list_addresses(const struct adding *adding)
{
	struct view_annotation *annotation = adding->annotation;
	uint32_t count = burin_profile_places(adding->counted->profile);
	uint64_t most = 0;

	annotation->addresses = calloc((size_t)count + 1, sizeof(*annotation->addresses));
	if (!annotation->addresses)
		return -ENOMEM;
	for (uint32_t n = 1; n <= count; n++) {
		const struct place_cost *cost = &adding->places[n];
		struct burin_place place;

		if (!cost->line || cost->line == NO_LINE ||
		    burin_profile_place(adding->counted->profile, n, &place))
			continue;
		if (cost->total.all > most) {
			most = cost->total.all;
			annotation->image = place.image;
			annotation->begin = place.begin;
			annotation->size = place.size;
		}
		if (cost->self.all)
			annotation->addresses[annotation->address_count++] =
				(struct view_address_cost){ place.image, place.offset, cost->self };
	}
	return 0;
}

int view_annotate(struct view_annotation *annotation, const struct view_profile *counted, const char *symbol)
{
	struct adding adding = { annotation, counted, symbol, NULL };
	int result;

	*annotation = (struct view_annotation){ .image = 0 };
	adding.places = calloc((size_t)burin_profile_places(counted->profile) + 1, sizeof(*adding.places));
	if (!adding.places)
		return -ENOMEM;
	view_string(&annotation->strings, "");
	result = annotation->strings.texts ? 0 : -ENOMEM;
	for (size_t n = 0; n < counted->pair_count && !result; n++)
		result = add_pair(&adding, &counted->pairs[n], n + 1);
	if (!result)
		result = list_addresses(&adding);
	free(adding.places);
	if (annotation->line_count)
		qsort(annotation->lines, annotation->line_count, sizeof(*annotation->lines), by_line);
	if (annotation->address_count)
		qsort(annotation->addresses, annotation->address_count, sizeof(*annotation->addresses),
		      by_offset);
	if (result)
		view_annotation_free(annotation);
	return result;
}

void view_annotation_free(struct view_annotation *annotation)
{
	view_strings_free(&annotation->strings);
	free(annotation->lines);
	free(annotation->addresses);
	*annotation = (struct view_annotation){ .image = 0 };
}

static void print_line(const struct view_line_cost *cost, const struct view_profile *counted, uint32_t line,
		       const char *text, struct view_buffer *out)
{
	view_cost_text(counted, cost ? &cost->self : NULL, out);
	view_cost_text(counted, cost ? &cost->total : NULL, out);
	view_buffer_print(out, "%7u  ", line);
	view_buffer_escape(out, text);
	view_buffer_print(out, "\n");
}

static void print_gap(const struct view_profile *counted, struct view_buffer *out)
{
	view_cost_text(counted, NULL, out);
	view_cost_text(counted, NULL, out);
	view_buffer_print(out, "%7s\n", "...");
}

/* Whether a line of the source is to be shown: it is near to one with samples. */
static bool near(const struct view_line_cost *costs, size_t count, uint32_t line)
{
	uint32_t first = costs[0].line, last = costs[count - 1].line;

	if (line + AROUND < first || line > last + AROUND)
		return false;
	for (size_t n = 0; n < count; n++) {
		if (line + GAP >= costs[n].line && line <= costs[n].line + GAP)
			return true;
	}
	return false;
}

static void print_source(FILE *source, const struct view_line_cost *costs, size_t count,
			 const struct view_profile *counted, struct view_buffer *out)
{
	char *text = NULL;
	size_t room = 0, next = 0;
	ssize_t bytes;
	bool gap = false;

	for (uint32_t line = 1; (bytes = getline(&text, &room, source)) >= 0; line++) {
		const struct view_line_cost *cost =
			next < count && costs[next].line == line ? &costs[next] : NULL;
		char *tab;

		next += cost != NULL;
		if (!near(costs, count, line)) {
			gap = line > costs[0].line && next < count;
			continue;
		}
		if (gap)
			print_gap(counted, out);
		gap = false;
		if (bytes && text[bytes - 1] == '\n')
			text[bytes - 1] = '\0';
		while ((tab = strchr(text, '\t')))
			*tab = ' ';
		print_line(cost, counted, line, text, out);
	}
	for (; next < count; next++)
		print_line(&costs[next], counted, costs[next].line, "(the source file is shorter than this)",
			   out);
	free(text);
}

/* A source file is named by the trace, and so may be anything: only a regular one is read. */
static FILE *open_source(const char *path)
{
	struct stat status;
	int file = *path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	FILE *source;

	if (file < 0)
		return NULL;
	source = fstat(file, &status) || !S_ISREG(status.st_mode) ? NULL : fdopen(file, "r");
	if (!source)
		close(file);
	return source;
}

void view_annotation_text(const struct view_annotation *annotation, const struct view_profile *counted,
			  struct view_buffer *out)
{
	for (size_t n = 0, count; n < annotation->line_count; n += count) {
		const struct view_line_cost *costs = &annotation->lines[n];
		const char *file = annotation->strings.texts[costs->file];
		FILE *source = open_source(file);

		for (count = 1; n + count < annotation->line_count && costs[count].file == costs->file;)
			count++;
		view_buffer_print(out, "   SELF  %s  TOTAL  %s   LINE  ", view_waited_title(counted),
				  view_waited_title(counted));
		view_buffer_escape(out, *file ? file : "(no line is known)");
		view_buffer_print(out, "%s\n", source || !*file ? "" : "  (the source file is not here)");
		if (source)
			print_source(source, costs, count, counted, out);
		for (size_t at = 0; !source && at < count; at++)
			print_line(&costs[at], counted, costs[at].line, "", out);
		if (source)
			fclose(source);
		view_buffer_print(out, "\n");
	}
}
