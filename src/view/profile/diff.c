/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Comparing two profiles; see diff.h. */
#include "view/profile/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "base/print.h"
#include "base/text.h"

static int diff_add_rows(struct view_diff *diff, const struct view_profile *counted, unsigned which,
			 bool total, bool fold, size_t *room)
{
	struct view_rows rows;
	int result = view_rows_make(&rows, counted, 1u << VIEW_SYMBOL, fold);

	if (result)
		return result;
	for (size_t n = 0; n < rows.count && !result; n++) {
		const struct view_row *row = &rows.rows[n];
		uint32_t name = view_string(&diff->strings, view_row_text(&rows, row, VIEW_SYMBOL));

		if (diff->strings.failed || !array_reserve_zeroed(diff->changes, *room, (size_t)name + 1)) {
			result = -ENOMEM;
			break;
		}
		diff->changes[name].name = name;
		diff->changes[name].weight[which] = total ? row->total.all : row->self.all;
		diff->count = name >= diff->count ? name + 1 : diff->count;
	}
	view_rows_free(&rows);
	return result;
}

/* The chance that two draws from the same population differ at least as much. */
static double chance_of(const struct view_change *change, const struct view_profile *const of[2])
{
	double draws[2], pooled, spread, distance = fabs(change->share[1] - change->share[0]) / 100;

	if (!of[0]->weight || !of[1]->weight)
		return 1;
	for (unsigned n = 0; n < 2; n++)
		draws[n] = (double)of[n]->weight * (double)of[n]->weight / of[n]->squares;
	/* If both are draws of one population, this is the best estimate of the function's share in it. */
	pooled = (draws[0] * change->share[0] + draws[1] * change->share[1]) / (draws[0] + draws[1]) / 100;
	spread = sqrt(pooled * (1 - pooled) * (1 / draws[0] + 1 / draws[1]));
	return !(spread > 0) ? 1 : erfc(distance / spread / sqrt(2));
}

static int by_change(const void *a, const void *b)
{
	const struct view_change *one = a, *other = b;
	double of_one = fabs(one->share[1] - one->share[0]),
	       of_other = fabs(other->share[1] - other->share[0]);

	return number_order(of_other, of_one) ?: number_order(one->name, other->name);
}

int view_diff_make(struct view_diff *diff, const struct view_profile *one, const struct view_profile *other,
		   bool total, bool fold)
{
	size_t room = 0, kept = 0;
	int result = 0;

	*diff = (struct view_diff){ .of = { one, other } };
	for (unsigned n = 0; n < 2 && !result; n++)
		result = diff_add_rows(diff, diff->of[n], n, total, fold, &room);
	if (result) {
		view_diff_free(diff);
		return result;
	}
	for (size_t n = 0; n < diff->count; n++)
		if (diff->changes[n].weight[0] || diff->changes[n].weight[1])
			diff->changes[kept++] = diff->changes[n];
	diff->count = kept;
	for (size_t n = 0; n < diff->count; n++) {
		struct view_change *change = &diff->changes[n];

		for (unsigned which = 0; which < 2; which++)
			change->share[which] = table_percent(change->weight[which], diff->of[which]->weight);
		/* Bonferroni, see diff.h: so many functions are compared. */
		change->chance = chance_of(change, diff->of) * (double)diff->count;
		change->chance = change->chance > 1 ? 1 : change->chance;
	}
	if (diff->count)
		qsort(diff->changes, diff->count, sizeof(*diff->changes), by_change);
	return 0;
}

void view_diff_free(struct view_diff *diff)
{
	view_strings_free(&diff->strings);
	free(diff->changes);
	*diff = (struct view_diff){ .count = 0 };
}

void view_diff_text(const struct view_diff *diff, double chance_max, bool color, struct view_buffer *out)
{
	char number[TEXT_SHORT];
	size_t left_out = 0;

	for (unsigned n = 0; n < 2; n++) {
		view_buffer_print(out, "%s: ", n ? "B" : "A");
		view_head_text(diff->of[n], out);
	}
	view_buffer_print(out, "\n");
	view_buffer_print(out, "%s CHANGE        A        B    CHANCE  SYMBOL%s\n",
			  color ? print_styles[PRINT_BOLD] : "", color ? print_styles[PRINT_OFF] : "");
	for (size_t n = 0; n < diff->count; n++) {
		const struct view_change *change = &diff->changes[n];

		if (change->chance > chance_max) {
			left_out++;
			continue;
		}
		view_buffer_print(out, "%+7.2f  %6.2f%%  %6.2f%%  ", change->share[1] - change->share[0],
				  change->share[0], change->share[1]);
		view_buffer_print(out, change->chance < 0.0001 ? "<0.0001  " : "%7.4f  ", change->chance);
		view_buffer_print(out, "%s\n", diff->strings.texts[change->name]);
	}
	if (!diff->of[0]->weight || !diff->of[1]->weight)
		view_buffer_print(out, "nothing to compare: there are no samples in %s\n",
				  diff->of[0]->weight	? "B"
				  : diff->of[1]->weight ? "A"
							: "either");
	else if (left_out)
		view_buffer_print(out, "%s %s left out: chance may make such differences; see --all\n",
				  text_count(number, left_out),
				  left_out < diff->count ? "others" : "functions");
}

void view_diff_json(const struct view_diff *diff, double chance_max, struct view_buffer *out)
{
	static const char *const names[2] = { "a", "b" };
	struct json json;

	json_begin_object(&json, out, 2);
	for (unsigned of = 0; of < 2; of++) {
		json_object(&json, names[of]);
		json_u64(&json, "samples", diff->of[of]->samples);
		view_weight_json(&json, diff->of[of], "weight", diff->of[of]->weight);
		json_end(&json);
	}
	json_array(&json, "changes");
	for (size_t n = 0; n < diff->count; n++) {
		const struct view_change *change = &diff->changes[n];

		if (change->chance > chance_max)
			continue;
		json_object(&json, NULL);
		json_text(&json, "symbol", diff->strings.texts[change->name]);
		for (unsigned of = 0; of < 2; of++) {
			json_object(&json, names[of]);
			view_weight_json(&json, diff->of[of], "weight", change->weight[of]);
			json_double(&json, "share_percent", change->share[of], 9);
			json_end(&json);
		}
		json_double(&json, "chance", change->chance, 9);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}
