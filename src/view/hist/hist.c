/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records, counted; see hist.h. Several threads decode records into items (view/read_ahead.h), one counts them.
 */
#include "view/hist/hist.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "read/trace.h"
#include "view/hist/hist_rows.h"
#include "view/read_ahead.h"

enum {
	TEXT_BYTES_MAX = 255, /* of a value that rows differ by */
};

/* Facts by which rows may differ. */
static const char *const hist_facts[] = { "program", "thread", "pid", "tid", "cpu" };

/* An event whose records are counted. */
struct hist_event {
	bool wanted, by_value;
	int field;	     /* -1: none */
	int by[HIST_BY_MAX]; /* fields; below 0: -1 - number of a fact; INT32_MIN: neither */
	uint32_t name;	     /* string */
};

struct hist_reader {
	struct hist *hist;
	bool *selected;		       /* by id - 1 */
	struct burin_profile *profile; /* NULL: the trace has no samples */
	struct view_where *where;
	struct hist_event *events; /* by id - 1 */
};

struct hist_item {
	uint64_t time;
	double value;
	uint32_t id; /* of the event */
	uint32_t
		text; /* of the values in the items' bytes: of --by, then of the field, if it is counted by its values */
};

/* ---- Decoding, in several threads */

/* The text of a fact; "" if it is not known. @room: of TEXT_BYTES_MAX + 1 bytes */
static const char *fact_text(const struct hist_reader *reader, const struct burin_record *record,
			     unsigned fact, char *room)
{
	const struct burin_task *task = NULL;
	const struct burin_thread *thread = NULL;
	struct burin_sample sample;

	snprintf(room, TEXT_BYTES_MAX + 1, "%" PRIu32, fact == 4 ? record->cpu : record->tid);
	if (fact == 4)
		return record->cpu == UINT32_MAX ? "" : room;
	if (fact == 3)
		return room;
	if (reader->profile && !burin_profile_sample(reader->profile, record, &sample))
		task = burin_profile_task(reader->profile, sample.task);
	else
		thread = burin_trace_thread(reader->hist->trace, record->tid, record->time);
	if (!task && !thread)
		return "";
	if (fact == 1)
		return task ? task->name : thread->name;
	if (fact == 0)
		return task		 ? view_where_program(task->path)
		       : thread->process ? view_where_program(thread->process->exe)
					 : "";
	snprintf(room, TEXT_BYTES_MAX + 1, "%" PRIu32, task ? task->pid : thread->pid);
	return room;
}

/* The text of a field's value. */
static const char *hist_field_text(const struct burin_record *record, unsigned number, char *room)
{
	const struct burin_field *field = burin_event_field(record->event, number);
	const char *text;
	double real;
	uint64_t bits;
	int64_t value;

	if (!burin_record_string(record, number, &text, NULL))
		return text;
	if (!burin_record_i64(record, number, &value)) {
		text = burin_field_label(field, value);
		if (text)
			return text;
		if (field->type == BURIN_TYPE_CHAR && value > ' ' && value < 0x7f)
			snprintf(room, 2, "%c", (char)value);
		else
			snprintf(room, TEXT_BYTES_MAX + 1, "%" PRId64, value);
	} else if (!burin_record_u64(record, number, &bits)) {
		snprintf(room, TEXT_BYTES_MAX + 1, "%" PRIu64, bits);
	} else if (!burin_record_double(record, number, &real)) {
		snprintf(room, TEXT_BYTES_MAX + 1, "%.9g", real);
	} else {
		return "";
	}
	return room;
}

static bool hist_add_text(struct read_ahead_items *items, const char *text)
{
	const size_t length = strnlen(text, TEXT_BYTES_MAX);

	if (items->bytes_used >= UINT32_MAX / 2 ||
	    !array_reserve(items->bytes, items->bytes_room, items->bytes_used + length + 1))
		return false;
	memcpy(items->bytes + items->bytes_used, text, length);
	items->bytes[items->bytes_used + length] = 0;
	items->bytes_used += length + 1;
	return true;
}

static int hist_decode(const void *data, const struct burin_record *record, struct read_ahead_items *items)
{
	const struct hist_reader *reader = data;
	const struct hist_options *options = reader->hist->options;
	const struct hist_event *event = &reader->events[record->event->id - 1];
	struct hist_item *list,
		item = { .time = record->time, .id = record->event->id, .text = (uint32_t)items->bytes_used };
	char room[TEXT_BYTES_MAX + 1];

	if (!event->wanted || !view_where_holds(reader->where, record))
		return 0;
	for (unsigned n = 0; n < options->by_count; n++) {
		const int by = event->by[n];
		const char *text = by >= 0	     ? hist_field_text(record, (unsigned)by, room)
				   : by == INT32_MIN ? ""
						     : fact_text(reader, record, (unsigned)(-1 - by), room);

		if (!hist_add_text(items, text))
			return -ENOMEM;
	}
	if (event->by_value && !hist_add_text(items, hist_field_text(record, (unsigned)event->field, room)))
		return -ENOMEM;
	if (event->field >= 0 && !event->by_value &&
	    burin_record_double(record, (unsigned)event->field, &item.value))
		item.value = (double)NAN;
	if (!array_reserve_items(&items->items, &items->room, items->count + 1, sizeof(item), SIZE_MAX,
				 false))
		return -ENOMEM;
	list = items->items;
	list[items->count++] = item;
	return 0;
}

/* ---- Counting */

static uint64_t hist_slot(const struct hist *hist, uint64_t time)
{
	uint64_t begin, end;

	if (!hist->options->every_ns)
		return 0;
	burin_trace_range(hist->trace, &begin, &end);
	return (uint64_t)(burin_trace_ns(hist->trace, time) - burin_trace_ns(hist->trace, begin)) /
	       hist->options->every_ns;
}

static int hist_take(struct hist_reader *reader, const struct read_ahead_items *items,
		     const struct hist_item *item)
{
	struct hist *hist = reader->hist;
	const struct hist_event *event = &reader->events[item->id - 1];
	const char *text = items->bytes + item->text;
	struct hist_key key;
	struct hist_row *row;
	int result;

	memset(&key, 0, sizeof(key));
	key.event = event->name;
	key.slot = hist_slot(hist, item->time);
	for (unsigned n = 0; n < hist->options->by_count; n++, text += strlen(text) + 1)
		key.by[n] = view_string(&hist->strings, text);
	if (event->by_value)
		key.value = view_string(&hist->strings, text);
	result = hist_find_row(hist, &key, &row);
	if (result)
		return result;
	row->records++;
	hist->records++;
	if (event->field < 0 || event->by_value)
		return 0;
	if (isfinite(item->value))
		return value_counts_add(&row->values, item->value) ? 0 : -ENOMEM;
	hist->unfinite++;
	return 0;
}

static int hist_read(struct hist_reader *reader)
{
	const struct hist_options *options = reader->hist->options;
	const struct read_ahead_items *items;
	struct read_ahead *ahead;
	int result = read_ahead_open(&ahead, &(struct read_ahead_work){ .trace = reader->hist->trace,
									.from = options->from,
									.to = options->to,
									.threads = options->threads,
									.decode = hist_decode,
									.data = reader });

	while (!result && (result = read_ahead_next(ahead, &items)) > 0) {
		const struct hist_item *list = items->items;

		result = 0;
		for (size_t n = 0; n < items->count && !result; n++)
			result = hist_take(reader, items, &list[n]);
	}
	read_ahead_close(ahead);
	return result ? result : reader->hist->strings.failed ? -ENOMEM : 0;
}

/* ---- Events */

static int hist_find_by(const struct burin_event *event, const char *word)
{
	const int field = burin_event_find(event, word);

	if (field >= 0)
		return field;
	for (unsigned n = 0; n < sizeof(hist_facts) / sizeof(hist_facts[0]); n++)
		if (strcmp(hist_facts[n], word) == 0)
			return -1 - (int)n;
	return INT32_MIN;
}

static bool counts_by_value(const struct burin_event *event, unsigned number)
{
	const struct burin_field *field = burin_event_field(event, number);

	return field->type == BURIN_TYPE_STR || field->type == BURIN_TYPE_CHAR ||
	       field->type == BURIN_TYPE_BOOL || ((const struct read_field *)field)->label_count;
}

/* Whether a field can be counted at all. */
static bool is_countable(const struct burin_event *event, int number)
{
	const struct burin_field *field = number < 0 ? NULL : burin_event_field(event, (unsigned)number);

	return field && field->type != BURIN_TYPE_BYTES && field->type != BURIN_TYPE_ARRAY;
}

static int hist_choose_events(struct hist_reader *reader)
{
	struct hist *hist = reader->hist;
	const struct hist_options *options = hist->options;
	const unsigned count = burin_trace_events(hist->trace);
	unsigned chosen = 0;

	reader->events = calloc((size_t)count + 1, sizeof(*reader->events));
	reader->selected = calloc((size_t)count + 1, sizeof(*reader->selected));
	if (!reader->events || !reader->selected)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++) {
		const struct burin_event *event = burin_trace_event(hist->trace, n + 1);
		struct hist_event *to = &reader->events[n];

		to->field = event && options->field ? burin_event_find(event, options->field) : -1;
		if (!event || !view_globs_match(options->events, event->name) ||
		    (options->field && !is_countable(event, to->field)))
			continue;
		to->wanted = reader->selected[n] = true;
		to->name = view_string(&hist->strings, event->name);
		to->by_value = to->field >= 0 && counts_by_value(event, (unsigned)to->field);
		hist->by_value |= to->by_value;
		hist->by_number |= to->field >= 0 && !to->by_value;
		for (unsigned by = 0; by < options->by_count; by++)
			to->by[by] = hist_find_by(event, options->by[by]);
		chosen++;
	}
	return chosen ? 0 : -ENODATA;
}

static void hist_set_rates(struct hist *hist)
{
	const struct hist_options *options = hist->options;
	uint64_t begin, end;

	burin_trace_range(hist->trace, &begin, &end);
	begin = options->from > begin ? options->from : begin;
	end = options->to && options->to < end ? options->to : end;
	hist->seconds =
		end > begin
			? (double)(burin_trace_ns(hist->trace, end) - burin_trace_ns(hist->trace, begin)) /
				  1e9
			: 0;
	hist_set_rate(hist, options->every_ns ? (double)options->every_ns / 1e9 : hist->seconds);
}

int hist_make(struct hist *hist, const struct burin_trace *trace, const struct hist_options *options)
{
	struct hist_reader reader = { .hist = hist };
	int result;

	*hist = (struct hist){ .trace = trace, .options = options };
	result = burin_profile_open(&reader.profile, trace);
	result = result == -ENODATA || result == -ENOENT ? 0 : result;
	if (!result)
		result = hist_choose_events(&reader);
	if (!result)
		result = view_where_make(&reader.where, trace, reader.profile, options->where,
					 reader.selected);
	if (!result)
		result = hist_read(&reader);
	if (!result)
		result = hist_sort(hist);
	if (!result)
		hist_set_rates(hist);
	view_where_free(reader.where);
	free(reader.events);
	free(reader.selected);
	burin_profile_close(reader.profile);
	return result;
}
