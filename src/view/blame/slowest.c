/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The slowest spans; see slowest.h. */
#include "view/blame/slowest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/text.h"
#include "view/blame/blame_fold.h"
#include "view/blame/span_records.h"
#include "view/losses.h"

static const char *const bold = print_styles[PRINT_BOLD], *const off = print_styles[PRINT_OFF];

enum {
	NAME_BYTES = 1024,
};

/* All of a report. */
struct slowest {
	struct span_pick *pick;
	const struct view_report *report;
	struct blame blame;
	struct blame_span *spans;
	struct blame_span **order; /* the slowest first */
	size_t count;
	struct view_lines lines;
	struct view_line_formatter *formatter;
	struct view_buffer *out;
};

/* ---- One span */

/* The shares of a span that are large enough to be printed. */
struct shown {
	struct blame_fold fold;
	struct blame_share *shares;
	size_t count, left; /* those that are too small */
};

/* Return: 0; -ENOMEM. Call shown_free() in any case. */
static int shown_make(struct shown *shown, struct slowest *slowest, struct blame_span *span)
{
	struct blame_vector *vector = &span->vector;
	size_t all;
	int error;

	*shown = (struct shown){ .shares = NULL };
	error = blame_fold_make(&shown->fold, &slowest->blame, (struct blame_set){ &vector, 1 },
				(struct blame_set){ NULL, 0 });
	shown->shares = error ? NULL : calloc(vector->count + 1, sizeof(*shown->shares));
	if (!shown->shares)
		return -ENOMEM;
	all = blame_resolve(vector, slowest->blame.parts, shown->shares);
	while (shown->count < all && (double)shown->shares[shown->count].number * 100 >=
					     slowest->report->min * (double)vector->time)
		shown->count++;
	shown->left = all - shown->count;
	return 0;
}

static void shown_free(struct shown *shown)
{
	blame_fold_free(&shown->fold);
	free(shown->shares);
}

static int print_shares(struct slowest *slowest, struct blame_span *span)
{
	struct view_buffer *out = slowest->out;
	struct shown shown;
	const int error = shown_make(&shown, slowest, span);

	if (!error)
		view_buffer_print(out, "     SHARE        TIME        TIMES  WHERE\n");
	for (size_t n = 0; n < shown.count; n++) {
		const struct blame_share *share = &shown.shares[n];
		char time[TEXT_SHORT], times[TEXT_SHORT], text[BLAME_TEXT];

		view_buffer_print(out, "   %6.2f%%  %10s  %11s  ",
				  table_percent(share->number, span->vector.time),
				  text_duration(time, share->number), text_count(times, share->times));
		view_buffer_print(out, "%s\n", blame_fold_text(&shown.fold, share->part, text));
	}
	table_left(shown.left, "more parts; see --min", slowest->report->color, out);
	shown_free(&shown);
	return error;
}

static const struct burin_thread *thread_of(const struct slowest *slowest, const struct span_picked *span)
{
	return burin_trace_thread(slowest->pick->trace, span->tid, span->begin);
}

/* A text of the trace or of the user as one word of a shell. */
static void put_word(const char *text, struct view_buffer *out)
{
	view_buffer_print(out, "'");
	for (; *text; text += *text == '\'') {
		const size_t bytes = strcspn(text, "'");

		view_buffer_print(out, "%.*s%s", (int)bytes, text, text[bytes] ? "'\"'\"'" : "");
		text += bytes;
	}
	view_buffer_print(out, "'");
}

/* A name as a glob that matches only itself. */
static void put_name(const char *name, struct view_buffer *out)
{
	char glob[3 * NAME_BYTES + 1];
	size_t used = 0;

	for (; *name && used < 3 * NAME_BYTES; name++)
		used += (size_t)snprintf(glob + used, sizeof(glob) - used,
					 strchr("*?[", *name) ? "[%c]" : "%c", *name);
	put_word(glob, out);
}

/* The option that selects the spans of a name. */
static void put_option(const struct span_pick *pick, const char *name, struct view_buffer *out)
{
	for (size_t n = 0; n < pick->choice->pair_count; n++)
		if (!strcmp(pick->choice->pairs[n].name, name)) {
			view_buffer_print(out, "--pair ");
			put_word(pick->choice->pairs[n].text, out);
			return;
		}
	view_buffer_print(out, "--span ");
	put_name(name, out);
}

void slowest_command(const struct span_pick *pick, const struct span_picked *span, const char *path,
		     struct view_buffer *out)
{
	const int64_t begin = burin_trace_ns(pick->trace, span->begin),
		      end = burin_trace_ns(pick->trace, span->end);

	view_buffer_print(out, "burin report ");
	put_option(pick, pick->strings.texts[span->name], out);
	view_buffer_print(out,
			  " --slowest 1 --from @%" PRId64 ".%09" PRId64 " --to @%" PRId64 ".%09" PRId64 " ",
			  begin / 1000000000, begin % 1000000000, end / 1000000000, end % 1000000000);
	put_word(path, out);
}

static int span_text(struct slowest *slowest, size_t number)
{
	struct blame_span *span = slowest->order[number];
	const struct span_picked *picked = span->span;
	const struct burin_thread *thread = thread_of(slowest, picked);
	struct view_buffer *out = slowest->out;
	char time[TEXT_SHORT], text[VIEW_TIME];
	int error;

	*view_line_formatter_time(slowest->formatter, picked->begin, text) = 0;
	view_buffer_print(out, "\n%s%zu. %s%s  %s, at %s, thread %s %" PRIu32,
			  slowest->report->color ? bold : "", number + 1,
			  slowest->pick->strings.texts[picked->name], slowest->report->color ? off : "",
			  text_duration(time, span->vector.time), text + strspn(text, " "),
			  thread ? thread->name : "[unknown]", picked->tid);
	if (picked->end_tid != picked->tid)
		view_buffer_print(out, ", ended by %" PRIu32, picked->end_tid);
	view_buffer_print(out, "%s\n", picked->failed ? ", failed" : "");
	error = print_shares(slowest, span);
	return error ? error : span_records_text(slowest->formatter, picked, out);
}

static int span_json(struct slowest *slowest, size_t number, struct json *json)
{
	struct blame_span *span = slowest->order[number];
	const struct span_picked *picked = span->span;
	const struct burin_thread *thread = thread_of(slowest, picked);
	struct shown shown;
	int error = shown_make(&shown, slowest, span);

	json_object(json, NULL);
	json_text(json, "span", slowest->pick->strings.texts[picked->name]);
	json_i64(json, "begin_ns", burin_trace_ns(slowest->pick->trace, picked->begin));
	json_u64(json, "time_ns", span->vector.time);
	json_text(json, "thread", thread ? thread->name : NULL);
	json_u64(json, "tid", picked->tid);
	json_u64(json, "end_tid", picked->end_tid);
	json_bool(json, "failed", picked->failed);
	json_array(json, "parts");
	for (size_t n = 0; n < shown.count; n++) {
		json_object(json, NULL);
		json_u64(json, "time_ns", shown.shares[n].number);
		json_u64(json, "count", shown.shares[n].times);
		blame_fold_json(&shown.fold, shown.shares[n].part, json);
		json_end(json);
	}
	json_end(json);
	if (!error)
		error = span_records_json(slowest->formatter, picked, json);
	json_end(json);
	shown_free(&shown);
	return error;
}

static int span_csv(struct slowest *slowest, size_t number)
{
	struct blame_span *span = slowest->order[number];
	struct shown shown;
	char text[BLAME_TEXT];
	const int error = shown_make(&shown, slowest, span);

	for (size_t n = 0; n < shown.count; n++) {
		const struct blame_share *share = &shown.shares[n];

		view_buffer_csv(slowest->out, slowest->pick->strings.texts[span->span->name]);
		view_buffer_print(slowest->out,
				  ",%" PRId64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
				  burin_trace_ns(slowest->pick->trace, span->span->begin), span->span->tid,
				  span->vector.time, share->number, share->times);
		view_buffer_csv(slowest->out, blame_fold_text(&shown.fold, share->part, text));
		view_buffer_print(slowest->out, "\r\n");
	}
	shown_free(&shown);
	return error;
}

/* ---- The whole */

static int slowest_text(struct slowest *slowest)
{
	struct view_buffer *out = slowest->out;
	char count[TEXT_SHORT], all[TEXT_SHORT];
	int error = 0;

	view_buffer_print(out, "the %s slowest of %s span%s\n", text_count(count, slowest->count),
			  text_count(all, slowest->pick->spans), text_plural(slowest->pick->spans));
	if (!slowest->count)
		view_buffer_print(out, "no recorded span matches the options\n");
	for (size_t n = 0; n < slowest->count && !error; n++)
		error = span_text(slowest, n);
	view_buffer_print(out, "\n");
	view_losses_line(slowest->pick->trace, "", out);
	if (slowest->pick->open)
		view_buffer_print(out, "%s span%s without end in the trace: not among them\n",
				  text_count(count, slowest->pick->open), text_plural(slowest->pick->open));
	blame_missing_text(&slowest->blame, out);
	return error;
}

static int slowest_json(struct slowest *slowest)
{
	struct json json;
	int error = 0;

	json_begin_object(&json, slowest->out, 2);
	json_u64(&json, "spans", slowest->pick->spans);
	json_u64(&json, "open", slowest->pick->open);
	json_u64(&json, "without_begin", slowest->pick->unbegun);
	blame_missing_json(&slowest->blame, &json);
	view_losses_json(slowest->pick->trace, &json);
	json_array(&json, "slowest");
	for (size_t n = 0; n < slowest->count && !error; n++)
		error = span_json(slowest, n, &json);
	json_end(&json);
	json_end(&json);
	return error;
}

static int slowest_csv(struct slowest *slowest)
{
	int error = 0;

	view_buffer_print(slowest->out, "span,begin_ns,tid,span_ns,time_ns,count,where\r\n");
	for (size_t n = 0; n < slowest->count && !error; n++)
		error = span_csv(slowest, n);
	return error;
}

/* The spans as the picks have them, before blame_make() puts them into another order. */
static int make_spans(struct slowest *slowest)
{
	const struct span_picks *picks =
		slowest->pick->group_count ? &slowest->pick->groups[0].slowest : NULL;

	slowest->count = picks ? picks->count : 0;
	slowest->spans = calloc(slowest->count + 1, sizeof(*slowest->spans));
	slowest->order = calloc(slowest->count + 1, sizeof(*slowest->order));
	slowest->formatter = calloc(1, sizeof(*slowest->formatter));
	if (!slowest->spans || !slowest->order || !slowest->formatter)
		return -ENOMEM;
	for (size_t n = 0; n < slowest->count; n++)
		slowest->spans[n].span = &picks->spans[n];
	slowest->formatter->lines = &slowest->lines;
	return 0;
}

static void restore_order(struct slowest *slowest)
{
	const struct span_picked *first = slowest->count ? slowest->pick->groups[0].slowest.spans : NULL;

	for (size_t n = 0; n < slowest->count; n++)
		slowest->order[slowest->spans[n].span - first] = &slowest->spans[n];
}

int slowest_print(struct span_pick *pick, const struct view_report *report, struct view_buffer *out)
{
	struct slowest slowest = { .pick = pick, .report = report, .out = out };
	const struct view_style style = { .color = false };
	int error = make_spans(&slowest);

	if (!error)
		error = view_lines_make(&slowest.lines, pick->trace, &style);
	if (!error)
		error = blame_make(&slowest.blame, pick->trace, &pick->strings, slowest.spans, slowest.count);
	restore_order(&slowest);
	if (!error)
		error = report->form == TABLE_JSON  ? slowest_json(&slowest)
			: report->form == TABLE_CSV ? slowest_csv(&slowest)
						    : slowest_text(&slowest);
	blame_free(&slowest.blame);
	blame_spans_free(slowest.spans, slowest.spans ? slowest.count : 0);
	free(slowest.order);
	free(slowest.formatter);
	view_lines_free(&slowest.lines);
	return !error && pick->strings.failed ? -ENOMEM : error;
}
