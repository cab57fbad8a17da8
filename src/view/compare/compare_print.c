/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Compared recordings as text, as JSON (docs/schema/diff.json) and as CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/print.h"
#include "base/text.h"
#include "view/compare/compare.h"

enum compare_unit {
	COMPARE_PERCENT,
	COMPARE_NS,
	COMPARE_PER_SECOND,
};

static const struct {
	const char *name;
	enum compare_unit unit;
	bool points; /* changes are differences; others are parts of the value */
} compare_measures[COMPARE_MEASURES] = {
	[COMPARE_SHARE] = { "share", COMPARE_PERCENT, true },
	[COMPARE_RATE] = { "rate", COMPARE_PER_SECOND, false },
	[COMPARE_MEAN] = { "mean", COMPARE_NS, false },
	[COMPARE_P50] = { "p50", COMPARE_NS, false },
	[COMPARE_P99] = { "p99", COMPARE_NS, false },
	[COMPARE_CALLS] = { "calls", COMPARE_PERCENT, false },
	[COMPARE_SELF] = { "self", COMPARE_NS, false },
	[COMPARE_TOTAL] = { "total", COMPARE_NS, false },
};

static const struct {
	const char *things, *thing, *name, *title;
	bool measures;
} compare_kinds[] = {
	[COMPARE_OF_SAMPLES] = { "samples", "functions", "symbol", "SYMBOL", false },
	[COMPARE_OF_SPANS] = { "spans", "rows", "span", "SPAN", true },
	[COMPARE_OF_CALLS] = { "calls", "rows", "function", "FUNCTION", true },
};

static const char *const compare_units[] = {
	[COMPARE_PERCENT] = "percent",
	[COMPARE_NS] = "ns",
	[COMPARE_PER_SECOND] = "per_second",
};

static const char *const compare_sides[2] = { "a", "b" };

static unsigned compare_recordings(const struct compare *compare, unsigned side)
{
	unsigned count = 0;

	for (unsigned n = 0; n < compare->count; n++)
		count += compare->sides[n] == side;
	return count;
}

/* ---- Text */

static void compare_heads(const struct compare *compare, struct view_buffer *out)
{
	for (unsigned side = 0; side < 2; side++)
		for (unsigned n = 0; n < compare->count; n++) {
			const struct compare_recording *recording = &compare->recordings[n];

			if (compare->sides[n] != side)
				continue;
			view_buffer_print(out, "%s: ", side ? "B" : "A");
			if (compare_recordings(compare, side) > 1)
				view_buffer_print(out, "%s: ", recording->path);
			view_buffer_add(out, &recording->head);
		}
}

static void compare_value(const struct compare_row *row, double value, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	if (isnan(value))
		snprintf(text, sizeof(text), "-");
	else if (compare_measures[row->measure].unit == COMPARE_NS)
		text_duration(text, value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX);
	else if (compare_measures[row->measure].unit == COMPARE_PERCENT)
		snprintf(text, sizeof(text), "%.2f%%", value * 100);
	else
		snprintf(text, sizeof(text), "%.1f/s", value);
	view_buffer_print(out, "  %10s", text);
}

/* A change as a number of percent: of the whole, or of the first side's value. */
static double compare_change(const struct compare_row *row, double difference)
{
	if (compare_measures[row->measure].points)
		return difference * 100;
	return row->judged->mean[0] > 0 ? difference / row->judged->mean[0] * 100 : NAN;
}

static void compare_percent(const struct compare_row *row, double change, char text[TEXT_SHORT])
{
	snprintf(text, TEXT_SHORT, compare_measures[row->measure].points ? "%+.2f" : "%+.1f%%", change);
}

static void compare_row_text(const struct compare *compare, const struct compare_row *row,
			     struct view_buffer *out)
{
	const struct significance_row *judged = row->judged;
	const double change = compare_change(row, judged->mean[1] - judged->mean[0]);
	char text[TEXT_SHORT], low[TEXT_SHORT], high[TEXT_SHORT];

	compare_percent(row, change, text);
	compare_percent(row, compare_change(row, judged->low), low);
	compare_percent(row, compare_change(row, judged->high), high);
	view_buffer_print(out, "%8s  ", isfinite(change) ? text : judged->mean[1] > 0 ? "new" : "-");
	if (isfinite(change) && isfinite(judged->low))
		view_buffer_print(out, "%8s to %8s", low, high);
	else
		view_buffer_print(out, "%20s", "");
	compare_value(row, judged->mean[0], out);
	compare_value(row, judged->mean[1], out);
	if (isnan(judged->chance))
		view_buffer_print(out, "        -  ");
	else
		view_buffer_print(out, judged->chance < 0.0001 ? "  <0.0001  " : "  %7.4f  ", judged->chance);
	if (compare_kinds[compare->kind].measures)
		view_buffer_print(out, "%-7s  ", compare_measures[row->measure].name);
	view_buffer_print(out, "%s\n", compare->names.texts[row->name]);
}

/* How changes are distinguished from chance. */
static void compare_method(const struct compare *compare, struct view_buffer *out)
{
	const struct significance *how = &compare->how;
	char judged[TEXT_SHORT];
	double between = 0;

	for (unsigned n = 0; n < COMPARE_MEASURES; n++)
		between = fmax(between, how->groups[n].between);
	view_buffer_print(out, "CHANCE: of %s %s, ", text_count(judged, how->judged),
			  compare_kinds[compare->kind].thing);
	if (how->between_known)
		view_buffer_print(out,
				  "by how much the recordings of one side differ (%u in A, %u in B), in this "
				  "row and in all\n",
				  compare_recordings(compare, 0), compare_recordings(compare, 1));
	else
		view_buffer_print(out,
				  "by %u slices of each recording, and %.0f%% between recordings; with "
				  "several on each side (--base, --new) it is measured\n",
				  (unsigned)COMPARE_SLICES, between * 100);
}

static void compare_left(const struct compare *compare, size_t printed, struct view_buffer *out)
{
	size_t unsure = 0, few = 0;
	char number[TEXT_SHORT];

	for (size_t n = 0; n < compare->row_count; n++) {
		few += isnan(compare->rows[n].judged->chance);
		unsure += compare->rows[n].judged->chance > SIGNIFICANCE_LEVEL;
	}
	if (unsure)
		view_buffer_print(out, "%s %s left out: chance may make such differences; see --all\n",
				  text_count(number, unsure),
				  printed || few ? "others" : compare_kinds[compare->kind].thing);
	if (few)
		view_buffer_print(out, "%s left out: too few %s, or on one side only; see --all\n",
				  text_count(number, few), compare_kinds[compare->kind].things);
}

static void compare_text(const struct compare *compare, bool all, bool color, struct view_buffer *out)
{
	uint64_t counts[2] = { 0, 0 };
	size_t printed = 0;

	compare_heads(compare, out);
	for (unsigned n = 0; n < compare->count; n++)
		counts[compare->sides[n]] += compare->recordings[n].count;
	view_buffer_print(out,
			  "\n%s  CHANGE            WITH 95 %%           A           B   CHANCE  %s%s%s\n",
			  color ? print_styles[PRINT_BOLD] : "",
			  compare_kinds[compare->kind].measures ? "MEASURE  " : "",
			  compare_kinds[compare->kind].title, color ? print_styles[PRINT_OFF] : "");
	for (size_t n = 0; n < compare->row_count; n++) {
		const struct compare_row *row = &compare->rows[n];

		if (!all && !compare_is_change(row))
			continue;
		compare_row_text(compare, row, out);
		printed++;
	}
	if (!counts[0] || !counts[1]) {
		view_buffer_print(out, "nothing to compare: there are no %s in %s\n",
				  compare_kinds[compare->kind].things,
				  counts[0]   ? "B"
				  : counts[1] ? "A"
					      : "either");
		return;
	}
	if (!all)
		compare_left(compare, printed, out);
	compare_method(compare, out);
}

/* ---- JSON and CSV */

static double compare_scale(const struct compare_row *row)
{
	return compare_measures[row->measure].unit == COMPARE_PERCENT ? 100 : 1;
}

static void compare_number(struct json *json, const struct compare_row *row, const char *name, double value)
{
	char key[TEXT_SHORT];

	snprintf(key, sizeof(key), "%s_%s", name, compare_units[compare_measures[row->measure].unit]);
	if (isfinite(value))
		json_double(json, key, value * compare_scale(row), 9);
	else
		json_null(json, key);
}

static void compare_recording_json(const struct compare *compare, const struct compare_recording *recording,
				   struct json *json)
{
	char key[TEXT_SHORT];

	json_object(json, NULL);
	json_text(json, "recording", recording->path);
	json_u64(json, compare_kinds[compare->kind].things, recording->count);
	snprintf(key, sizeof(key), "%s_%s", compare->kind == COMPARE_OF_SAMPLES ? "weight" : "length",
		 recording->unit ? recording->unit : "ns");
	json_u64(json, key, recording->size);
	view_losses_object(&recording->losses, json);
	json_end(json);
}

static void compare_row_json(const struct compare *compare, const struct compare_row *row, struct json *json)
{
	const struct significance_row *judged = row->judged;

	json_object(json, NULL);
	json_text(json, compare_kinds[compare->kind].name, compare->names.texts[row->name]);
	json_text(json, "measure", compare_measures[row->measure].name);
	compare_number(json, row, "a", judged->mean[0]);
	compare_number(json, row, "b", judged->mean[1]);
	compare_number(json, row, "change", judged->mean[1] - judged->mean[0]);
	compare_number(json, row, "change_low", judged->low);
	compare_number(json, row, "change_high", judged->high);
	if (isnan(judged->chance))
		json_null(json, "chance");
	else
		json_double(json, "chance", judged->chance, 9);
	json_end(json);
}

static void compare_group_json(const struct significance_group *group, const char *name, struct json *json)
{
	json_object(json, NULL);
	json_text(json, "measure", name);
	json_u64(json, "rows", group->judged);
	json_double(json, "between_percent", group->between * 100, 9);
	json_double(json, "weight_recordings", group->weight, 9);
	json_end(json);
}

static void compare_json(const struct compare *compare, bool all, struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 2);
	json_text(&json, "of", compare_kinds[compare->kind].things);
	for (unsigned side = 0; side < 2; side++) {
		json_array(&json, compare_sides[side]);
		for (unsigned n = 0; n < compare->count; n++)
			if (compare->sides[n] == side)
				compare_recording_json(compare, &compare->recordings[n], &json);
		json_end(&json);
	}
	json_object(&json, "significance");
	json_u64(&json, "rows", compare->how.judged);
	json_text(&json, "by", compare->how.between_known ? "recordings" : "slices");
	json_array(&json, "measures");
	for (unsigned n = 0; n < COMPARE_MEASURES; n++)
		if (compare->how.groups[n].judged)
			compare_group_json(&compare->how.groups[n], compare_measures[n].name, &json);
	json_end(&json);
	json_end(&json);
	json_array(&json, "changes");
	for (size_t n = 0; n < compare->row_count; n++)
		if (all || compare_is_change(&compare->rows[n]))
			compare_row_json(compare, &compare->rows[n], &json);
	json_end(&json);
	json_end(&json);
}

static void compare_csv_number(const struct compare_row *row, double value, struct view_buffer *out)
{
	view_buffer_print(out, isfinite(value) ? ",%.9g" : ",", value * compare_scale(row));
}

static void compare_csv(const struct compare *compare, bool all, struct view_buffer *out)
{
	view_buffer_print(out, "%s,measure,unit,a,b,change,change_low,change_high,chance\r\n",
			  compare_kinds[compare->kind].name);
	for (size_t n = 0; n < compare->row_count; n++) {
		const struct compare_row *row = &compare->rows[n];
		const struct significance_row *judged = row->judged;

		if (!all && !compare_is_change(row))
			continue;
		view_buffer_csv(out, compare->names.texts[row->name]);
		view_buffer_print(out, ",%s,%s", compare_measures[row->measure].name,
				  compare_units[compare_measures[row->measure].unit]);
		compare_csv_number(row, judged->mean[0], out);
		compare_csv_number(row, judged->mean[1], out);
		compare_csv_number(row, judged->mean[1] - judged->mean[0], out);
		compare_csv_number(row, judged->low, out);
		compare_csv_number(row, judged->high, out);
		view_buffer_print(out, isnan(judged->chance) ? ",\r\n" : ",%.9g\r\n", judged->chance);
	}
}

void compare_print(const struct compare *compare, enum table_form form, bool all, bool color,
		   struct view_buffer *out)
{
	if (form == TABLE_JSON)
		compare_json(compare, all, out);
	else if (form == TABLE_CSV)
		compare_csv(compare, all, out);
	else
		compare_text(compare, all, color, out);
}
