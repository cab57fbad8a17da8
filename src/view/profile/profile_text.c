/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows and trees of a profile as text. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/print.h"
#include "base/text.h"
#include "view/name_columns.h"
#include "view/profile/profile_view.h"
#include "view/symbol_label.h"

enum {
	NAME_BYTES = 4096,
	DEPTH_MAX = 512, /* of a printed tree */
};

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];

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
		view_buffer_print(out, ", %s %s", text_count(amount, of->weight), counted->unit);
	}
	view_buffer_print(out, "%s%s\n", view_profile_mixed(counted) ? " " : "",
			  view_profile_mixed(counted) ? view_state_name(state) : "");
}

static const char *why_none(const struct view_profile *counted)
{
	return burin_profile_value(counted->profile, "attributed") &&
			       !burin_profile_number(counted->profile, "attributed")
		       ? "the trace has no samples"
		       : "no sample matches the options";
}

void view_head_text(const struct view_profile *counted, struct view_buffer *out)
{
	char samples[TEXT_SHORT];

	for (unsigned state = 0; state < VIEW_STATES; state++)
		if (counted->of[state].event && counted->samples)
			head_of(counted, state, out);
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

static const char *symbol_of(const void *data, size_t row)
{
	const struct view_rows *rows = data;

	return view_row_text(rows, &rows->rows[row], VIEW_SYMBOL);
}

/* @labels: of symbols */
static const char *part_text(const struct view_rows *rows, size_t row, enum view_part part,
			     const struct view_label *labels)
{
	return part == VIEW_SYMBOL ? labels[row].text : view_row_text(rows, &rows->rows[row], part);
}

static unsigned width_of(const struct view_rows *rows, enum view_part part, const struct view_label *labels)
{
	unsigned wide = (unsigned)strlen(view_part_name(part));

	for (size_t n = 0; n < rows->count; n++)
		wide = view_column_wider(wide, part_text(rows, n, part, labels));
	return wide;
}

static int by_total(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	return number_order(other->total.all, one->total.all) ?:
	       number_order(other->self.all, one->self.all) ?:
	       number_order(one->key, other->key);
}

void view_rows_choose(const struct view_profile *counted, struct view_rows *rows,
		      const struct view_report *report, size_t *left_out)
{
	size_t kept = 0;

	if (report->by_total && rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_total);
	for (size_t n = 0; n < rows->count && kept < report->limit; n++)
		if (percent(rows->rows[n].total.all, counted->weight) >= report->min)
			rows->rows[kept++] = rows->rows[n];
	*left_out = rows->count - kept;
	rows->count = kept;
}

static void print_heading(const struct view_profile *counted, const struct view_report *report,
			  const unsigned widths[VIEW_PARTS], struct view_buffer *out)
{
	view_buffer_print(out, "\n%s   SELF  %s  TOTAL  %s     SAMPLES  ", report->color ? bold : "",
			  view_waited_title(counted), view_waited_title(counted));
	for (unsigned n = 0; n < report->by_count; n++)
		view_column_title(out, view_part_name(report->by[n]), widths[n]);
	view_buffer_print(out, "%s\n", report->color ? off : "");
}

static void print_row(const struct view_profile *counted, const struct view_rows *rows, size_t number,
		      const struct view_report *report, const unsigned widths[VIEW_PARTS],
		      const struct view_label *labels, struct view_buffer *out)
{
	const struct view_row *row = &rows->rows[number];
	char count[TEXT_SHORT];

	view_cost_text(counted, &row->self, out);
	view_cost_text(counted, &row->total, out);
	view_buffer_print(out, "%12s  ", text_count(count, row->samples));
	for (unsigned n = 0; n < report->by_count; n++) {
		const enum view_part part = report->by[n];

		view_column(out,
			    widths[n] ? part_text(rows, number, part, labels)
				      : view_row_text(rows, row, part),
			    widths[n], part == VIEW_SYMBOL && labels[number].less);
	}
	view_buffer_print(out, "\n");
}

void view_rows_text(const struct view_profile *counted, struct view_rows *rows,
		    const struct view_report *report, struct view_buffer *out)
{
	unsigned widths[VIEW_PARTS] = { 0 };
	char number[TEXT_SHORT];
	struct view_label *labels;
	size_t left_out;

	view_rows_choose(counted, rows, report, &left_out);
	view_head_text(counted, out);
	if (!counted->samples)
		return;
	labels = view_labels_make(symbol_of, rows, rows->count);
	if (!labels) {
		out->failed = true;
		return;
	}
	for (unsigned n = 0; n + 1 < report->by_count; n++)
		widths[n] = width_of(rows, report->by[n], labels);
	print_heading(counted, report, widths, out);
	for (size_t n = 0; n < rows->count; n++)
		print_row(counted, rows, n, report, widths, labels, out);
	view_labels_free(labels, rows->count);
	if (left_out)
		view_buffer_print(out, "%s%s more rows; see --min and --limit%s\n", report->color ? dim : "",
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
			view_buffer_print(out, "no sample has this function; see burin report\n");
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
			/* The next siblings have still less. */
			for (; node; node = tree->nodes[node].next)
				left_out++;
			continue;
		}
		view_cost_text(counted, &at->total, out);
		if (!report->outwards)
			view_cost_text(counted, &at->self, out);
		view_buffer_print(out, "%*s%s", 2 * (int)depth, "",
				  view_symbol_short(view_node_text(tree, node), VIEW_COLUMNS_MAX, 0, room,
						    sizeof(room)));
		if (at->part == VIEW_SYMBOL && *view_key_text(tree->keys, at->key, VIEW_IMAGE))
			view_buffer_print(out, "%s  (%s)%s", report->color ? dim : "",
					  view_key_text(tree->keys, at->key, VIEW_IMAGE),
					  report->color ? off : "");
		view_buffer_print(out, "\n");
		if (depth < DEPTH_MAX) {
			path[depth++] = node;
			node = at->child;
		} else {
			node = at->next;
		}
	}
	if (left_out)
		view_buffer_print(out, "%s%s branches below %g%% left out; see --min%s\n",
				  report->color ? dim : "", text_count(number, left_out), report->min,
				  report->color ? off : "");
}
