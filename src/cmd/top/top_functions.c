/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that run; see top_functions.h.
 *
 * Samples are counted by place, which is an offset in an image. Names are looked up once for each place, when a screen shows it. Places of
 * one function are then one row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "cmd/top/top_functions.h"
#include "session/clock.h"

enum {
	TOP_FUNCTIONS_HZ = 199,		 /* of each CPU; not in step with timers of programs */
	TOP_FUNCTIONS_ROUND = 100000000, /* ns between two readings of the rings, at least */
	TOP_FUNCTIONS_STACKS = 1 << 16,	 /* nodes of stacks that are kept from one screen to the next */
};

static const char top_functions_unknown[] = "[unknown]";

/* A sample, of the sampler. */
static void top_functions_take(void *data, const struct attributed *context)
{
	struct top_functions *functions = data;
	const struct stacks_node *node = &functions->sampler.stacks.nodes[context->stack - 1];
	const uint32_t place = node->image ? top_names_find(&functions->names, node->image, node->offset) : 0;

	functions->taken++;
	if (place && array_reserve_zeroed(functions->counts, functions->count_room, place))
		functions->counts[place - 1]++;
	else
		functions->unknown++;
}

void top_functions_begin(struct top_functions *functions, const uint64_t *processes, size_t count)
{
	const struct perf_options options = { .event = "cpu-clock",
					      .frequency = TOP_FUNCTIONS_HZ,
					      .system = !processes,
					      .processes = processes,
					      .process_count = count };
	char why[sizeof(functions->why) - 32] = "";
	int error;

	functions->names.whole = true;
	functions->since = functions->covered = functions->read = functions->round =
		clock_ns(CLOCK_MONOTONIC);
	error = sampler_open_live(&functions->sampler, &options, top_functions_take, functions, why,
				  sizeof(why));
	functions->open = !error;
	if (!error)
		error = sampler_begin(&functions->sampler, -1);
	if (error && !*why)
		snprintf(why, sizeof(why), "%s", strerror(-error));
	if (error)
		snprintf(functions->why, sizeof(functions->why), "no functions: %s", why);
	else if (!functions->sampler.perf.kernel)
		snprintf(functions->why, sizeof(functions->why),
			 "functions: those of the kernel are not permitted");
	if (error)
		top_functions_end(functions);
}

void top_functions_round(struct top_functions *functions)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	unsigned fullest = 0;

	if (!functions->open || now - functions->round < TOP_FUNCTIONS_ROUND)
		return;
	functions->covered = functions->read;
	functions->read = functions->round;
	functions->round = now;
	sampler_round(&functions->sampler, &fullest);
}

/* Add the samples of a place to the row of its function. @function: NULL: unknown. Return: false: no memory. */
static bool top_functions_add(struct top_functions *functions, const char *function, const char *image,
			      uint64_t count)
{
	uint64_t hash;
	uint32_t number;

	function = function ? function : top_functions_unknown;
	image = image && *image ? image : top_functions_unknown;
	hash = hash_pair(hash_text(function), hash_text(image));
	for (size_t at = 0; (number = hash_table_next(&functions->row_numbers, hash, &at));) {
		struct top_function *row = &functions->rows[number - 1];

		if (strcmp(row->function, function) == 0 && strcmp(row->image, image) == 0) {
			row->count += count;
			return true;
		}
	}
	function = arena_keep(&functions->texts, function, strlen(function));
	image = arena_keep(&functions->texts, image, strlen(image));
	if (!function || !image ||
	    !array_reserve(functions->rows, functions->row_room, functions->row_count + 1) ||
	    !hash_table_reserve(&functions->row_numbers))
		return false;
	functions->rows[functions->row_count++] =
		(struct top_function){ .count = count, .function = function, .image = image };
	hash_table_add(&functions->row_numbers, hash, (uint32_t)functions->row_count);
	return true;
}

static int top_functions_compare(const void *one, const void *other)
{
	const struct top_function *a = one, *b = other;

	return number_order(b->count, a->count) ?: strcmp(a->function, b->function)
			       ?: strcmp(a->image, b->image);
}

/* Return: samples without a row, for lack of memory. */
static uint64_t top_functions_make(struct top_functions *functions, uint64_t interval)
{
	const uint64_t period = perf_weight(&functions->sampler.perf);
	const size_t places = functions->names.count < functions->count_room ? functions->names.count
									     : functions->count_room;
	uint64_t left = 0;

	functions->row_count = 0;
	hash_table_clear(&functions->row_numbers);
	arena_free(&functions->texts);
	functions->texts = (struct arena){ .chunks = NULL };
	top_names_look_up(&functions->names, &functions->sampler.images);
	for (size_t n = 0; n < places; n++) {
		const struct top_location *at = &functions->names.all[n];

		if (functions->counts[n] &&
		    !top_functions_add(functions, at->count ? at->frames[0].function : NULL, at->program,
				       functions->counts[n]))
			left += functions->counts[n];
		functions->counts[n] = 0;
	}
	if (functions->unknown && !top_functions_add(functions, NULL, NULL, functions->unknown))
		left += functions->unknown;
	for (size_t n = 0; n < functions->row_count; n++) {
		functions->rows[n].run = functions->rows[n].count * period;
		functions->rows[n].whole = interval;
	}
	if (functions->row_count)
		qsort(functions->rows, functions->row_count, sizeof(*functions->rows), top_functions_compare);
	return left;
}

void top_functions_rows(struct top_functions *functions, struct top_rows *rows)
{
	uint64_t lost, left;

	rows->function_note = functions->why;
	if (!functions->open)
		return;
	lost = sampler_lost(&functions->sampler);
	left = top_functions_make(functions, functions->covered - functions->since);
	rows->sampling = true;
	rows->samples = functions->taken;
	rows->samples_lost = lost - functions->lost + left;
	rows->functions = functions->rows;
	rows->function_count = functions->row_count;
	functions->taken = functions->unknown = 0;
	functions->lost = lost;
	functions->since = functions->covered;
	top_names_begin(&functions->names);
	if (functions->sampler.stacks.count > TOP_FUNCTIONS_STACKS)
		sampler_forget(&functions->sampler);
}

void top_functions_end(struct top_functions *functions)
{
	if (functions->open)
		sampler_close(&functions->sampler);
	functions->open = false;
	top_names_free(&functions->names);
	hash_table_free(&functions->row_numbers);
	arena_free(&functions->texts);
	functions->texts = (struct arena){ .chunks = NULL };
	free(functions->counts);
	free(functions->rows);
	functions->counts = NULL;
	functions->rows = NULL;
	functions->count_room = functions->row_room = functions->row_count = 0;
}
