/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows and trees of a profile as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "view/profile.h"
#include "view/symbol.h"

enum {
	COLUMNS_MAX = 60, /* of all but the last column */
	NAME_BYTES = 4096,
	DEPTH_MAX = 512, /* of a tree that is printed */
};

static const char bold[] = "\033[1m", dim[] = "\033[2m", off[] = "\033[0m";

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void head_of(const struct view_profile *counted, enum view_state state, struct view_buffer *out)
{
	const struct view_counted *of = &counted->of[state];
	char samples[TEXT_SHORT], amount[TEXT_SHORT];

	view_buffer_print(out, "%s sample%s of %s", text_count(samples, of->samples),
			  of->samples == 1 ? "" : "s", of->event->name);
	if (!strcmp(counted->unit, "ns")) {
		view_buffer_print(out, ", %s", text_duration(amount, of->weight));
	} else if (strcmp(counted->unit, "samples") != 0) {
		view_buffer_print(out, ", %s ", text_count(amount, of->weight));
		view_buffer_escape(out, counted->unit);
	}
	view_buffer_print(out, "%s%s\n", view_profile_mixed(counted) ? " " : "",
			  view_profile_mixed(counted) ? view_state_name(state) : "");
}

static const char *why_none(const struct view_profile *counted)
{
	return burin_profile_value(counted->profile, "attributed") &&
			       !burin_profile_number(counted->profile, "attributed")
		       ? "the trace has no samples"
		       : "no samples are left by what was chosen";
}

void view_head_text(const struct view_profile *counted, struct view_buffer *out)
{
	char samples[TEXT_SHORT];

	for (unsigned state = 0; state < VIEW_STATES; state++) {
		if (counted->of[state].event && counted->samples)
			head_of(counted, state, out);
	}
	if (!counted->samples)
		view_buffer_print(out, "%s\n", why_none(counted));
	if (counted->of_other_events)
		view_buffer_print(out, "%s sample%s of other events: choose with --event\n",
				  text_count(samples, counted->of_other_events),
				  counted->of_other_events == 1 ? "" : "s");
}

void view_cost_text(const struct view_profile *counted, const struct view_cost *cost, struct view_buffer *out)
{
	if (cost)
		view_buffer_print(out, "%6.2f%%  ", percent(cost->all, counted->weight));
	else
		view_buffer_print(out, "%9s", "");
	if (view_profile_mixed(counted) && cost && cost->waited)
		view_buffer_print(out, "%6.2f%%  ", percent(cost->waited, counted->weight));
	else if (view_profile_mixed(counted))
		view_buffer_print(out, "%9s", "");
}

/* A part of a row, that it fits a column if it is not the last one. */
static const char *part_text(const struct view_rows *rows, const struct view_row *row, enum view_part part,
			     char room[NAME_BYTES])
{
	const char *text = view_row_text(rows, row, part);

	return part == VIEW_SYMBOL ? view_symbol_short(text, COLUMNS_MAX, room, NAME_BYTES) : text;
}

/* Text that came from elsewhere, in a column of so many characters; 0: the last one. */
static void column(struct view_buffer *out, const char *text, unsigned columns)
{
	size_t before = out->used;
	unsigned wide;
	char *safe;

	view_buffer_escape(out, *text ? text : "-");
	if (!columns || !view_buffer_reserve(out, COLUMNS_MAX + 8))
		return;
	*view_buffer_reserve(out, 1) = '\0';
	safe = out->bytes + before;
	wide = (unsigned)text_columns(safe);
	if (wide > columns) {
		/* Cut, at the beginning of a character. */
		unsigned kept = 0;

		while (kept < columns - 1) {
			safe++;
			while ((*safe & 0xc0) == 0x80)
				safe++;
			kept++;
		}
		memcpy(safe, "\xe2\x80\xa6", 3);
		view_buffer_commit(out, safe + 3);
		wide = columns;
	}
	view_buffer_print(out, "%*s", (int)(columns - wide) + 2, "");
}

static unsigned width_of(const struct view_rows *rows, enum view_part part)
{
	unsigned widest = (unsigned)strlen(view_part_name(part));
	char safe[4 * COLUMNS_MAX + 8], room[NAME_BYTES];

	for (size_t n = 0; n < rows->count; n++) {
		const char *text = part_text(rows, &rows->rows[n], part, room);
		unsigned wide = (unsigned)text_columns(text_escape_line(safe, sizeof(safe), text));

		widest = wide > widest ? wide : widest;
	}
	return widest > COLUMNS_MAX ? COLUMNS_MAX : widest;
}

static int by_total(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	if (one->total.all != other->total.all)
		return one->total.all > other->total.all ? -1 : 1;
	if (one->self.all != other->self.all)
		return one->self.all > other->self.all ? -1 : 1;
	return (one->key > other->key) - (one->key < other->key);
}

void view_rows_choose(const struct view_profile *counted, struct view_rows *rows,
		      const struct view_report *report, size_t *left_out)
{
	size_t kept = 0;

	if (report->by_total && rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_total);
	for (size_t n = 0; n < rows->count && kept < report->limit; n++) {
		if (percent(rows->rows[n].total.all, counted->weight) >= report->min)
			rows->rows[kept++] = rows->rows[n];
	}
	*left_out = rows->count - kept;
	rows->count = kept;
}

void view_rows_text(const struct view_profile *counted, struct view_rows *rows,
		    const struct view_report *report, struct view_buffer *out)
{
	unsigned widths[VIEW_PARTS] = { 0 };
	char number[TEXT_SHORT], room[NAME_BYTES];
	size_t left_out;

	view_rows_choose(counted, rows, report, &left_out);
	view_head_text(counted, out);
	if (!counted->samples)
		return;
	view_buffer_print(out, "\n");
	view_buffer_print(out, "%s   SELF  %s  TOTAL  %s     SAMPLES  ", report->color ? bold : "",
			  view_waited_title(counted), view_waited_title(counted));
	for (unsigned n = 0; n < report->by_count; n++) {
		char title[16];
		size_t at = 0;

		for (const char *name = view_part_name(report->by[n]); *name; name++)
			title[at++] = (char)(*name - 'a' + 'A');
		title[at] = '\0';
		if (n + 1 < report->by_count)
			widths[n] = width_of(rows, report->by[n]);
		column(out, title, widths[n]);
	}
	view_buffer_print(out, "%s\n", report->color ? off : "");
	for (size_t n = 0; n < rows->count; n++) {
		const struct view_row *row = &rows->rows[n];

		view_cost_text(counted, &row->self, out);
		view_cost_text(counted, &row->total, out);
		view_buffer_print(out, "%12s  ", text_count(number, row->samples));
		for (unsigned at = 0; at < report->by_count; at++)
			column(out,
			       widths[at] ? part_text(rows, row, report->by[at], room)
					  : view_row_text(rows, row, report->by[at]),
			       widths[at]);
		view_buffer_print(out, "\n");
	}
	if (left_out)
		view_buffer_print(out, "%s%s rows more; see --min and --limit%s\n", report->color ? dim : "",
				  text_count(number, left_out), report->color ? off : "");
}

void view_tree_text(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out)
{
	uint32_t path[DEPTH_MAX], node = tree->nodes[0].child;
	uint64_t whole = tree->nodes[0].total.all, left_out = 0;
	unsigned depth = 0;
	char number[TEXT_SHORT], room[NAME_BYTES];

	view_head_text(counted, out);
	if (!whole) {
		if (counted->samples)
			view_buffer_print(out, "no sample is in such a function; burin report lists them\n");
		return;
	}
	view_buffer_print(out, "\n%s  TOTAL  %s", report->color ? bold : "", view_waited_title(counted));
	if (!report->outwards)
		view_buffer_print(out, "   SELF  %s", view_waited_title(counted));
	view_buffer_print(out, "%s\n", report->color ? off : "");
	while (node || depth) {
		const struct view_node *at = &tree->nodes[node];

		if (!node) {
			node = tree->nodes[path[--depth]].next;
			continue;
		}
		if (percent(at->total.all, whole) < report->min) {
			/* The siblings behind it have still less. */
			for (; node; node = tree->nodes[node].next)
				left_out++;
			continue;
		}
		view_cost_text(counted, &at->total, out);
		if (!report->outwards)
			view_cost_text(counted, &at->self, out);
		view_buffer_print(out, "%*s", 2 * (int)depth, "");
		view_buffer_escape(
			out, view_symbol_short(view_node_text(tree, node), COLUMNS_MAX, room, sizeof(room)));
		if (at->part == VIEW_SYMBOL && *view_key_text(tree->keys, at->key, VIEW_IMAGE)) {
			view_buffer_print(out, "%s  (", report->color ? dim : "");
			view_buffer_escape(out, view_key_text(tree->keys, at->key, VIEW_IMAGE));
			view_buffer_print(out, ")%s", report->color ? off : "");
		}
		view_buffer_print(out, "\n");
		if (depth < DEPTH_MAX) {
			path[depth++] = node;
			node = at->child;
		} else {
			node = at->next;
		}
	}
	if (left_out)
		view_buffer_print(out, "%s%s branches of less than %g%% are left out; see --min%s\n",
				  report->color ? dim : "", text_count(number, left_out), report->min,
				  report->color ? off : "");
}
