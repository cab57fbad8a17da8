/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Filters and orders of rows; see top_choice.h. */
#include "view/top/top_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/number.h"

/* ---- orders: the greatest first, names by the alphabet; equal rows keep a stable order by name or thread */

static int top_order_by(uint64_t one, uint64_t other, int equal)
{
	return number_order(other, one) ?: equal;
}

static int top_spans_by_name(const void *one, const void *other)
{
	return strcmp(((const struct top_span *)one)->name, ((const struct top_span *)other)->name);
}

static int top_events_by_name(const void *one, const void *other)
{
	return strcmp(((const struct top_event *)one)->name, ((const struct top_event *)other)->name);
}

static int top_threads_by_tid(const void *one, const void *other)
{
	return number_order(((const struct top_thread *)one)->tid, ((const struct top_thread *)other)->tid);
}

static int top_threads_by_name(const void *one, const void *other)
{
	return strcmp(((const struct top_thread *)one)->name, ((const struct top_thread *)other)->name)
		       ?: top_threads_by_tid(one, other);
}

static int top_functions_by_name(const void *one, const void *other)
{
	const struct top_function *a = one, *b = other;

	return strcmp(a->function, b->function) ?: strcmp(a->image, b->image);
}

static int top_functions_by_image(const void *one, const void *other)
{
	const struct top_function *a = one, *b = other;

	return strcmp(a->image, b->image) ?: number_order(b->count, a->count) ?: strcmp(a->function, b->function);
}

/* clang-format off */
#define TOP_ORDER(function, row, first, last) \
	static int function(const void *one, const void *other) \
	{ \
		return top_order_by(((const row *)one)->first, ((const row *)other)->first, last(one, other)); \
	}
/* clang-format on */

TOP_ORDER(top_spans_by_count, struct top_span, count, top_spans_by_name)
TOP_ORDER(top_spans_by_p50, struct top_span, p50, top_spans_by_name)
TOP_ORDER(top_spans_by_p99, struct top_span, p99, top_spans_by_name)
TOP_ORDER(top_spans_by_max, struct top_span, max, top_spans_by_name)
TOP_ORDER(top_spans_by_open, struct top_span, open, top_spans_by_name)
TOP_ORDER(top_events_by_count, struct top_event, count, top_events_by_name)
TOP_ORDER(top_functions_by_count, struct top_function, count, top_functions_by_name)
TOP_ORDER(top_threads_by_run, struct top_thread, shares.run, top_threads_by_tid)
TOP_ORDER(top_threads_by_queued, struct top_thread, shares.queued, top_threads_by_tid)
TOP_ORDER(top_threads_by_cpu, struct top_thread, cpu_ns, top_threads_by_tid)

struct top_order {
	const char *name;
	int (*compare)(const void *one, const void *other);
};

static const struct top_order top_span_orders[] = { { "rate", top_spans_by_count },
						    { "p50", top_spans_by_p50 },
						    { "p99", top_spans_by_p99 },
						    { "max", top_spans_by_max },
						    { "open", top_spans_by_open },
						    { "name", top_spans_by_name },
						    { 0 } };
static const struct top_order top_event_orders[] = { { "rate", top_events_by_count },
						     { "name", top_events_by_name },
						     { 0 } };
static const struct top_order top_function_orders[] = { { "CPU", top_functions_by_count },
							{ "name", top_functions_by_name },
							{ "image", top_functions_by_image },
							{ 0 } };
static const struct top_order top_thread_orders[] = {
	{ "CPU", top_threads_by_run },	 { "queued", top_threads_by_queued }, { "time", top_threads_by_cpu },
	{ "name", top_threads_by_name }, { "tid", top_threads_by_tid },	      { 0 }
};
static const struct top_order *const top_orders[TOP_VIEWS] = { [TOP_SPANS] = top_span_orders,
							       [TOP_EVENTS] = top_event_orders,
							       [TOP_FUNCTIONS] = top_function_orders,
							       [TOP_THREADS] = top_thread_orders };

static const struct top_order *top_order_at(enum top_view view, unsigned number)
{
	unsigned count = 0;

	while (top_orders[view][count].name)
		count++;
	return &top_orders[view][number % count];
}

const char *top_order_name(enum top_view view, unsigned number)
{
	return top_orders[view] ? top_order_at(view, number)->name : "";
}

/* ---- rows */

static bool top_wanted(const char *filter, const char *name)
{
	return !*filter || (strpbrk(filter, "*?[") ? glob_match(filter, name) : strstr(name, filter) != NULL);
}

static const char *top_span_text(const void *row)
{
	return ((const struct top_span *)row)->name;
}

static const char *top_event_text(const void *row)
{
	return ((const struct top_event *)row)->name;
}

static const char *top_function_text(const void *row)
{
	return ((const struct top_function *)row)->function;
}

static const char *top_thread_text(const void *row)
{
	return ((const struct top_thread *)row)->name;
}

/* Copy the wanted ones of `count` rows of `size` bytes. Return: NULL: no memory. */
static void *top_copy(const void *rows, size_t *count, size_t size, const char *(*text)(const void *row),
		      const struct top_choice *choice, enum top_view view)
{
	char *copy = malloc((*count + 1) * size);
	size_t kept = 0;

	for (size_t n = 0; copy && n < *count; n++) {
		const char *row = (const char *)rows + n * size;

		if (top_wanted(choice->filter, text(row)))
			memcpy(copy + kept++ * size, row, size);
	}
	*count = copy ? kept : 0;
	if (kept)
		qsort(copy, kept, size, top_order_at(view, choice->order[view])->compare);
	return copy;
}

bool top_choose(const struct top_rows *rows, const struct top_choice *choice, struct top_rows *chosen)
{
	*chosen = *rows;
	chosen->spans = top_copy(rows->spans, &chosen->span_count, sizeof(*rows->spans), top_span_text,
				 choice, TOP_SPANS);
	chosen->events = top_copy(rows->events, &chosen->event_count, sizeof(*rows->events), top_event_text,
				  choice, TOP_EVENTS);
	chosen->functions = top_copy(rows->functions, &chosen->function_count, sizeof(*rows->functions),
				     top_function_text, choice, TOP_FUNCTIONS);
	chosen->threads = top_copy(rows->threads, &chosen->thread_count, sizeof(*rows->threads),
				   top_thread_text, choice, TOP_THREADS);
	return chosen->spans && chosen->events && chosen->functions && chosen->threads;
}

void top_chosen_free(struct top_rows *chosen)
{
	free((void *)chosen->spans);
	free((void *)chosen->events);
	free((void *)chosen->functions);
	free((void *)chosen->threads);
}
