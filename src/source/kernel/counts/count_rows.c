/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading the rows of counted events; see count_rows.h. Programs may go on meanwhile: a row that they add may be read, or not. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source/kernel/counts/count_rows.h"
#include "source/kernel/counts/count_words.h"
#include "wire/wire_enum.h"

enum {
	VALUE_BYTES = WIRE_ENUM_LABEL_MAX + 1, /* of a word's value, as text */
};

static_assert((int)VALUE_BYTES >= (int)KERNEL_COUNT_TEXT_BYTES, "a text has room");

struct count_reading {
	struct kernel_counts *counts;
	char texts[KERNEL_COUNT_WORDS][VALUE_BYTES];
	char enums[WIRE_ENUMS_MAX + 1];
};

/* The name of a field's value. Return: false: it has none. */
static bool count_rows_label(const char *enums, const char *name, int64_t value, char out[VALUE_BYTES])
{
	const char *at = wire_enum_find(enums, name, strlen(name));
	struct wire_label label;

	while (at && wire_enum_next(&at, &label))
		if (label.value == value) {
			snprintf(out, VALUE_BYTES, "%.*s", (int)label.bytes, label.text);
			return true;
		}
	return false;
}

static void print_number(struct count_reading *reading, const struct tracepoint *point,
			 const struct tracepoint_field *field, uint64_t value, char out[VALUE_BYTES])
{
	const char *name = !field			    ? NULL
			   : field->kind == TRACEPOINT_CALL ? TRACEPOINT_CALLS
			   : field->labelled		    ? field->name
							    : NULL;

	if (name && count_rows_label(kernel_points_enums(point, reading->enums), name, (int64_t)value, out))
		return;
	if (field && field->is_signed)
		snprintf(out, VALUE_BYTES, "%" PRId64, (int64_t)value);
	else
		snprintf(out, VALUE_BYTES, "%" PRIu64, value);
}

static const char *count_rows_value(struct count_reading *reading, const struct kernel_counts_event *event,
				    const struct kernel_count_key *key, unsigned n)
{
	const struct kernel_counts_word *word = &reading->counts->words[n];
	const struct tracepoint_field *field = event->words[n];
	const char *bytes = (const char *)key + word->at;
	char *out = reading->texts[n];
	uint64_t value;

	if (!field && !word->source)
		return "";
	if (field ? kernel_counts_is_text(field) : kernel_counts_is_name(word->source)) {
		snprintf(out, VALUE_BYTES, "%.*s", (int)strnlen(bytes, word->bytes), bytes);
		return out;
	}
	memcpy(&value, bytes, sizeof(value));
	print_number(reading, &reading->counts->points.points[event->point], field, value, out);
	return out;
}

/* Read one row, and call the function. A row that was removed meanwhile has none. */
static int count_rows_take(struct count_reading *reading, const struct kernel_count_key *key,
			   int (*each)(void *context, const struct kernel_counts_row *row), void *context)
{
	struct kernel_counts *counts = reading->counts;
	const struct kernel_counts_event *event = &counts->events[key->event - 1];
	struct kernel_count_row values = { 0 };
	struct kernel_counts_row row = { .event = event->name,
					 .slot = key->slot,
					 .counts = &values,
					 .has_number = event->value || counts->options.times,
					 .has_sign = event->value && event->value->is_signed,
					 .buckets = counts->buckets,
					 .pages = counts_pages(counts) };

	if (bpf_map_get(counts->rows, key, &values) != 0)
		return 0;
	for (unsigned n = 0; n < counts->word_count; n++)
		row.words[n] = count_rows_value(reading, event, key, n);
	return each(context, &row);
}

int kernel_counts_each(struct kernel_counts *counts,
		       int (*each)(void *context, const struct kernel_counts_row *row), void *context)
{
	static struct count_reading reading;
	struct kernel_count_key key = { 0 };
	int error = 0;

	reading.counts = counts;
	for (bool more = bpf_map_next(counts->rows, NULL, &key); more && !error;
	     more = bpf_map_next(counts->rows, &key, &key))
		if (key.event && key.event <= counts->event_count)
			error = count_rows_take(&reading, &key, each, context);
	return error;
}

void kernel_counts_clear(struct kernel_counts *counts)
{
	const unsigned former = (unsigned)(counts->state->slot - 1) & 1;
	struct kernel_count_key key = { 0 }, next = { 0 };
	bool more = bpf_map_next(counts->rows, NULL, &key);

	while (more) {
		more = bpf_map_next(counts->rows, &key, &next);
		if ((key.slot & 1) == former)
			bpf_map_remove(counts->rows, &key);
		key = next;
	}
	if (counts->buckets)
		memset(counts->buckets[former * counts->page_count], 0,
		       counts->page_count * sizeof(*counts->buckets));
	counts->state->pages[former] = 0;
}
