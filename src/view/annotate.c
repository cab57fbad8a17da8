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

static int add_line(struct view_annotation *annotation, const struct burin_frame *frame, uint64_t self,
		    uint64_t total)
{
	uint32_t file = view_string(&annotation->strings, frame->file ? frame->file : "");

	for (size_t n = 0; n < annotation->line_count; n++) {
		struct view_line_cost *line = &annotation->lines[n];

		if (line->file == file && line->line == frame->line) {
			line->self += self;
			line->total += total;
			return 0;
		}
	}
	if (annotation->line_count == annotation->line_room) {
		size_t room = annotation->line_room ? 2 * annotation->line_room : 64;
		struct view_line_cost *lines = reallocarray(annotation->lines, room, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		annotation->lines = lines;
		annotation->line_room = room;
	}
	annotation->lines[annotation->line_count++] =
		(struct view_line_cost){ file, frame->line, self, total };
	return 0;
}

static int add_address(struct view_annotation *annotation, const struct burin_place *place, uint64_t weight)
{
	for (size_t n = 0; n < annotation->address_count; n++) {
		if (annotation->addresses[n].image == place->image &&
		    annotation->addresses[n].offset == place->offset) {
			annotation->addresses[n].weight += weight;
			return 0;
		}
	}
	if (annotation->address_count == annotation->address_room) {
		size_t room = annotation->address_room ? 2 * annotation->address_room : 64;
		struct view_address_cost *addresses =
			reallocarray(annotation->addresses, room, sizeof(*addresses));

		if (!addresses)
			return -ENOMEM;
		annotation->addresses = addresses;
		annotation->address_room = room;
	}
	annotation->addresses[annotation->address_count++] =
		(struct view_address_cost){ place->image, place->offset, weight };
	return 0;
}

/* A place may be in many stacks: what it costs is summed up before lines are looked for. */
struct place_cost {
	uint64_t self, total;
	size_t last; /* pair that was counted last, from 1 */
};

static void sum_up(const struct view_profile *counted, struct place_cost *costs)
{
	for (size_t n = 0; n < counted->pair_count; n++) {
		const struct view_pair *pair = &counted->pairs[n];
		struct burin_stack stack;

		for (uint32_t at = pair->stack; !burin_profile_stack(counted->profile, at, &stack);
		     at = stack.caller) {
			struct place_cost *cost = &costs[stack.place];

			if (at == pair->stack)
				cost->self += pair->weight;
			if (cost->last != n + 1)
				cost->total += pair->weight;
			cost->last = n + 1;
		}
	}
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

static int add_places(struct view_annotation *annotation, const struct view_profile *counted,
		      const char *symbol, const struct place_cost *costs)
{
	uint64_t most = 0;
	int result = 0;

	for (uint32_t n = 1; n <= burin_profile_places(counted->profile) && !result; n++) {
		struct burin_place place;
		struct burin_frame frame;

		if (!costs[n].total || burin_profile_place(counted->profile, n, &place) || !place.image ||
		    function_at(counted, symbol, n, &frame) < 0)
			continue;
		if (costs[n].total > most) {
			most = costs[n].total;
			annotation->image = place.image;
			annotation->begin = place.begin;
			annotation->size = place.size;
		}
		result = add_line(annotation, &frame, costs[n].self, costs[n].total);
		if (!result && costs[n].self)
			result = add_address(annotation, &place, costs[n].self);
	}
	return result;
}

int view_annotate(struct view_annotation *annotation, const struct view_profile *counted, const char *symbol)
{
	struct place_cost *costs = calloc((size_t)burin_profile_places(counted->profile) + 1, sizeof(*costs));
	int result;

	*annotation = (struct view_annotation){ .image = 0 };
	if (!costs)
		return -ENOMEM;
	view_string(&annotation->strings, "");
	sum_up(counted, costs);
	result = add_places(annotation, counted, symbol, costs);
	free(costs);
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

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_line(const struct view_line_cost *cost, uint64_t whole, uint32_t line, const char *text,
		       struct view_buffer *out)
{
	if (cost)
		view_buffer_print(out, "%6.2f%% %6.2f%%", percent(cost->self, whole),
				  percent(cost->total, whole));
	else
		view_buffer_print(out, "%15s", "");
	view_buffer_print(out, " %7u  ", line);
	view_buffer_escape(out, text);
	view_buffer_print(out, "\n");
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

static void print_source(FILE *source, const struct view_line_cost *costs, size_t count, uint64_t whole,
			 struct view_buffer *out)
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
			view_buffer_print(out, "%15s     ...\n", "");
		gap = false;
		if (bytes && text[bytes - 1] == '\n')
			text[bytes - 1] = '\0';
		while ((tab = strchr(text, '\t')))
			*tab = ' ';
		print_line(cost, whole, line, text, out);
	}
	for (; next < count; next++)
		print_line(&costs[next], whole, costs[next].line, "(the source file is shorter than this)",
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
		view_buffer_print(out, "   SELF   TOTAL    LINE  ");
		view_buffer_escape(out, *file ? file : "(no line is known)");
		view_buffer_print(out, "%s\n", source || !*file ? "" : "  (the source file is not here)");
		if (source)
			print_source(source, costs, count, counted->weight, out);
		for (size_t at = 0; !source && at < count; at++)
			print_line(&costs[at], counted->weight, costs[at].line, "", out);
		if (source)
			fclose(source);
		view_buffer_print(out, "\n");
	}
}
