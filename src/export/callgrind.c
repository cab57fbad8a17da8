/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Callgrind's format, for KCachegrind and callgrind_annotate: self costs of functions and costs of calls, by line. A sample
 * counts once for a call, however often the call is in its stack. A function's calls of itself are its self cost.
 * Samples cannot count calls: `calls` is the number of samples with the call in their stacks.
 *
 * A function belongs to the file with most of its cost; lines of other files follow `fi=`. An inlined function is written
 * as a function that its container calls.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "export/export.h"

/* A line; 0, 0: unknown. */
struct position {
	uint32_t file; /* string of the keys */
	uint32_t line;
};

/* The cost of a line of a function (callee 0), or of its call of another function. */
struct cost {
	uint32_t caller, callee;
	struct position position;
	uint64_t samples;
	struct view_cost weight;
	size_t last; /* only in the entry at `everywhere`: the last pair counted, from 1 */
};

struct costs {
	struct view_keys keys;
	struct position *positions; /* of the entries in the keys' lists */
	size_t position_count, position_room;
	struct frame {
		uint32_t key;
		struct position position;
	} * stack;
	struct cost *list; /* by number - 1 */
	size_t count, room;
	struct hash_table numbers;
};

/* Finds or adds an entry; NULL: no memory. */
static struct cost *callgrind_entry(struct costs *costs, uint32_t caller, uint32_t callee,
				    struct position position)
{
	const uint64_t calls = hash_pair(caller, callee),
		       hash = hash_pair(calls, (uint64_t)position.file << 32 | position.line);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&costs->numbers, hash, &at));) {
		struct cost *cost = &costs->list[number - 1];

		if (cost->caller == caller && cost->callee == callee &&
		    cost->position.file == position.file && cost->position.line == position.line)
			return cost;
	}
	if (!array_reserve_max(costs->list, costs->room, costs->count + 1, UINT32_MAX) ||
	    !hash_table_reserve(&costs->numbers))
		return NULL;
	costs->list[costs->count++] =
		(struct cost){ .caller = caller, .callee = callee, .position = position };
	hash_table_add(&costs->numbers, hash, (uint32_t)costs->count);
	return &costs->list[costs->count - 1];
}

/* @number: of the pair, from 1. */
static int callgrind_add(struct costs *costs, const struct frame *caller, uint32_t callee,
			 const struct view_pair *pair, size_t number)
{
	static const struct position everywhere = { UINT32_MAX, 0 };
	struct cost *cost = callgrind_entry(costs, caller->key, callee, everywhere);

	if (!cost)
		return -ENOMEM;
	if (cost->last == number)
		return 0;
	cost->last = number;
	cost = callgrind_entry(costs, caller->key, callee, caller->position);
	if (!cost)
		return -ENOMEM;
	cost->samples += pair->samples;
	view_cost_add(&cost->weight, pair);
	return 0;
}

/* Adds the line of each function at a location that is new in the keys. */
static int add_positions(struct costs *costs, uint32_t location, uint32_t count)
{
	struct burin_frame frame;

	if (!array_reserve(costs->positions, costs->position_room, costs->position_count + count))
		return -ENOMEM;
	for (uint32_t n = 0; n < count; n++) {
		struct position *position = &costs->positions[costs->position_count++];

		*position = (struct position){ 0, 0 };
		if (!burin_profile_frame(costs->keys.profile, location, n, &frame) && frame.file)
			*position = (struct position){ view_string(&costs->keys.strings, frame.file),
						       frame.line };
	}
	return 0;
}

/* Pushes the functions at a location onto the stack, as far as they fit. Return: the new depth; 0: no memory. */
static uint32_t callgrind_push(struct costs *costs, uint32_t location, uint32_t depth)
{
	uint32_t count, first = (uint32_t)(view_keys_of(&costs->keys, location, &count) - costs->keys.lists);

	if (view_keys_failed(&costs->keys) ||
	    (first == costs->position_count && add_positions(costs, location, count)))
		return 0;
	for (uint32_t n = 0; n < count && depth < VIEW_STACK_KEYS_MAX; n++)
		costs->stack[depth++] =
			(struct frame){ costs->keys.lists[first + n], costs->positions[first + n] };
	return depth;
}

static int callgrind_add_pair(struct costs *costs, const struct view_pair *pair, size_t number)
{
	const struct frame *frames = costs->stack;
	struct burin_stack stack = { .location = 0 };
	uint32_t depth = 0;
	int result;

	burin_profile_stack(costs->keys.profile, pair->stack, &stack);
	do {
		depth = callgrind_push(costs, stack.location, depth);
		if (!depth)
			return -ENOMEM;
	} while (!burin_profile_stack(costs->keys.profile, stack.caller, &stack));
	result = callgrind_add(costs, &frames[0], 0, pair, number);
	for (uint32_t at = 1; at < depth && !result; at++)
		if (frames[at].key != frames[at - 1].key)
			result = callgrind_add(costs, &frames[at], frames[at - 1].key, pair, number);
	return result;
}

static int callgrind_by_caller(const void *a, const void *b)
{
	const struct cost *one = a, *other = b;

	return number_order(one->caller, other->caller) ?:
	       number_order(one->position.file, other->position.file) ?:
	       number_order(one->callee, other->callee) ?:
	       number_order(one->position.line, other->position.line);
}

/* Computes all costs, and sorts those that are not 0. */
static int callgrind_collect(const struct view_profile *counted, struct costs *costs)
{
	size_t count = 0;
	int result = 0;

	for (size_t n = 0; n < counted->pair_count && !result; n++)
		result = callgrind_add_pair(costs, &counted->pairs[n], n + 1);
	for (size_t n = 0; n < costs->count; n++)
		if (costs->list[n].samples)
			costs->list[count++] = costs->list[n];
	costs->count = count;
	if (count)
		qsort(costs->list, count, sizeof(*costs->list), callgrind_by_caller);
	return result;
}

/* The file of each function, by key: the one with most of its cost; 0: unknown. */
static uint32_t *files_of(const struct costs *costs)
{
	uint32_t *files = calloc((size_t)costs->keys.count + 1, sizeof(*files));
	uint64_t most = 0;

	for (size_t n = 0, end; files && n < costs->count; n = end) {
		const struct cost *first = &costs->list[n];
		uint64_t sum = 0;

		for (end = n; end < costs->count && costs->list[end].caller == first->caller &&
			      costs->list[end].position.file == first->position.file;
		     end++)
			sum += costs->list[end].weight.all;
		if (!n || first->caller != first[-1].caller)
			most = 0;
		if (first->position.file && (sum > most || !files[first->caller])) {
			files[first->caller] = first->position.file;
			most = sum;
		}
	}
	return files;
}

static void callgrind_put_text(const struct costs *costs, const char *prefix, uint32_t string,
			       struct view_buffer *out)
{
	const char *text = string ? costs->keys.strings.texts[string] : "???";
	/* "(12)" at the beginning would refer to an earlier name. */
	const bool number = text[0] == '(' && text[1] >= '0' && text[1] <= '9';

	view_buffer_print(out, "%s=%s%s\n", prefix, number ? "_" : "", text);
}

/* A function's file, image and name, each with its prefix. */
static void put_function(const struct costs *costs, const char *const prefixes[3], uint32_t key,
			 uint32_t file, struct view_buffer *out)
{
	const uint32_t *parts = costs->keys.keys[key].parts;

	callgrind_put_text(costs, prefixes[0], file, out);
	callgrind_put_text(costs, prefixes[1], parts[VIEW_IMAGE], out);
	callgrind_put_text(costs, prefixes[2], parts[VIEW_SYMBOL], out);
}

/* A line number, and a cost for each event. */
static void put_cost(const struct view_profile *counted, const struct cost *cost, struct view_buffer *out)
{
	const struct view_cost *weight = &cost->weight;

	view_buffer_print(out, "%u ", cost->position.line);
	if (view_profile_mixed(counted))
		view_buffer_print(out, "%" PRIu64 " %" PRIu64 "\n", weight->all - weight->waited,
				  weight->waited);
	else
		view_buffer_print(out, "%" PRIu64 "\n", weight->all);
}

static void callgrind_put_events(const struct view_profile *counted, struct view_buffer *out)
{
	const struct view_counted *of = counted->of;

	view_buffer_print(out, "\npositions: line\n");
	if (view_profile_mixed(counted))
		view_buffer_print(out, "events: running_ns waiting_ns\nsummary: %" PRIu64 " %" PRIu64 "\n",
				  of[VIEW_RUNNING].weight, of[VIEW_WAITING].weight);
	else
		view_buffer_print(out, "events: %s\nsummary: %" PRIu64 "\n",
				  strcmp(counted->unit, "ns") ? "events" : "ns", counted->weight);
}

static void put_costs(const struct view_profile *counted, const struct costs *costs, const uint32_t *files,
		      struct view_buffer *out)
{
	static const char *const function[] = { "fl", "ob", "fn" }, *const call[] = { "cfi", "cob", "cfn" };
	uint32_t caller = 0, at = 0;

	for (size_t n = 0; n < costs->count; n++) {
		const struct cost *cost = &costs->list[n];
		uint32_t own = files[cost->caller], file = cost->position.file ? cost->position.file : own;

		if (cost->caller != caller) {
			view_buffer_print(out, "\n");
			put_function(costs, function, cost->caller, own, out);
			at = own;
		}
		caller = cost->caller;
		if (file != at)
			callgrind_put_text(costs, file == own ? "fe" : "fi", file, out);
		at = file;
		if (cost->callee) {
			put_function(costs, call, cost->callee, files[cost->callee], out);
			view_buffer_print(out, "calls=%" PRIu64 " 0\n", cost->samples);
		}
		put_cost(counted, cost, out);
	}
}

int export_callgrind(const struct view_profile *counted, struct export_output *output)
{
	struct view_buffer *out = &output->buffer;
	struct costs costs = { .count = 0 };
	uint32_t *files = NULL;
	int result = view_keys_make(&costs.keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, false);

	costs.stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*costs.stack));
	if (!result)
		result = costs.stack ? callgrind_collect(counted, &costs) : -ENOMEM;
	if (!result) {
		files = files_of(&costs);
		result = files && !view_keys_failed(&costs.keys) ? 0 : -ENOMEM;
	}
	view_buffer_print(out, "# callgrind format\nversion: 1\ncreator: burin\ncmd: %s",
			  burin_trace_recording(counted->trace, "command") ?: "");
	callgrind_put_events(counted, out);
	if (!result)
		put_costs(counted, &costs, files, out);
	free(files);
	free(costs.list);
	hash_table_free(&costs.numbers);
	free(costs.stack);
	free(costs.positions);
	view_keys_free(&costs.keys);
	return result ? result : out->failed ? -ENOMEM : 0;
}
