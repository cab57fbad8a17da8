/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls that are counted; see count_calls.h. The programs are in kernel_count_calls.bpf.c.
 *
 * The time of a call is counted if one of its two tracepoints was chosen: the entry then notes its moment, and the exit counts.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/counts/count_calls.h"
#include "source/kernel/counts/count_words.h"
#include "source/kernel/in_kernel/counts/kernel_count_calls.bpf.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/programs/kernel_attach.h"

enum {
	COUNT_ENTRIES,
	COUNT_EXITS,
	COUNT_SIDES
};

/* The entries, or the exits. */
struct count_side {
	const struct kernel_counts *counts;
	bool exits, used;
	bool needs_arguments, has_texts;
	int map; /* struct kernel_count_call, by number */
	struct kernel_filters filters;
	struct kernel_count_call calls[KERNEL_CALL_ENTRIES];
};

/* Numbers of calls that make a task, which begins with the exit of its maker's call. */
static bool makes_task(int number)
{
#ifdef SYS_fork
	if (number == SYS_fork || number == SYS_vfork)
		return true;
#endif
	return number == SYS_clone || number == SYS_clone3;
}

static void count_calls_place(struct count_side *side, struct kernel_count_place *out,
			      const struct tracepoint_field *field, bool enters)
{
	if (!field)
		return;
	side->needs_arguments = true;
	out->argument = field->kind == TRACEPOINT_CALL_NUMBER ? KERNEL_COUNT_NUMBER
			: enters ? (uint8_t)((field->offset - 16) / 8 % KERNEL_ARGUMENTS)
				 : KERNEL_COUNT_RESULT;
	if (field->kind == TRACEPOINT_USER_TEXT)
		out->kind = KERNEL_COUNT_TEXT;
	else if (field->bytes == 4)
		out->kind = field->is_signed ? KERNEL_COUNT_SIGNED_32 : KERNEL_COUNT_32;
	else
		out->kind = KERNEL_COUNT_64;
	side->has_texts |= out->kind == KERNEL_COUNT_TEXT;
}

/* Describe a call to the programs of one side. @point: has its words; @filtered: of this side; NULL: it was not chosen */
static int count_calls_describe(struct count_side *side, int number, size_t event, const size_t *filtered)
{
	const struct kernel_counts *counts = side->counts;
	const struct kernel_counts_event *of = &counts->events[event];
	const struct wire_filter *filter = filtered ? kernel_points_filter(&counts->points, *filtered) : NULL;
	struct kernel_count_call *call = &side->calls[number];
	bool enters = false;

	tracepoint_syscall(&counts->points.points[of->point], &enters);
	side->used = true;
	call->event = (uint32_t)event + 1;
	call->makes_task = makes_task(number);
	call->has_sign = of->value && of->value->is_signed;
	count_calls_place(side, &call->value, of->value, enters);
	for (unsigned n = 0; n < counts->word_count; n++)
		count_calls_place(side, &call->words[n], of->words[n], enters);
	if (!filter)
		return 0;
	side->needs_arguments = true;
	call->filter = kernel_filters_add(&side->filters, filter, &counts->points.points[*filtered]);
	return call->filter ? 0 : -E2BIG;
}

/* Describe the call of one tracepoint: on its own side, or for times on both. */
static int count_calls_add(struct count_side sides[COUNT_SIDES], size_t n)
{
	const struct kernel_counts *counts = sides[0].counts;
	bool enters;
	const int number = kernel_points_call(&counts->points.points[n], &enters);
	const unsigned own = enters ? COUNT_ENTRIES : COUNT_EXITS;
	int error;

	if (number < 0)
		return 0;
	if (!counts->options.times)
		return count_calls_describe(&sides[own], number, n, &n);
	error = count_calls_describe(&sides[own], number, (size_t)number, &n);
	if (!error && !sides[!own].calls[number].event)
		error = count_calls_describe(&sides[!own], number, (size_t)number, NULL);
	return error;
}

/* Let calls whose numbers are in the table, but have no tracepoint, be as those of larger numbers. */
static void count_calls_fill(struct count_side *side)
{
	for (unsigned number = 0; number < KERNEL_CALLS; number++)
		if (!side->counts->points.has_calls[number] && !side->calls[number].event)
			side->calls[number] = side->calls[KERNEL_CALL_UNNAMED];
}

static bool count_calls_write(const void *context, struct bpf_program *to)
{
	const struct count_side *side = context;
	const struct kernel_counts *counts = side->counts;
	const struct bpf_code *code = side->exits ? &kernel_count_exit : &kernel_count_enter;
	struct bpf_symbol symbols[KERNEL_SYMBOLS];
	const unsigned count =
		kernel_counts_symbols(counts, NULL, symbols, kernel_symbols(&counts->layout, symbols));
	const struct bpf_symbol own[] = {
		{ "calls", BPF_SYMBOL_MAP, (uint64_t)side->map },
		{ "times", BPF_SYMBOL_NUMBER, counts->options.times },
		{ "needs_arguments", BPF_SYMBOL_NUMBER, side->needs_arguments },
		{ "has_texts", BPF_SYMBOL_NUMBER, side->has_texts },
		{ "filters", BPF_SYMBOL_NUMBER, side->filters.count },
		{ "in_kernel", BPF_SYMBOL_NUMBER, false },
		{ "kernel_chosen", BPF_SYMBOL_FUNCTION, side->filters.count },
		{ 0 },
	};

	static_assert(sizeof(own) / sizeof(own[0]) <= KERNEL_SYMBOLS / 4, "symbols have room");
	bpf_begin(to);
	memcpy(symbols + count, own, sizeof(own));
	if (!bpf_put_code(to, code, symbols))
		return false;
	if (side->filters.count) {
		bpf_land_symbol(to, code, "kernel_chosen");
		kernel_filter_put(to, side->filters.list, side->filters.count);
	}
	return bpf_put_called(to, symbols);
}

/* Make the table of one side, which does not change afterwards. */
static int count_calls_make_table(struct kernel_counts *counts, struct count_side *side)
{
	static const struct bpf_map table = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
					      sizeof(struct kernel_count_call), KERNEL_CALL_ENTRIES, 0 };
	int error;

	side->map = bpf_map_make(&table);
	error = kernel_files_keep(&counts->files, side->map);
	for (uint32_t number = 0; number < KERNEL_CALL_ENTRIES && !error; number++)
		if (side->calls[number].event)
			error = bpf_map_set(side->map, &number, &side->calls[number]);
	return error < 0 ? error : 0;
}

int count_calls_attach(struct kernel_counts *counts, bool untyped)
{
	static struct count_side sides[COUNT_SIDES];
	uint32_t types[COUNT_SIDES];
	int error = 0;

	memset(sides, 0, sizeof(sides));
	sides[COUNT_EXITS].exits = true;
	for (unsigned n = 0; n < COUNT_SIDES; n++)
		sides[n].counts = counts;
	for (size_t n = 0; n < counts->points.count && !error; n++)
		error = count_calls_add(sides, n);
	counts->layout.typed = !untyped && kernel_types_calls(types) == 0;
	for (unsigned n = 0; n < COUNT_SIDES && !error; n++) {
		if (!sides[n].used)
			continue;
		if (sides[n].calls[KERNEL_CALL_UNNAMED].event)
			count_calls_fill(&sides[n]);
		error = count_calls_make_table(counts, &sides[n]);
		if (!error)
			error = kernel_attach_calls(&counts->files, &counts->layout, types, n == COUNT_EXITS,
						    count_calls_write, &sides[n]);
	}
	return error;
}
