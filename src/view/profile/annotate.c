/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines and addresses of one function; see annotate.h.
 *
 * A first pass walks the stack of each pair of task and stack. Whether a location belongs to the selected
 * function, and at which lines, is found once for each location. A line counts a pair once, however often
 * recursion has it in the stack: ->last is the pair that it counted last. The same holds for a location.
 *
 * A function may be inlined in many others, so its lines may be in several files and its addresses in several
 * functions. Lines are grouped by file, the file with most samples first. Of the addresses, that function is
 * chosen for disassembly which has most samples of its own (choose_function()).
 *
 * Sources are files that a trace names. They are opened as foreign ones, with the rights of @reader, and
 * their text is escaped. A source that is newer than the recording is shown with a remark.
 */
#include "view/profile/annotate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "view/symbol_label.h"

enum {
	AROUND = 3, /* lines that are shown before the first and after the last */
	TAB = 8,
	GAP = 12, /* lines without samples that are still shown next to one with samples */
};

/* Finds or adds a line. Return: its number, from 1; 0: no memory. */
static uint32_t annotate_line_of(struct view_annotation *annotation, uint32_t image,
				 const struct burin_frame *frame)
{
	uint32_t file = view_string(&annotation->strings, frame->file ? frame->file : "");

	for (size_t n = 0; n < annotation->line_count; n++)
		if (annotation->lines[n].file == file && annotation->lines[n].line == frame->line)
			return (uint32_t)n + 1;
	if (!array_reserve(annotation->lines, annotation->line_room, annotation->line_count + 1))
		return 0;
	annotation->lines[annotation->line_count++] =
		(struct view_line_cost){ .file = file, .line = frame->line, .image = image };
	return (uint32_t)annotation->line_count;
}

/* A location: its cost, and the lines of the selected functions there, inlined or not. */
struct location_cost {
	bool looked_up;
	uint32_t first, count; /* in `lines` of struct annotate_job */
	struct view_cost self, total;
	size_t last; /* the last pair added to total, from 1 */
};

struct annotate_job {
	struct view_annotation *annotation;
	const struct view_profile *counted;
	const char *symbol;
	struct location_cost *locations; /* by number */
	uint32_t *lines;		 /* numbers of lines, from 1 */
	size_t line_count, line_room;
};

static int add_line(struct annotate_job *job, struct location_cost *cost, uint32_t image,
		    const struct burin_frame *frame)
{
	uint32_t number = annotate_line_of(job->annotation, image, frame);

	if (!array_reserve(job->lines, job->line_room, job->line_count + 1))
		return -ENOMEM;
	job->lines[job->line_count++] = number;
	cost->count++;
	return number ? 0 : -ENOMEM;
}

/* Finds the selected functions at a location, once for each location. */
static int annotate_look_up(struct annotate_job *job, uint32_t number)
{
	const struct burin_profile *profile = job->counted->profile;
	struct location_cost *cost = &job->locations[number];
	struct burin_location location;
	struct burin_frame frame;
	char address[512];
	int result = 0;

	cost->looked_up = true;
	cost->first = (uint32_t)job->line_count;
	if (burin_profile_location(profile, number, &location) || !location.image)
		return 0;
	for (uint32_t n = 0; !result && !burin_profile_frame(profile, number, n, &frame); n++)
		if (frame.function && view_symbol_fits(job->symbol, frame.function))
			result = add_line(job, cost, location.image, &frame);
	burin_profile_address(profile, number, address, sizeof(address));
	/* Code without names is selected by its address, as reports print it. */
	if (!cost->count && !strcmp(address, job->symbol))
		result = add_line(job, cost, location.image, &(struct burin_frame){ .function = NULL });
	return result;
}

static void annotate_add_cost(struct annotate_job *job, struct location_cost *cost,
			      const struct view_pair *pair, size_t number, bool own)
{
	for (uint32_t n = 0; n < cost->count; n++) {
		struct view_line_cost *line = &job->annotation->lines[job->lines[cost->first + n] - 1];

		if (own)
			view_cost_add(&line->self, pair);
		if (line->last != number)
			view_cost_add(&line->total, pair);
		line->last = number;
	}
	if (own)
		view_cost_add(&cost->self, pair);
	if (cost->last != number)
		view_cost_add(&cost->total, pair);
	cost->last = number;
}

static int annotate_add_pair(struct annotate_job *job, const struct view_pair *pair, size_t number)
{
	uint32_t own = view_own_frame(job->counted->profile, pair);
	struct burin_stack stack;

	for (uint32_t at = pair->stack; !burin_profile_stack(job->counted->profile, at, &stack);
	     at = stack.caller) {
		struct location_cost *cost = &job->locations[stack.location];

		if (!cost->looked_up && annotate_look_up(job, stack.location))
			return -ENOMEM;
		if (cost->count)
			annotate_add_cost(job, cost, pair, number, at == own);
	}
	return 0;
}

static int by_line(const void *a, const void *b)
{
	const struct view_line_cost *one = a, *other = b;

	return number_order(other->of_file, one->of_file) ?:
	       number_order(one->file, other->file) ?:
	       number_order(one->line, other->line);
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

	return number_order(one->image, other->image) ?: number_order(one->offset, other->offset);
}

/* Lists the addresses with self samples, and sets the function to that of the location with most samples. */
static int list_addresses(struct annotate_job *job)
{
	struct view_annotation *annotation = job->annotation;
	uint32_t count = burin_profile_locations(job->counted->profile);
	uint64_t most = 0;

	annotation->addresses = calloc((size_t)count + 1, sizeof(*annotation->addresses));
	if (!annotation->addresses)
		return -ENOMEM;
	for (uint32_t n = 1; n <= count; n++) {
		const struct location_cost *cost = &job->locations[n];
		struct burin_location location;

		if (!cost->count || burin_profile_location(job->counted->profile, n, &location))
			continue;
		if (cost->total.all > most) {
			most = cost->total.all;
			annotation->image = location.image;
			annotation->begin = location.begin;
			annotation->size = location.size;
		}
		if (cost->self.all)
			annotation->addresses[annotation->address_count++] =
				(struct view_address_cost){ location.image, location.offset, location.begin,
							    location.size, cost->self };
	}
	return 0;
}

/* Chooses the function with most self samples: one that was selected, or one that it was inlined into. */
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
	struct annotate_job job = { .annotation = annotation, .counted = counted, .symbol = symbol };
	int result;

	*annotation = (struct view_annotation){ .image = 0 };
	job.locations = calloc((size_t)burin_profile_locations(counted->profile) + 1, sizeof(*job.locations));
	if (!job.locations)
		return -ENOMEM;
	view_string(&annotation->strings, "");
	result = annotation->strings.failed ? -ENOMEM : 0;
	for (size_t n = 0; n < counted->pair_count && !result; n++)
		result = annotate_add_pair(&job, &counted->pairs[n], n + 1);
	if (!result)
		result = list_addresses(&job);
	if (!result && annotation->strings.failed)
		result = -ENOMEM;
	if (!result)
		result = sort_lines(annotation);
	free(job.locations);
	free(job.lines);
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

/* A line of source, safe for a terminal: tabs are expanded, backslashes are not doubled. */
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

static void annotate_print_line(const struct view_line_cost *cost, const struct view_profile *counted,
				uint32_t line, const char *text, struct view_buffer *out)
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

/* Whether a line of the source is near one with samples, so that it is shown. */
static bool annotate_near(const struct view_line_cost *costs, size_t count, uint32_t line)
{
	uint32_t first = costs[0].line, last = costs[count - 1].line;

	if ((line < first && first - line > AROUND) || (line > last && line - last > AROUND))
		return false;
	for (size_t n = 0; n < count; n++)
		if (line < costs[n].line ? costs[n].line - line <= GAP : line - costs[n].line <= GAP)
			return true;
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
		if (!annotate_near(costs, count, line)) {
			gap = line > costs[0].line && next < count;
			continue;
		}
		if (gap)
			print_gap(counted, out);
		gap = false;
		if (bytes && text[bytes - 1] == '\n')
			text[bytes - 1] = '\0';
		annotate_print_line(cost, counted, line, text, out);
	}
	for (; next < count; next++)
		annotate_print_line(&costs[next], counted, costs[next].line,
				    "(line is beyond the end of the source file)", out);
	free(text);
}

static FILE *stream_of(int file)
{
	FILE *stream = file < 0 ? NULL : fdopen(file, "r");

	if (!stream && file >= 0)
		close(file);
	return stream;
}

/* The path comes from the trace, so it may name anything. */
static FILE *open_source(const char *path, const struct foreign_user *reader)
{
	const struct foreign how = { .bytes_max = FOREIGN_SOURCE_MAX, .reader = reader };

	return stream_of(*path ? foreign_open(&how, FOREIGN_HERE, path) : -1);
}

static FILE *annotate_find_source(const struct view_source_finder *finder, const struct view_line_cost *line,
				  const char *path)
{
	return stream_of(finder && *path ? finder->find(finder->data, line->image, path) : -1);
}

/* A remark on a source file that is missing, has changed or was downloaded. */
static const char *about_source(const struct view_profile *counted, FILE *source, bool found)
{
	uint64_t begin, end;
	struct stat status;

	if (!source)
		return "  (source file cannot be opened)";
	if (found)
		return "  (source file from a debuginfod server)";
	if (!burin_trace_range(counted->trace, &begin, &end) && !fstat(fileno(source), &status) &&
	    status.st_mtim.tv_sec > burin_trace_ns(counted->trace, end) / 1000000000)
		return "  (source file changed after the recording)";
	return "";
}

void view_annotation_text(const struct view_annotation *annotation, const struct view_profile *counted,
			  const struct foreign_user *reader, const struct view_source_finder *finder,
			  struct view_buffer *out)
{
	for (size_t n = 0, count; n < annotation->line_count; n += count) {
		const struct view_line_cost *costs = &annotation->lines[n];
		const char *file = annotation->strings.texts[costs->file];
		FILE *local = open_source(file, reader),
		     *source = local ? local : annotate_find_source(finder, costs, file);

		for (count = 1; n + count < annotation->line_count && costs[count].file == costs->file;)
			count++;
		view_buffer_print(out, "   SELF  %s  TOTAL  %s   LINE  %s%s\n", view_waited_title(counted),
				  view_waited_title(counted), *file ? file : "(unknown lines)",
				  *file ? about_source(counted, source, !local) : "");
		if (source)
			print_source(source, costs, count, counted, out);
		for (size_t at = 0; !source && at < count; at++)
			annotate_print_line(&costs[at], counted, costs[at].line, "", out);
		if (source)
			fclose(source);
		view_buffer_print(out, "\n");
	}
}
