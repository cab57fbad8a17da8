/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Events, spans, functions and losses; see top.h. */
#include "base/text.h"
#include "view/table.h"
#include "view/top/top.h"
#include "wire/wire_terms.h"

enum {
	TOP_LIVE_NAME,
	TOP_LIVE_STATE,
	TOP_LIVE_IMAGE,
};

static const char *top_event_name(const void *data, const void *row, unsigned part)
{
	const struct top_event *event = row;

	(void)data;
	return part == TOP_LIVE_STATE ? event->state : event->name;
}

static const char *top_span_name(const void *data, const void *row, unsigned part)
{
	(void)data;
	(void)part;
	return ((const struct top_span *)row)->name;
}

static const char *top_function_name(const void *data, const void *row, unsigned part)
{
	const struct top_function *function = row;

	(void)data;
	return part == TOP_LIVE_IMAGE ? function->image : function->function;
}

static const struct column top_function_columns[] = {
	COLUMN("run_ns", "CPU", SHARE, 7, struct top_function, run,
	       .whole = offsetof(struct top_function, whole)),
	COLUMN("samples", "SAMPLES", COUNT, 9, struct top_function, count),
	{ 0 },
};

static const struct column top_event_columns[] = {
	COLUMN("per_s", "PER S", COUNT, 12, struct top_event, per_s),
	COLUMN("count", "COUNT", COUNT, 12, struct top_event, count),
	{ 0 },
};

static const struct column top_span_columns[] = {
	COLUMN("per_s", "PER S", COUNT, 12, struct top_span, per_s),
	COLUMN("count", "COUNT", COUNT, 12, struct top_span, count),
	COLUMN("open", "OPEN", COUNT, 8, struct top_span, open),
	COLUMN("p50_ns", "P50", DURATION, 10, struct top_span, p50, .zero = "-"),
	COLUMN("p90_ns", "P90", DURATION, 10, struct top_span, p90, .zero = "-"),
	COLUMN("p99_ns", "P99", DURATION, 10, struct top_span, p99, .zero = "-"),
	COLUMN("max_ns", "MAX", DURATION, 10, struct top_span, max, .zero = "-"),
	{ 0 },
};

static struct table top_events_table(const struct top_rows *rows, bool color)
{
	return (struct table){ .names = { COLUMN_NAME("state", TEXT, TOP_LIVE_STATE),
					  COLUMN_NAME("event", TEXT, TOP_LIVE_NAME) },
			       .name_count = 2,
			       .columns = top_event_columns,
			       .rows = rows->events,
			       .count = rows->event_count,
			       .size = sizeof(struct top_event),
			       .name = top_event_name,
			       .color = color };
}

static struct table top_spans_table(const struct top_rows *rows, bool color)
{
	return (struct table){ .names = { COLUMN_NAME("span", TEXT, TOP_LIVE_NAME) },
			       .name_count = 1,
			       .columns = top_span_columns,
			       .rows = rows->spans,
			       .count = rows->span_count,
			       .size = sizeof(struct top_span),
			       .name = top_span_name,
			       .color = color };
}

static struct table top_functions_table(const struct top_rows *rows, bool color)
{
	return (struct table){ .names = { COLUMN_NAME("function", TEXT, TOP_LIVE_NAME),
					  COLUMN_NAME("image", TEXT, TOP_LIVE_IMAGE) },
			       .name_count = 2,
			       .columns = top_function_columns,
			       .rows = rows->functions,
			       .count = rows->function_count,
			       .size = sizeof(struct top_function),
			       .name = top_function_name,
			       .color = color };
}

static void top_live_table(struct table *table, uint64_t limit, struct view_buffer *out)
{
	const size_t all = table->count;

	if (!all)
		return;
	table->count = table_limit(all, limit);
	table_text(table, out);
	table_left(all - table->count, "more rows; see --limit", table->color, out);
}

void top_spans_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out)
{
	struct table table = top_spans_table(rows, color);

	top_live_table(&table, limit, out);
}

/* Events that are off and had no records are left out: a program may have thousands. */
void top_events_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out)
{
	struct table table = top_events_table(rows, color);

	while (table.count && !rows->events[table.count - 1].count &&
	       rows->events[table.count - 1].state[1] == 'f')
		table.count--;
	top_live_table(&table, limit, out);
}

void top_all_events_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out)
{
	struct table table = top_events_table(rows, color);

	top_live_table(&table, limit, out);
}

void top_functions_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out)
{
	struct table table = top_functions_table(rows, color);

	top_live_table(&table, limit, out);
}

void top_functions_json(const struct top_rows *rows, struct json *json)
{
	const struct table table = top_functions_table(rows, false);

	if (!rows->sampling)
		return;
	json_u64(json, "samples", rows->samples);
	json_u64(json, "samples_lost", rows->samples_lost);
	table_json(&table, json, "functions");
}

static void top_samples_text(const struct top_rows *rows, struct view_buffer *out)
{
	char text[2][TEXT_SHORT];

	if (rows->sampling && rows->samples_lost)
		view_buffer_print(out, "%s samples, and %s lost\n", text_count(text[0], rows->samples),
				  text_count(text[1], rows->samples_lost));
	else if (rows->samples)
		view_buffer_print(out, "%s sample%s, none lost\n", text_count(text[0], rows->samples),
				  text_plural(rows->samples));
	if (rows->function_note && *rows->function_note)
		view_buffer_print(out, "%s\n", rows->function_note);
}

static void top_records_text(const struct top_rows *rows, struct view_buffer *out)
{
	char text[TEXT_SHORT];
	bool any = false;

	if (!rows->live)
		return;
	view_buffer_print(out, "%s records written", text_count(text, rows->written));
	if (rows->sampled)
		view_buffer_print(out, ", %s read: the numbers below are estimates",
				  text_count(text, rows->read));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		if (!rows->lost[cause] || cause == WIRE_LOST_OVERWRITTEN)
			continue;
		view_buffer_print(out, "%s%s: %s", any ? ", " : "; lost: ", wire_loss_terms[cause].text,
				  text_count(text, rows->lost[cause]));
		any = true;
	}
	view_buffer_print(out, "%s\n", any ? "" : ", none lost");
}

void top_losses_text(const struct top_rows *rows, struct view_buffer *out)
{
	top_records_text(rows, out);
	top_samples_text(rows, out);
}

void top_live_json(const struct top_rows *rows, struct json *json)
{
	const struct table spans = top_spans_table(rows, false), events = top_events_table(rows, false);

	json_u64(json, "interval_ns", rows->interval);
	json_u64(json, "written", rows->written);
	json_u64(json, "read", rows->read);
	json_bool(json, "sampled", rows->sampled);
	json_object(json, "lost");
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		json_u64(json, wire_loss_terms[cause].key, rows->lost[cause]);
	json_end(json);
	table_json(&spans, json, "spans");
	table_json(&events, json, "events");
}
