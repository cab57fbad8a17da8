/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Comparing two profiles; see diff.h. */
#include "view/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"

static int add_rows(struct view_diff *diff, const struct view_profile *counted, unsigned which,
		    enum view_part part, bool total, size_t *room)
{
	struct view_rows rows;
	int result = view_rows_make(&rows, counted, 1u << part);
	double each = counted->weight ? (double)counted->samples / (double)counted->weight : 0;

	if (result)
		return result;
	for (size_t n = 0; n < rows.count && !result; n++) {
		const struct view_row *row = &rows.rows[n];
		uint32_t name = view_string(&diff->strings, view_row_text(&rows, row, part));

		if (name >= *room) {
			size_t more = 2 * (size_t)name + 256;
			struct view_change *changes = reallocarray(diff->changes, more, sizeof(*changes));

			if (!changes) {
				result = -ENOMEM;
				break;
			}
			memset(changes + *room, 0, (more - *room) * sizeof(*changes));
			diff->changes = changes;
			*room = more;
		}
		diff->changes[name].name = name;
		diff->changes[name].samples[which] +=
			total ? (uint64_t)((double)row->total * each + 0.5) : row->samples;
		diff->count = name >= diff->count ? name + 1 : diff->count;
	}
	view_rows_free(&rows);
	return result;
}

/* The chance that two draws from the same lot differ at least that much. */
static double chance_of(const struct view_change *change, const uint64_t samples[2])
{
	double of[2] = { (double)samples[0], (double)samples[1] };
	double pooled = (double)(change->samples[0] + change->samples[1]) / (of[0] + of[1]);
	double spread = sqrt(pooled * (1 - pooled) * (1 / of[0] + 1 / of[1]));
	double distance = fabs(change->share[1] - change->share[0]) / 100;

	return !(spread > 0) ? 1 : erfc(distance / spread / sqrt(2));
}

static int by_change(const void *a, const void *b)
{
	const struct view_change *one = a, *other = b;
	double of_one = fabs(one->share[1] - one->share[0]),
	       of_other = fabs(other->share[1] - other->share[0]);

	if (of_one != of_other)
		return of_one > of_other ? -1 : 1;
	return (one->name > other->name) - (one->name < other->name);
}

int view_diff_make(struct view_diff *diff, const struct view_profile *one, const struct view_profile *other,
		   enum view_part part, bool total)
{
	const struct view_profile *profiles[2] = { one, other };
	size_t room = 0, kept = 0;
	int result = 0;

	*diff = (struct view_diff){ .samples = { one->samples, other->samples } };
	for (unsigned n = 0; n < 2 && !result; n++)
		result = add_rows(diff, profiles[n], n, part, total, &room);
	if (result) {
		view_diff_free(diff);
		return result;
	}
	for (size_t n = 0; n < diff->count; n++) {
		if (diff->changes[n].samples[0] || diff->changes[n].samples[1])
			diff->changes[kept++] = diff->changes[n];
	}
	diff->count = kept;
	for (size_t n = 0; n < diff->count; n++) {
		struct view_change *change = &diff->changes[n];

		for (unsigned which = 0; which < 2; which++)
			change->share[which] = diff->samples[which] ? 100.0 * (double)change->samples[which] /
									      (double)diff->samples[which]
								    : 0;
		change->chance = diff->samples[0] && diff->samples[1] ? chance_of(change, diff->samples) : 1;
		change->chance *= (double)diff->count;
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
	char number[TEXT_SHORT], other[TEXT_SHORT];
	size_t left_out = 0;

	view_buffer_print(out, "A: %s samples, B: %s samples; B beside A, in percent of each\n\n",
			  text_count(number, diff->samples[0]), text_count(other, diff->samples[1]));
	view_buffer_print(out, "%s CHANGE        A        B    CHANCE  SYMBOL%s\n", color ? "\033[1m" : "",
			  color ? "\033[0m" : "");
	for (size_t n = 0; n < diff->count; n++) {
		const struct view_change *change = &diff->changes[n];

		if (change->chance > chance_max) {
			left_out++;
			continue;
		}
		view_buffer_print(out, "%+7.2f  %6.2f%%  %6.2f%%  ", change->share[1] - change->share[0],
				  change->share[0], change->share[1]);
		view_buffer_print(out, change->chance < 0.0001 ? "<0.0001  " : "%7.4f  ", change->chance);
		view_buffer_escape(out, diff->strings.texts[change->name]);
		view_buffer_print(out, "\n");
	}
	if (left_out)
		view_buffer_print(out, "%s others differ no more than chance would make them; see --all\n",
				  text_count(number, left_out));
}

void view_diff_json(const struct view_diff *diff, double chance_max, struct view_buffer *out)
{
	const char *comma = "";

	view_buffer_print(out, "{\"samples\":[%" PRIu64 ",%" PRIu64 "],\"changes\":[", diff->samples[0],
			  diff->samples[1]);
	for (size_t n = 0; n < diff->count; n++) {
		const struct view_change *change = &diff->changes[n];

		if (change->chance > chance_max)
			continue;
		view_buffer_print(out, "%s\n{\"symbol\":", comma);
		view_buffer_json(out, diff->strings.texts[change->name]);
		view_buffer_print(
			out, ",\"samples\":[%" PRIu64 ",%" PRIu64 "],\"share\":[%.6f,%.6f],\"chance\":%.9g}",
			change->samples[0], change->samples[1], change->share[0], change->share[1],
			change->chance);
		comma = ",";
	}
	view_buffer_print(out, "]}\n");
}
