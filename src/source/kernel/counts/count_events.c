/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The programs at tracepoints; see count_events.h. Their common part is kernel_count.bpf.c; the rest is written here, for one event. */
#include <errno.h>
#include <string.h>

#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/bpf/kernel_put.h"
#include "source/kernel/counts/count_events.h"
#include "source/kernel/counts/count_words.h"
#include "source/kernel/in_kernel/counts/kernel_count.bpf.h"
#include "source/kernel/programs/kernel_attach.h"
#include "source/kernel/programs/kernel_program.h"

struct counted {
	const struct kernel_counts *counts;
	size_t number;
};

/* Register 1: the number that a field has, extended to 64 bits. */
static void count_events_put_number(struct bpf_program *to, const struct tracepoint_field *field)
{
	const int unused = 64 - 8 * field->bytes;

	if (field->kind == TRACEPOINT_CALL)
		bpf_put_copy(to, BPF_REG_1, KERNEL_REG_FOUND);
	else if (field->source.place != TRACEPOINT_RECORD)
		kernel_put_argument(to, field);
	else
		bpf_put_load(to, kernel_size_code(field->bytes), BPF_REG_1, KERNEL_REG_CONTEXT,
			     field->offset);
	if (!unused)
		return;
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, unused);
	bpf_put_alu(to, field->is_signed ? BPF_ARSH : BPF_RSH, BPF_REG_1, unused);
}

static void count_events_put_text(struct bpf_program *to, const struct tracepoint_field *field, unsigned at)
{
	const struct bpf_code *copy = field->kind == TRACEPOINT_USER_TEXT ? &kernel_count_put_user
				      : field->kind == TRACEPOINT_CHARS	  ? &kernel_count_put_chars
									  : &kernel_count_put_kernel;

	kernel_put_text_address(to, field);
	bpf_put_copy(to, BPF_REG_1, KERNEL_REG_PLACE);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, (int)at);
	bpf_put_set(to, BPF_REG_3,
		    field->size < KERNEL_COUNT_TEXT_BYTES ? field->size : KERNEL_COUNT_TEXT_BYTES);
	bpf_put_code_call(to, copy);
}

/* kernel_count_fields(): put the fields into the key, and return the number that is counted. */
static void count_events_put_fields(struct bpf_program *to, const struct kernel_counts *counts,
				    const struct kernel_counts_event *event)
{
	bpf_put_copy(to, KERNEL_REG_CONTEXT, BPF_REG_1);
	bpf_put_copy(to, KERNEL_REG_PLACE, BPF_REG_2);
	bpf_put_copy(to, KERNEL_REG_FOUND, BPF_REG_3);
	for (unsigned n = 0; n < counts->word_count; n++) {
		const struct tracepoint_field *field = event->words[n];

		if (!field)
			continue;
		if (kernel_counts_is_text(field)) {
			count_events_put_text(to, field, counts->words[n].at);
			continue;
		}
		count_events_put_number(to, field);
		bpf_put_store(to, BPF_DW, KERNEL_REG_PLACE, (int)counts->words[n].at, BPF_REG_1);
	}
	if (event->value)
		count_events_put_number(to, event->value);
	else
		bpf_put_set(to, BPF_REG_1, 0);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_1);
	bpf_put_end(to);
}

static bool count_events_has_fields(const struct kernel_counts_event *event)
{
	bool has = event->value;

	for (unsigned n = 0; n < KERNEL_COUNT_WORDS; n++)
		has |= event->words[n] != NULL;
	return has;
}

static bool count_events_write(const void *context, struct bpf_program *to)
{
	const struct counted *at = context;
	const struct kernel_counts *counts = at->counts;
	const struct kernel_counts_event *event = &counts->events[at->number];
	const struct tracepoint *point = &counts->points.points[event->point];
	const struct tracepoint_field *named = kernel_program_named(point);
	const struct wire_filter *filter = kernel_points_filter(&counts->points, event->point);
	const bool has_fields = count_events_has_fields(event);
	struct bpf_symbol symbols[KERNEL_SYMBOLS];
	const unsigned count =
		kernel_counts_symbols(counts, event, symbols, kernel_symbols(&counts->layout, symbols));
	int value;
	const enum kernel_found found = kernel_program_finds(&counts->layout, point, &value);
	const struct bpf_symbol own[] = {
		{ "event", BPF_SYMBOL_NUMBER, at->number + 1 },
		{ "has_sign", BPF_SYMBOL_NUMBER, event->value && event->value->is_signed },
		{ "has_fields", BPF_SYMBOL_NUMBER, has_fields },
		{ "least_state", BPF_SYMBOL_NUMBER, kernel_program_least(point) },
		{ "names_task", BPF_SYMBOL_NUMBER, named != NULL },
		{ "found", BPF_SYMBOL_NUMBER, found },
		{ "found_value", BPF_SYMBOL_NUMBER, (uint64_t)(int64_t)value },
		{ "filters", BPF_SYMBOL_NUMBER, filter != NULL },
		{ "in_kernel", BPF_SYMBOL_NUMBER, false },
		{ "result", BPF_SYMBOL_NUMBER, !point->is_probe && !point->function }, /* kernel_program.c */
		{ "kernel_named", BPF_SYMBOL_FUNCTION, named != NULL },
		{ "kernel_chosen", BPF_SYMBOL_FUNCTION, filter != NULL },
		{ "kernel_count_fields", BPF_SYMBOL_FUNCTION, has_fields },
		{ 0 },
	};

	static_assert(sizeof(own) / sizeof(own[0]) <= KERNEL_SYMBOLS / 4, "symbols have room");
	bpf_begin(to);
	memcpy(symbols + count, own, sizeof(own));
	if (!bpf_put_code(to, &kernel_count_event, symbols))
		return false;
	if (named) {
		bpf_land_symbol(to, &kernel_count_event, "kernel_named");
		kernel_program_put_named(to, named);
	}
	if (filter) {
		bpf_land_symbol(to, &kernel_count_event, "kernel_chosen");
		kernel_filter_put(to, &(struct kernel_filter){ filter, point }, 1);
	}
	if (has_fields) {
		bpf_land_symbol(to, &kernel_count_event, "kernel_count_fields");
		count_events_put_fields(to, counts, event);
	}
	return bpf_put_called(to, symbols);
}

int count_events_attach(struct kernel_counts *counts, size_t number)
{
	return kernel_attach_point(&counts->files, &counts->layout,
				   &counts->points.points[counts->events[number].point], count_events_write,
				   &(struct counted){ counts, number });
}
