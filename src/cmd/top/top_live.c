/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events and spans, counted live; see top_live.h.
 *
 * A round reads the rings one after the other, so the ends of spans come in runs, each in order. All records that are earlier than the
 * begin of a round were read by its end. So the ends up to then are merged and joined, and the others wait for the next round.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "cmd/top/top_live.h"
#include "ring/ring_deps.h"
#include "session/clock.h"

enum {
	TOP_ALLOWANCE_PART =
		400, /* the 400th part of a CPU, for reading; /proc and printing take about as much */
	TOP_ALLOWANCE_MAX = 10000000, /* ns that may be saved */
	TOP_OPEN_MAX = 1 << 20,	      /* spans that have begun; with more, all are forgotten */
};

/* ---- events */

/* The span of a name, whose bytes are given. Return: its index + 1; 0: no memory. */
static uint32_t top_live_find_span(struct top_live *top, const char *name, size_t bytes)
{
	for (size_t n = 0; n < top->span_count; n++)
		if (strlen(top->spans[n].name) == bytes && memcmp(top->spans[n].name, name, bytes) == 0)
			return (uint32_t)n + 1;
	if (!array_reserve(top->spans, top->span_room, top->span_count + 1))
		return 0;
	top->spans[top->span_count] = (struct top_live_span){ .name = strndup(name, bytes) };
	return top->spans[top->span_count].name ? (uint32_t)++top->span_count : 0;
}

static size_t top_live_ends_in(const char *name, const char *end)
{
	const size_t bytes = strlen(name), tail = strlen(end);

	return bytes > tail && strcmp(name + bytes - tail, end) == 0 ? bytes - tail : bytes;
}

static void top_live_learn(struct top_live *top, uint32_t id, struct top_live_event *event)
{
	const struct event_table *table = &top->live.drain.table;
	const struct wire_event *entry = &table->entries[id - 1];
	const char *name = table_text(table, entry->name);

	event->known = true;
	event->begins = entry->kind == WIRE_KIND_BEGIN || entry->kind == WIRE_KIND_SPAN_BEGIN;
	event->has_id = wire_has_span_id(entry->kind);
	event->id_words = strncmp(table_text(table, entry->format), "span_id_high", 12) == 0 ? 2 : 1;
	if (event->begins)
		event->span = top_live_find_span(top, name, top_live_ends_in(name, ".begin"));
	else if (event->has_id || entry->kind == WIRE_KIND_END)
		event->span = top_live_find_span(top, name, top_live_ends_in(name, ".end"));
}

static void top_live_visit(void *data, const struct live_event *record)
{
	struct top_live *top = data;
	struct top_live_event *event = &top->events[record->id - 1];
	struct top_live_end *end;

	if (__builtin_expect(!event->known, 0))
		top_live_learn(top, record->id, event);
	event->count++;
	top->read++;
	if (!event->span)
		return;
	if (!array_reserve(top->ends, top->end_room, top->end_count + 1)) {
		top->failed = true;
		return;
	}
	end = &top->ends[top->end_count++];
	*end = (struct top_live_end){
		.time = record->time, .span = event->span, .tid = record->tid, .begins = event->begins
	};
	if (!event->has_id)
		end->key[0] = record->tid;
	else if (record->bytes >= event->id_words * sizeof(uint64_t))
		memcpy(end->key, record->payload, event->id_words * sizeof(uint64_t));
	end->key[1] ^= event->has_id; /* an id is no thread */
}

/* ---- spans */

/* Merge two neighbouring runs of ->ends into ->sorted. */
static void top_live_merge(const struct top_live *top, size_t low, size_t middle, size_t high)
{
	const struct top_live_end *from = top->ends;
	size_t one = low, other = middle;

	for (size_t at = low; at < high; at++)
		top->sorted[at] = other >= high || (one < middle && from[one].time <= from[other].time)
					  ? from[one++]
					  : from[other++];
}

/* The end of the run that begins here. */
static size_t top_live_run(const struct top_live *top, size_t from)
{
	size_t at = from < top->end_count ? from + 1 : from;

	while (at < top->end_count && top->ends[at - 1].time <= top->ends[at].time)
		at++;
	return at;
}

/* Merge pairs of runs until there is one. There are as many as rings, so a few passes do. Return: false: no memory. */
static bool top_live_sort(struct top_live *top)
{
	if (!array_reserve(top->sorted, top->sorted_room, top->end_count))
		return false;
	while (top_live_run(top, 0) < top->end_count) {
		struct top_live_end *swap = top->ends;
		size_t room = top->end_room;

		for (size_t low = 0, middle, high; low < top->end_count; low = high) {
			middle = top_live_run(top, low);
			high = top_live_run(top, middle);
			top_live_merge(top, low, middle, high);
		}
		top->ends = top->sorted;
		top->end_room = top->sorted_room;
		top->sorted = swap;
		top->sorted_room = room;
		if (!array_reserve(top->sorted, top->sorted_room, top->end_count))
			return false;
	}
	return true;
}

static void top_live_forget_open(struct top_live *top)
{
	span_open_free(&top->open);
	top->open = (struct span_open){ .count = 0 };
	for (size_t n = 0; n < top->span_count; n++)
		top->spans[n].open = 0;
}

static void top_live_join_end(struct top_live *top, const struct top_live_end *end)
{
	struct top_live_span *span = &top->spans[end->span - 1];
	struct span_open_pair pair = { .key = { end->key[0], end->key[1] },
				       .begin = end->time,
				       .definition = end->span,
				       .tid = end->tid };

	if (end->begins) {
		if (top->open.slot_count >= TOP_OPEN_MAX)
			top_live_forget_open(top);
		top->failed |= !span_open_push(&top->open, &pair);
		span->open++;
		return;
	}
	if (!span_open_pop(&top->open, &pair))
		return; /* it began before */
	span->open -= span->open != 0;
	top->failed |=
		!value_counts_add(&span->durations, (double)(end->time - pair.begin) * 1e9 / (double)top->hz);
}

/* Join what is earlier than a time. */
static void top_live_join(struct top_live *top, uint64_t until)
{
	size_t done = 0;

	if (!top_live_sort(top)) {
		top->failed = true;
		return;
	}
	while (done < top->end_count && top->ends[done].time < until)
		top_live_join_end(top, &top->ends[done++]);
	top->end_count -= done;
	memmove(top->ends, top->ends + done, top->end_count * sizeof(*top->ends));
}

/* ---- rounds */

/* Whether to read now. */
static bool top_live_is_allowed(struct top_live *top)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	top->allowance += (int64_t)((now - top->allowed) / TOP_ALLOWANCE_PART);
	if (top->allowance > TOP_ALLOWANCE_MAX)
		top->allowance = TOP_ALLOWANCE_MAX;
	top->allowed = now;
	return top->allowance > 0;
}

int top_live_round(struct top_live *top)
{
	const uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t until;
	int error;

	if (!top_live_is_allowed(top)) {
		top->paused = true;
		return 0;
	}
	if (top->paused) { /* what was not read is not read any more, and spans may have ended in it */
		live_reader_skip(&top->live);
		top_live_forget_open(top);
		top->end_count = 0;
		top->paused = false;
	}
	until = ring_clock();
	error = live_reader_round(&top->live, top_live_visit, top);
	top_live_join(top, until);
	top->allowance -= (int64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
	return error ? error : top->failed ? -ENOMEM : 0;
}

/* ---- rows */

/* @count of the records that were read, as of all that were written. */
static uint64_t top_live_scaled(const struct top_rows *rows, uint64_t count)
{
	return rows->sampled && rows->read
		       ? (uint64_t)((double)count * (double)rows->written / (double)rows->read)
		       : count;
}

static uint64_t top_live_rate(const struct top_rows *rows, uint64_t count)
{
	return rows->interval ? (uint64_t)((double)count * 1e9 / (double)rows->interval + 0.5) : 0;
}

static int top_live_compare_events(const void *one, const void *other)
{
	const struct top_event *a = one, *b = other;

	return number_order(b->count, a->count) ?: strcmp(a->name, b->name);
}

static int top_live_compare_spans(const void *one, const void *other)
{
	const struct top_span *a = one, *b = other;

	return number_order(b->count, a->count) ?: strcmp(a->name, b->name);
}

static const char *top_live_state(const struct top_live *top, uint32_t id)
{
	switch (top->session->desired[id - 1]) {
	case WIRE_ON:
		return "on";
	case WIRE_CONDITIONAL:
		return "conditional";
	default:
		return "off";
	}
}

/* Names are copied: a round may move the texts of the table while the rows are shown. */
static void top_live_event_rows(struct top_live *top, struct top_rows *rows)
{
	const struct event_table *table = &top->live.drain.table;

	arena_free(&top->texts);
	top->texts = (struct arena){ .chunks = NULL };
	top->event_row_count = 0;
	if (!array_reserve(top->event_rows, top->event_row_room, table->count))
		return;
	for (uint32_t n = 0; n < table->count; n++) {
		const uint64_t count = top_live_scaled(rows, top->events[n].count);
		const char *text = table_text(table, table->entries[n].name);
		const char *name = arena_keep(&top->texts, text, strlen(text));

		top->event_rows[top->event_row_count++] =
			(struct top_event){ .count = count,
					    .id = n + 1,
					    .per_s = top_live_rate(rows, count),
					    .name = name ? name : "",
					    .state = top_live_state(top, n + 1) };
		top->events[n].count = 0;
	}
	if (top->event_row_count)
		qsort(top->event_rows, top->event_row_count, sizeof(*top->event_rows),
		      top_live_compare_events);
}

static void top_live_span_rows(struct top_live *top, struct top_rows *rows)
{
	top->span_row_count = 0;
	if (!array_reserve(top->span_rows, top->span_row_room, top->span_count))
		return;
	for (size_t n = 0; n < top->span_count; n++) {
		struct top_live_span *span = &top->spans[n];
		struct top_span *row = &top->span_rows[top->span_row_count++];

		*row = (struct top_span){ .count = top_live_scaled(rows, span->durations.count),
					  .open = span->open,
					  .name = span->name };
		row->per_s = top_live_rate(rows, row->count);
		if (span->durations.count) {
			row->p50 = (uint64_t)value_counts_quantile(&span->durations, 500);
			row->p90 = (uint64_t)value_counts_quantile(&span->durations, 900);
			row->p99 = (uint64_t)value_counts_quantile(&span->durations, 990);
			row->max = (uint64_t)span->durations.max;
		}
		value_counts_free(&span->durations);
		span->durations = (struct value_counts){ .count = 0 };
	}
	if (top->span_row_count)
		qsort(top->span_rows, top->span_row_count, sizeof(*top->span_rows), top_live_compare_spans);
}

void top_live_rows(struct top_live *top, struct top_rows *rows)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct session_stat stat;

	session_stat_read(top->session, &stat);
	rows->live = true;
	rows->interval = now - top->since;
	rows->written = stat.written - top->before.written;
	rows->read = top->read;
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		rows->lost[cause] = stat.lost[cause] - top->before.lost[cause];
	/* Records of the last moments are read in the next interval, so small differences are none. */
	rows->sampled = live_reader_missed(&top->live) != top->missed;
	top->missed = live_reader_missed(&top->live);
	top_live_event_rows(top, rows);
	top_live_span_rows(top, rows);
	rows->events = top->event_rows;
	rows->event_count = top->event_row_count;
	rows->spans = top->span_rows;
	rows->span_count = top->span_row_count;
	top->before = stat;
	top->since = now;
	top->read = 0;
}

int top_live_begin(struct top_live *top, struct session *session)
{
	int error;

	*top = (struct top_live){ .session = session,
				  .allowance = TOP_ALLOWANCE_MAX,
				  .since = clock_ns(CLOCK_MONOTONIC),
				  .allowed = clock_ns(CLOCK_MONOTONIC),
				  .hz = session_clock_hz(session),
				  .events = calloc(WIRE_ID_MAX, sizeof(*top->events)) };
	if (!top->events)
		return -ENOMEM;
	top->begun = true;
	error = live_reader_begin(&top->live, session, NULL);
	session_stat_read(session, &top->before);
	return error;
}

void top_live_end(struct top_live *top)
{
	if (top->begun)
		live_reader_free(&top->live);
	for (size_t n = 0; n < top->span_count; n++) {
		value_counts_free(&top->spans[n].durations);
		free(top->spans[n].name);
	}
	span_open_free(&top->open);
	free(top->spans);
	free(top->ends);
	free(top->sorted);
	arena_free(&top->texts);
	free(top->event_rows);
	free(top->span_rows);
	free(top->events);
	*top = (struct top_live){ .begun = false };
}
