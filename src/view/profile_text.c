/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows and trees of a profile as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "view/profile.h"

enum {
	COLUMNS_MAX = 60, /* of all but the last column */
	DEPTH_MAX = 512,  /* of a tree that is printed */
};

static const char bold[] = "\033[1m", dim[] = "\033[2m", off[] = "\033[0m";

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void head(const struct view_profile *counted, struct view_buffer *out)
{
	char samples[TEXT_SHORT], amount[TEXT_SHORT];

	view_buffer_print(out, "%s samples", text_count(samples, counted->samples));
	if (counted->event)
		view_buffer_print(out, " of %s", counted->event->name);
	if (!strcmp(counted->unit, "ns")) {
		view_buffer_print(out, ", %s", text_duration(amount, counted->weight));
	} else if (strcmp(counted->unit, "samples") != 0) {
		view_buffer_print(out, ", %s ", text_count(amount, counted->weight));
		view_buffer_escape(out, counted->unit);
	}
	view_buffer_print(out, "\n");
	if (counted->of_other_events)
		view_buffer_print(out, "%s samples of other events: choose with --event\n",
				  text_count(samples, counted->of_other_events));
	view_buffer_print(out, "\n");
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
	char safe[4 * COLUMNS_MAX + 8];

	for (size_t n = 0; n < rows->count; n++) {
		const char *text = view_row_text(rows, &rows->rows[n], part);
		unsigned wide = (unsigned)text_columns(text_escape_line(safe, sizeof(safe), text));

		widest = wide > widest ? wide : widest;
	}
	return widest > COLUMNS_MAX ? COLUMNS_MAX : widest;
}

static int by_total(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	if (one->self != other->self)
		return one->self > other->self ? -1 : 1;
	return (one->key > other->key) - (one->key < other->key);
}

void view_rows_choose(const struct view_profile *counted, struct view_rows *rows,
		      const struct view_report *report, size_t *left_out)
{
	size_t kept = 0;

	if (report->by_total && rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_total);
	for (size_t n = 0; n < rows->count && (!report->limit || kept < report->limit); n++) {
		if (percent(rows->rows[n].total, counted->weight) >= report->min)
			rows->rows[kept++] = rows->rows[n];
	}
	*left_out = rows->count - kept;
	rows->count = kept;
}

void view_rows_text(const struct view_profile *counted, struct view_rows *rows,
		    const struct view_report *report, struct view_buffer *out)
{
	unsigned widths[VIEW_PARTS] = { 0 };
	char number[TEXT_SHORT];
	size_t left_out;

	view_rows_choose(counted, rows, report, &left_out);
	head(counted, out);
	view_buffer_print(out, "%s   SELF    TOTAL       SAMPLES  ", report->color ? bold : "");
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

		view_buffer_print(out, "%6.2f%%  %6.2f%%  %12s  ", percent(row->self, counted->weight),
				  percent(row->total, counted->weight), text_count(number, row->samples));
		for (unsigned at = 0; at < report->by_count; at++)
			column(out, view_row_text(rows, row, report->by[at]), widths[at]);
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
	uint64_t whole = tree->nodes[0].total, left_out = 0;
	unsigned depth = 0;
	char number[TEXT_SHORT];

	head(counted, out);
	view_buffer_print(out, "%s  TOTAL     SELF%s\n", report->color ? bold : "", report->color ? off : "");
	while (node || depth) {
		const struct view_node *at = &tree->nodes[node];

		if (!node) {
			node = tree->nodes[path[--depth]].next;
			continue;
		}
		if (percent(at->total, counted->weight) < report->min) {
			/* The siblings behind it have still less. */
			for (; node; node = tree->nodes[node].next)
				left_out++;
			continue;
		}
		view_buffer_print(out, "%6.2f%%  %6.2f%%  %*s", percent(at->total, counted->weight),
				  percent(at->self, counted->weight), 2 * (int)depth, "");
		view_buffer_escape(out, view_node_text(tree, node));
		if (at->part == VIEW_SYMBOL && *view_key_text(&tree->keys, at->key, VIEW_IMAGE)) {
			view_buffer_print(out, "%s  (", report->color ? dim : "");
			view_buffer_escape(out, view_key_text(&tree->keys, at->key, VIEW_IMAGE));
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
	if (!whole)
		view_buffer_print(out, "no samples\n");
	if (left_out)
		view_buffer_print(out, "%s%s branches of less than %g%% are left out; see --min%s\n",
				  report->color ? dim : "", text_count(number, left_out), report->min,
				  report->color ? off : "");
}
