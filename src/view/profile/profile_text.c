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

static void head_of(const struct view_profile *counted, enum view_state state, struct view_buffer *out)
{
	const struct view_counted *of = &counted->of[state];
	char samples[TEXT_SHORT], amount[TEXT_SHORT];

	view_buffer_print(out, "%s sample%s of %s", text_count(samples, of->samples),
			  text_plural(of->samples), of->event->name);
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
				  text_plural(counted->of_other_events));
}

void view_cost_text(const struct view_profile *counted, const struct view_cost *cost, struct view_buffer *out)
{
	if (cost)
		view_buffer_print(out, "%6.2f%%  ", table_percent(cost->all, counted->weight));
	else
		view_buffer_print(out, "%9s", "");
	if (view_profile_mixed(counted) && cost && cost->waited)
		view_buffer_print(out, "%6.2f%%  ", table_percent(cost->waited, counted->weight));
	else if (view_profile_mixed(counted))
		view_buffer_print(out, "%9s", "");
}

/* Times of waiting came later, and text has them only beside times of running. */
static const struct column sample_columns[] = {
	COLUMN("self", "SELF", SHARE, 7, struct view_row, self.all),
	COLUMN("self_waited", "WAITED", SHARE, 7, struct view_row, self.waited, .zero = "", .optional = true,
	       .late = true),
	COLUMN("total", "TOTAL", SHARE, 7, struct view_row, total.all),
	COLUMN("total_waited", "WAITED", SHARE, 7, struct view_row, total.waited, .zero = "",
	       .optional = true, .late = true),
	COLUMN("samples", "SAMPLES", COUNT, 12, struct view_row, samples),
	{ 0 },
};

static const char *sample_row_name(const void *data, const void *row, unsigned part)
{
	return view_row_text(data, row, part);
}

static int profile_text_by_total(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	return number_order(other->total.all, one->total.all) ?:
	       number_order(other->self.all, one->self.all) ?:
	       number_order(one->key, other->key);
}

/* Sort the rows by the report's order, and keep those within its limits. Return: how many were left out. */
static size_t sample_rows_choose(const struct view_profile *counted, struct view_rows *rows,
				 const struct view_report *report)
{
	const size_t before = rows->count;
	size_t kept = 0;

	if (report->by_total && rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), profile_text_by_total);
	for (size_t n = 0; n < rows->count && kept < report->limit; n++)
		if (table_percent(rows->rows[n].total.all, counted->weight) >= report->min)
			rows->rows[kept++] = rows->rows[n];
	rows->count = kept;
	return before - kept;
}

void view_rows_print(const struct view_profile *counted, struct view_rows *rows,
		     const struct view_report *report, struct view_buffer *out)
{
	const size_t left_out = sample_rows_choose(counted, rows, report);
	struct table table = { .columns = sample_columns,
			       .rows = rows->rows,
			       .count = rows->count,
			       .size = sizeof(*rows->rows),
			       .name = sample_row_name,
			       .data = rows,
			       .whole = counted->weight,
			       .unit = counted->unit,
			       .optional = view_profile_mixed(counted) };

	view_report_names(report, &table);
	if (report->form == TABLE_JSON) {
		view_rows_json(counted, &table, out);
	} else if (report->form == TABLE_CSV) {
		table_csv(&table, out);
	} else {
		view_head_text(counted, out);
		if (!counted->samples)
			return;
		table_text(&table, out);
		table_left(left_out, "more rows; see --min and --limit", report->color, out);
	}
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
		/* Children are in order of their totals (link_children()). */
		if (table_percent(at->total.all, whole) < report->min) {
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
