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

#include "view/symbol.h"

enum {
	AROUND = 3, /* lines that are shown before and behind */
	TAB = 8,
	GAP = 12, /* lines without samples that are still shown between two with some */
};

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

/* A place: the lines of the functions there that are meant, inlined ones and those they are inlined into; its cost. */
struct place_cost {
	bool known;
	uint32_t first, count; /* in `lines` of struct adding */
	struct view_cost self, total;
	size_t last; /* pair that is in total, from 1 */
};

struct adding {
	struct view_annotation *annotation;
	const struct view_profile *counted;
	const char *symbol;
	struct place_cost *places; /* by number */
	uint32_t *lines;	   /* numbers of lines, from 1 */
	size_t line_count, line_room;
};

static int add_line(struct adding *adding, struct place_cost *place, const struct burin_frame *frame)
{
	uint32_t number = line_of(adding->annotation, frame);

	if (adding->line_count == adding->line_room) {
		size_t room = adding->line_room ? 2 * adding->line_room : 256;
		uint32_t *lines = reallocarray(adding->lines, room, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		adding->lines = lines;
		adding->line_room = room;
	}
	adding->lines[adding->line_count++] = number;
	place->count++;
	return number ? 0 : -ENOMEM;
}

/* Finds out what a place has to do with the functions that are meant; once. */
static int look_at(struct adding *adding, uint32_t number)
{
	const struct burin_profile *profile = adding->counted->profile;
	struct place_cost *known = &adding->places[number];
	struct burin_place place;
	struct burin_frame frame;
	char address[512];
	int result = 0;

	known->known = true;
	known->first = (uint32_t)adding->line_count;
	if (burin_profile_place(profile, number, &place) || !place.image)
		return 0;
	for (uint32_t n = 0; !result && !burin_profile_frame(profile, number, n, &frame); n++) {
		if (frame.function && view_symbol_fits(adding->symbol, frame.function))
			result = add_line(adding, known, &frame);
	}
	burin_profile_address(profile, number, address, sizeof(address));
	if (!known->count && !strcmp(address, adding->symbol))
		result = add_line(adding, known, &(struct burin_frame){ .function = NULL });
	return result;
}

static void add_cost(struct adding *adding, struct place_cost *place, const struct view_pair *pair,
		     size_t number, bool own)
{
	for (uint32_t n = 0; n < place->count; n++) {
		struct view_line_cost *line = &adding->annotation->lines[adding->lines[place->first + n] - 1];

		if (own)
			view_cost_add(&line->self, pair);
		if (line->last != number)
			view_cost_add(&line->total, pair);
		line->last = number;
	}
	if (own)
		view_cost_add(&place->self, pair);
	if (place->last != number)
		view_cost_add(&place->total, pair);
	place->last = number;
}

static int add_pair(struct adding *adding, const struct view_pair *pair, size_t number)
{
	uint32_t own = view_own_frame(adding->counted->profile, pair);
	struct burin_stack stack;

	for (uint32_t at = pair->stack; !burin_profile_stack(adding->counted->profile, at, &stack);
	     at = stack.caller) {
		struct place_cost *place = &adding->places[stack.place];

		if (!place->known && look_at(adding, stack.place))
			return -ENOMEM;
		if (place->count)
			add_cost(adding, place, pair, number, at == own);
	}
	return 0;
}

static int by_line(const void *a, const void *b)
{
	const struct view_line_cost *one = a, *other = b;

	if (one->of_file != other->of_file)
		return one->of_file > other->of_file ? -1 : 1;
	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

static int sort_lines(struct view_annotation *annotation)
{
	uint64_t *files = calloc(annotation->strings.count, sizeof(*files));

	if (!files)
		return -ENOMEM;
	for (size_t n = 0; n < annotation->line_count; n++)
		files[annotation->lines[n].file] += annotation->lines[n].self.all;
	for (size_t n = 0; n < annotation->line_count; n++)
		annotation->lines[n].of_file = files[annotation->lines[n].file];
	if (annotation->line_count)
		qsort(annotation->lines, annotation->line_count, sizeof(*annotation->lines), by_line);
	free(files);
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct view_address_cost *one = a, *other = b;

	if (one->image != other->image)
		return one->image < other->image ? -1 : 1;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

/* The addresses with samples of their own; the place that is in most samples decides, if there are none. */
static int list_addresses(struct adding *adding)
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

		if (!cost->count || burin_profile_place(adding->counted->profile, n, &place))
			continue;
		if (cost->total.all > most) {
			most = cost->total.all;
			annotation->image = place.image;
			annotation->begin = place.begin;
			annotation->size = place.size;
		}
		if (cost->self.all)
			annotation->addresses[annotation->address_count++] =
				(struct view_address_cost){ place.image, place.offset, place.begin,
							    place.size, cost->self };
	}
	return 0;
}

/* The function, or the one that it is inlined into, that has most samples of its own. */
static void choose_function(struct view_annotation *annotation)
{
	const struct view_address_cost *all = annotation->addresses;
	uint64_t most = 0, sum = 0;

	for (size_t n = 0; n < annotation->address_count; n++) {
		if (!n || all[n].image != all[n - 1].image || all[n].begin != all[n - 1].begin)
			sum = 0;
		sum += all[n].self.all;
		if (sum <= most)
			continue;
		most = sum;
		annotation->image = all[n].image;
		annotation->begin = all[n].begin;
		annotation->size = all[n].size;
	}
}

int view_annotate(struct view_annotation *annotation, const struct view_profile *counted, const char *symbol)
{
	struct adding adding = { .annotation = annotation, .counted = counted, .symbol = symbol };
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
	if (!result)
		result = sort_lines(annotation);
	free(adding.places);
	free(adding.lines);
	if (annotation->address_count)
		qsort(annotation->addresses, annotation->address_count, sizeof(*annotation->addresses),
		      by_offset);
	choose_function(annotation);
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

/* A line of source, safe for a terminal; its tabs and backslashes are what they are there. */
static void put_code(const char *text, struct view_buffer *out)
{
	size_t column = 0;

	while (*text) {
		char part[256];
		size_t bytes = strcspn(text, "\t\\");

		bytes = bytes < sizeof(part) ? bytes : sizeof(part) - 1;
		memcpy(part, text, bytes);
		part[bytes] = '\0';
		view_buffer_escape(out, part);
		column += bytes;
		text += bytes;
		if (*text == '\t') {
			view_buffer_print(out, "%*s", (int)(TAB - column % TAB), "");
			column += TAB - column % TAB;
			text++;
		} else if (*text == '\\') {
			view_buffer_print(out, "\\");
			column++;
			text++;
		}
	}
}

static void print_line(const struct view_line_cost *cost, const struct view_profile *counted, uint32_t line,
		       const char *text, struct view_buffer *out)
{
	view_cost_text(counted, cost ? &cost->self : NULL, out);
	view_cost_text(counted, cost ? &cost->total : NULL, out);
	view_buffer_print(out, "%7u  ", line);
	put_code(text, out);
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

/* What is to be said of a source file: that it is not here, or not as it was. */
static const char *about_source(const struct view_profile *counted, FILE *source)
{
	uint64_t begin, end;
	struct stat status;

	if (!source)
		return "  (the source file is not here)";
	if (!burin_trace_range(counted->trace, &begin, &end) && !fstat(fileno(source), &status) &&
	    status.st_mtim.tv_sec > burin_trace_ns(counted->trace, end) / 1000000000)
		return "  (the source file has changed since)";
	return "";
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
		view_buffer_print(out, "%s\n", *file ? about_source(counted, source) : "");
		if (source)
			print_source(source, costs, count, counted, out);
		for (size_t at = 0; !source && at < count; at++)
			print_line(&costs[at], counted, costs[at].line, "", out);
		if (source)
			fclose(source);
		view_buffer_print(out, "\n");
	}
}
