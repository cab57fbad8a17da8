/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Spans, counted; see span_stats.h. */
#include "view/spans/span_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "view/spans/span_threads.h"

/* The row of the last span of a definition. */
struct last_row {
	struct span_row *row;
	uint32_t parent, values, group;
};

struct span_counter {
	struct span_stats *stats;
	const struct span_options *options;
	struct span_join join;
	struct span_threads threads;
	struct hash_table key_numbers;
	struct last_row *rows; /* by definition */
	size_t row_room;
};

/* ---- Rows */

static uint64_t hash_key(const struct span_key *key)
{
	uint64_t hash = hash_pair(key->span, key->parent);

	for (unsigned n = 0; n < SPAN_BY_FIELDS; n++)
		hash = hash_pair(hash, key->values.texts[n]);
	return hash;
}

/* Return: the number of a key; 0: no memory. */
static uint32_t enter_key(struct span_counter *counter, const struct span_key *key)
{
	struct span_stats *stats = counter->stats;
	const uint64_t hash = hash_key(key);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&counter->key_numbers, hash, &at));)
		if (!memcmp(&stats->keys[number], key, sizeof(*key)))
			return number;
	number = stats->key_count ? stats->key_count : 1;
	if (number == UINT32_MAX || !array_reserve(stats->keys, stats->key_room, (size_t)number + 1) ||
	    !hash_table_reserve(&counter->key_numbers))
		return 0;
	stats->keys[number] = *key;
	stats->key_count = number + 1;
	hash_table_add(&counter->key_numbers, hash, number);
	return number;
}

static uint32_t name_of(const struct span_counter *counter, uint32_t definition)
{
	return definition ? counter->join.events.definitions[definition].name : 0;
}

static struct span_row *find_row(struct span_counter *counter, const struct span_ended *span, uint32_t group)
{
	const struct span_key key = { .span = name_of(counter, span->definition),
				      .parent = counter->options->by_parent ? name_of(counter, span->parent)
									    : 0,
				      .values = counter->join.values[span->values] };
	struct last_row *last;
	uint32_t number;

	if (!array_reserve_zeroed(counter->rows, counter->row_room, (size_t)span->definition + 1))
		return NULL;
	last = &counter->rows[span->definition];
	if (last->row && last->parent == key.parent && last->values == span->values && last->group == group)
		return last->row;
	number = enter_key(counter, &key);
	if (!number)
		return NULL;
	*last = (struct last_row){ (struct span_row *)call_rows_find(&counter->stats->rows,
								     &counter->threads.threads, group, number,
								     sizeof(struct span_row)),
				   key.parent, span->values, group };
	return last->row;
}

static int count_span(void *data, const struct span_ended *span)
{
	struct span_counter *counter = data;
	struct span_row *row;
	uint64_t time;
	uint32_t group = 0;
	int selected;

	selected = span_threads_select(&counter->threads, span, &group);
	if (selected <= 0)
		return selected;
	row = find_row(counter, span, group);
	if (!row)
		return -ENOMEM;
	if (!span->end) {
		row->open++;
		return 0;
	}
	time = span->end - span->begin;
	row->row.calls++;
	row->failed += span->failed;
	row->row.total += time;
	row->row.self += time - (span->children < time ? span->children : time);
	return call_durations_add(&row->row.durations, time) ? 0 : -ENOMEM;
}

/* ---- The whole */

static void sum_up(struct span_stats *stats)
{
	for (size_t n = 0; n < stats->rows.count; n++) {
		const struct span_row *row = (const struct span_row *)stats->rows.rows[n];

		stats->spans += row->row.calls;
		stats->failed += row->failed;
		stats->open += row->open;
		stats->rows.time += row->row.self;
	}
}

int span_stats_make(struct span_stats *stats, const struct burin_trace *trace,
		    const struct span_options *options, const char **missing)
{
	struct span_counter counter = { .stats = stats, .options = options };
	int result;

	*stats = (struct span_stats){ .trace = trace };
	span_threads_init(&counter.threads, trace, options->filter, &stats->strings, options->parts);
	result = span_join_make(&counter.join, trace, &options->choice, &stats->strings, missing);
	counter.join.give = count_span;
	counter.join.data = &counter;
	if (!result)
		result = span_join_read(&counter.join, options->filter->from, options->filter->to,
					options->threads);
	if (!result && stats->strings.failed)
		result = -ENOMEM;
	stats->unbegun = counter.join.unbegun;
	stats->threads = counter.threads.count;
	sum_up(stats);
	free(counter.rows);
	hash_table_free(&counter.key_numbers);
	span_threads_free(&counter.threads);
	span_join_free(&counter.join);
	if (result)
		span_stats_free(stats);
	return result;
}

void span_stats_free(struct span_stats *stats)
{
	call_rows_free(&stats->rows);
	free(stats->keys);
	view_strings_free(&stats->strings);
	*stats = (struct span_stats){ .trace = NULL };
}
