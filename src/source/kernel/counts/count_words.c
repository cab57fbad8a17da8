/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The events that are counted, and the values by which their rows differ; see count_words.h.
 *
 * A word is a field of the events that have one of its name, and otherwise a fact of the task. All rows have the same form: a word
 * that is a text in one event takes the room of a text in all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kernel/counts/count_words.h"

static const struct {
	const char *name;
	enum kernel_count_source source;
	unsigned bytes;
} count_facts[] = {
	{ "cpu", KERNEL_COUNT_CPU, 8 },
	{ "tid", KERNEL_COUNT_TID, 8 },
	{ "pid", KERNEL_COUNT_PID, 8 },
	{ "thread", KERNEL_COUNT_THREAD, KERNEL_COUNT_NAME_BYTES },
	{ "program", KERNEL_COUNT_PROGRAM, KERNEL_COUNT_TEXT_BYTES },
};

bool kernel_counts_is_text(const struct tracepoint_field *field)
{
	return field->kind == TRACEPOINT_CHARS || field->kind == TRACEPOINT_TEXT ||
	       field->kind == TRACEPOINT_USER_TEXT || field->kind == TRACEPOINT_KERNEL_TEXT;
}

static bool count_field_is_number(const struct tracepoint_field *field)
{
	return field->kind == TRACEPOINT_INTEGER || field->kind == TRACEPOINT_POINTER ||
	       field->kind == TRACEPOINT_CALL || field->kind == TRACEPOINT_CALL_NUMBER;
}

/* Whether its values are counted, each by itself: those that have names, as in a trace. */
static bool counts_by_values(const struct tracepoint_field *field)
{
	return kernel_counts_is_text(field) || field->labelled || field->kind == TRACEPOINT_CALL;
}

static int count_words_refuse(char why[KERNEL_WHY], const struct tracepoint *point,
			      const struct tracepoint_field *field)
{
	snprintf(why, KERNEL_WHY,
		 "%.48s of %.100s is neither a number nor a text, which is all that the kernel's programs "
		 "count; record it, and use burin hist DIR",
		 field->name, point->event);
	return -ENOENT;
}

static void count_words_reserve(struct kernel_counts_word *word, const struct tracepoint_field *field)
{
	const unsigned bytes = kernel_counts_is_text(field) ? KERNEL_COUNT_TEXT_BYTES : 8;

	word->is_field = true;
	word->bytes = bytes > word->bytes ? bytes : word->bytes;
}

/* Find the fields of one event that words name. */
static int find_words(struct kernel_counts *counts, struct kernel_counts_event *event,
		      const struct tracepoint *point, char why[KERNEL_WHY])
{
	for (unsigned n = 0; n < counts->options.by_count; n++) {
		const struct tracepoint_field *field = tracepoint_field(point, counts->options.by[n]);
		struct kernel_counts_word *word = &counts->words[n];

		if (!field)
			continue;
		if (!kernel_counts_is_text(field) && !count_field_is_number(field))
			return count_words_refuse(why, point, field);
		event->words[n] = field;
		count_words_reserve(word, field);
	}
	return 0;
}

/* Whether a tracepoint is counted: it has the field, or is of a system call. */
static bool is_counted(const void *context, const struct tracepoint *point)
{
	const struct kernel_counts_options *options = context;
	const struct tracepoint_field *field;
	bool enters;

	if (options->times)
		return tracepoint_syscall(point, &enters) && kernel_points_call(point, &enters) >= 0;
	if (!options->field)
		return true;
	field = tracepoint_field(point, options->field);
	return field && (kernel_counts_is_text(field) || count_field_is_number(field));
}

/* Find the field that is counted. */
static void find_value(struct kernel_counts *counts, struct kernel_counts_event *event,
		       const struct tracepoint *point)
{
	const struct tracepoint_field *field = tracepoint_field(point, counts->options.field);
	struct kernel_counts_word *word = &counts->words[counts->options.by_count];

	if (!counts_by_values(field)) {
		event->value = field;
		counts->by_number = true;
		return;
	}
	event->words[counts->options.by_count] = field;
	count_words_reserve(word, field);
	counts->by_value = true;
}

/* The event of a tracepoint. The exit of a call that has its words comes behind its entry. */
static struct kernel_counts_event *name_event(struct kernel_counts *counts, size_t n)
{
	const struct tracepoint *point = &counts->points.points[n];
	struct kernel_counts_event *event = &counts->events[n];
	bool enters;

	if (counts->options.times) {
		event = &counts->events[kernel_points_call(point, &enters)];
		snprintf(event->name, sizeof(event->name), TRACEPOINT_PREFIX TRACEPOINT_SYSCALLS ":%s",
			 tracepoint_syscall(point, &enters));
	} else {
		snprintf(event->name, sizeof(event->name), "%s", point->event);
	}
	event->point = n;
	return event;
}

static int choose_events(struct kernel_counts *counts, char why[KERNEL_WHY])
{
	int error = 0;

	for (size_t n = 0; n < counts->points.count && !error; n++) {
		struct kernel_counts_event *event = name_event(counts, n);

		if (counts->options.field)
			find_value(counts, event, &counts->points.points[n]);
		error = find_words(counts, event, &counts->points.points[n], why);
	}
	if (error || counts->points.count)
		return error;
	if (counts->options.times)
		snprintf(why, KERNEL_WHY, "--latency is of system calls, and --kernel has none");
	else
		snprintf(why, KERNEL_WHY,
			 "no event of --kernel has a number or text %.60s; see burin events kernel",
			 counts->options.field);
	return -ENOENT;
}

/* Where an event has no field of that name, a word is a fact. */
static int find_facts(struct kernel_counts *counts, char why[KERNEL_WHY])
{
	for (unsigned n = 0; n < counts->options.by_count; n++) {
		struct kernel_counts_word *word = &counts->words[n];

		for (unsigned fact = 0; fact < sizeof(count_facts) / sizeof(count_facts[0]); fact++)
			if (strcmp(word->name, count_facts[fact].name) == 0) {
				const unsigned bytes = count_facts[fact].bytes;

				word->source = count_facts[fact].source;
				word->bytes = bytes > word->bytes ? bytes : word->bytes;
			}
		if (word->source || word->is_field)
			continue;
		snprintf(why, KERNEL_WHY,
			 "--by %.60s: no event of --kernel has such a field; other words are program, "
			 "thread, pid, tid and cpu",
			 word->name);
		return -ENOENT;
	}
	return 0;
}

static int lay_out_key(struct kernel_counts *counts, char why[KERNEL_WHY])
{
	unsigned at = offsetof(struct kernel_count_key, words);

	counts->word_count = counts->options.by_count + counts->by_value;
	for (unsigned n = 0; n < counts->word_count; n++) {
		struct kernel_counts_word *word = &counts->words[n];

		word->at = at;
		at += word->bytes;
	}
	counts->key_bytes = at;
	if (at <= KERNEL_COUNT_KEY_BYTES)
		return 0;
	snprintf(why, KERNEL_WHY, "--by and --field: at most two texts fit beside each other in the kernel");
	return -ENOENT;
}

int kernel_counts_choose(struct kernel_counts *counts, char why[KERNEL_WHY])
{
	const struct kernel_counts_options *options = &counts->options;
	int error;

	kernel_points_keep(&counts->points, is_counted, options);
	counts->event_count = options->times ? KERNEL_CALL_ENTRIES : counts->points.count;
	counts->events = calloc(counts->event_count + 1, sizeof(*counts->events));
	if (!counts->events)
		return -ENOMEM;
	for (unsigned n = 0; n < options->by_count; n++)
		counts->words[n].name = options->by[n];
	counts->words[options->by_count].name = options->field;
	error = choose_events(counts, why);
	if (!error)
		error = find_facts(counts, why);
	return error ? error : lay_out_key(counts, why);
}

unsigned kernel_counts_symbols(const struct kernel_counts *counts, const struct kernel_counts_event *event,
			       struct bpf_symbol *out, unsigned count)
{
	static const char *const sources[] = { "source_0", "source_1", "source_2", "source_3", "source_4",
					       "source_5", "source_6", "source_7", "source_8" };
	static const char *const fields[] = { "field_0", "field_1", "field_2", "field_3", "field_4",
					      "field_5", "field_6", "field_7", "field_8" };
	static const char *const places[] = { "at_0", "at_1", "at_2", "at_3", "at_4",
					      "at_5", "at_6", "at_7", "at_8" };
	const struct kernel_task_type *task = &counts->names;
	const struct bpf_symbol own[] = {
		{ "rows", BPF_SYMBOL_MAP, (uint64_t)counts->rows },
		{ "pages", BPF_SYMBOL_MAP, (uint64_t)counts->pages },
		{ "started", BPF_SYMBOL_MAP, (uint64_t)counts->started },
		{ "state", BPF_SYMBOL_VALUE, (uint64_t)counts->state_map },
		{ "empty", BPF_SYMBOL_VALUE, (uint64_t)counts->empty },
		{ "values", BPF_SYMBOL_NUMBER, counts->by_number || counts->options.times },
		{ "page_count", BPF_SYMBOL_NUMBER, counts->page_count },
		{ "key_words", BPF_SYMBOL_NUMBER, (counts->key_bytes - 8) / 8 },
		{ "task_memory", BPF_SYMBOL_NUMBER, task->memory },
		{ "memory_file", BPF_SYMBOL_NUMBER, task->file },
		{ "file_entry", BPF_SYMBOL_NUMBER, task->entry },
		{ "entry_name", BPF_SYMBOL_NUMBER, task->name },
	};

	memcpy(out + count, own, sizeof(own));
	count += sizeof(own) / sizeof(own[0]);
	for (unsigned n = 0; n < KERNEL_COUNT_WORDS; n++) {
		const struct kernel_counts_word *word = &counts->words[n];
		const bool is_fact = !event || !event->words[n];

		out[count++] =
			(struct bpf_symbol){ sources[n], BPF_SYMBOL_NUMBER, is_fact ? word->source : 0 };
		out[count++] = (struct bpf_symbol){ fields[n], BPF_SYMBOL_NUMBER, word->is_field };
		out[count++] = (struct bpf_symbol){ places[n], BPF_SYMBOL_NUMBER, word->at };
	}
	out[count] = (struct bpf_symbol){ 0 };
	return count;
}
