/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Callgrind's format, for KCachegrind and callgrind_annotate: each function's own cost, and that of each call, by line. A
 * sample counts once for a call, however often the call is in its stack; a function's calls of itself are its own cost.
 * Samples do not tell how often something was called: `calls` is the number of samples that saw it.
 *
 * A function is in the file that most of its cost is in; lines of others stand behind `fi=`. A function that is inlined
 * is a function like others here, which the one that has it calls.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/export.h"

/* A line; 0, 0: unknown. */
struct spot {
	uint32_t file; /* string of the keys */
	uint32_t line;
};

/* What a line of a function (callee 0), or its call of another, costs. */
struct cost {
	uint32_t caller, callee;
	struct spot spot;
	uint64_t samples;
	struct view_cost weight;
	size_t last; /* of a call, its first line: pair that was counted last, from 1 */
};

struct costs {
	struct view_keys keys;
	struct spot *spots; /* of the keys' lists, one by one */
	size_t spot_count, spot_room;
	struct frame {
		uint32_t key;
		struct spot spot;
	} * stack;
	struct cost *list; /* open addressing */
	size_t used, room;
};

static struct cost *find(const struct costs *costs, uint32_t caller, uint32_t callee, struct spot spot)
{
	uint64_t hash = ((uint64_t)caller << 32 | callee) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at;

	hash = (hash ^ ((uint64_t)spot.file << 32 | spot.line)) * UINT64_C(0xd6e8feb86659fd93);
	for (at = (hash ^ hash >> 32) & (costs->room - 1);; at = (at + 1) & (costs->room - 1)) {
		struct cost *cost = &costs->list[at];

		if (!cost->caller || (cost->caller == caller && cost->callee == callee &&
				      cost->spot.file == spot.file && cost->spot.line == spot.line))
			return cost;
	}
}

static int grow(struct costs *costs)
{
	size_t room = costs->room ? 2 * costs->room : 1024, before = costs->room;
	struct cost *list = costs->list;

	costs->list = calloc(room, sizeof(*list));
	if (!costs->list) {
		costs->list = list;
		return -ENOMEM;
	}
	costs->room = room;
	for (size_t n = 0; n < before; n++) {
		if (list[n].caller)
			*find(costs, list[n].caller, list[n].callee, list[n].spot) = list[n];
	}
	free(list);
	return 0;
}

/* The entry of a line, new or known; NULL: no memory. */
static struct cost *entry(struct costs *costs, uint32_t caller, uint32_t callee, struct spot spot)
{
	struct cost *cost;

	if (2 * costs->used >= costs->room && grow(costs))
		return NULL;
	cost = find(costs, caller, callee, spot);
	if (!cost->caller) {
		costs->used++;
		*cost = (struct cost){ .caller = caller, .callee = callee, .spot = spot };
	}
	return cost;
}

/* `number` is that of the pair, from 1. */
static int add(struct costs *costs, const struct frame *caller, uint32_t callee, const struct view_pair *pair,
	       size_t number)
{
	static const struct spot everywhere = { UINT32_MAX, 0 };
	struct cost *cost = entry(costs, caller->key, callee, everywhere);

	if (!cost)
		return -ENOMEM;
	if (cost->last == number)
		return 0;
	cost->last = number;
	cost = entry(costs, caller->key, callee, caller->spot);
	if (!cost)
		return -ENOMEM;
	cost->samples += pair->samples;
	view_cost_add(&cost->weight, pair);
	return 0;
}

/* The line of each function at a place that is new among the keys. */
static int add_spots(struct costs *costs, uint32_t place, uint32_t count)
{
	struct burin_frame frame;

	if (costs->spot_count + count > costs->spot_room) {
		size_t room = 2 * (costs->spot_count + count);
		struct spot *spots = reallocarray(costs->spots, room, sizeof(*spots));

		if (!spots)
			return -ENOMEM;
		costs->spots = spots;
		costs->spot_room = room;
	}
	for (uint32_t n = 0; n < count; n++) {
		struct spot *spot = &costs->spots[costs->spot_count++];

		*spot = (struct spot){ 0, 0 };
		if (!burin_profile_frame(costs->keys.profile, place, n, &frame) && frame.file)
			*spot = (struct spot){ view_string(&costs->keys.strings, frame.file), frame.line };
	}
	return 0;
}

/* Puts the functions at a place on the stack, of which `depth` are there; as many as fit. Return: how many are there
 * then; 0: no memory. */
static uint32_t push(struct costs *costs, uint32_t place, uint32_t depth)
{
	uint32_t count, first = (uint32_t)(view_keys_of(&costs->keys, place, &count) - costs->keys.lists);

	if (costs->keys.failed || (first == costs->spot_count && add_spots(costs, place, count)))
		return 0;
	for (uint32_t n = 0; n < count && depth < VIEW_STACK_KEYS_MAX; n++)
		costs->stack[depth++] =
			(struct frame){ costs->keys.lists[first + n], costs->spots[first + n] };
	return depth;
}

static int add_pair(struct costs *costs, const struct view_pair *pair, size_t number)
{
	const struct frame *frames = costs->stack;
	struct burin_stack stack = { .place = 0 };
	uint32_t depth = 0;
	int result;

	burin_profile_stack(costs->keys.profile, pair->stack, &stack);
	do {
		depth = push(costs, stack.place, depth);
		if (!depth)
			return -ENOMEM;
	} while (!burin_profile_stack(costs->keys.profile, stack.caller, &stack));
	result = add(costs, &frames[0], 0, pair, number);
	for (uint32_t at = 1; at < depth && !result; at++) {
		if (frames[at].key != frames[at - 1].key)
			result = add(costs, &frames[at], frames[at - 1].key, pair, number);
	}
	return result;
}

static int by_caller(const void *a, const void *b)
{
	const struct cost *one = a, *other = b;
	const uint32_t keys[][2] = { { one->caller, other->caller },
				     { one->spot.file, other->spot.file },
				     { one->callee, other->callee },
				     { one->spot.line, other->spot.line } };

	for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++) {
		if (keys[n][0] != keys[n][1])
			return keys[n][0] < keys[n][1] ? -1 : 1;
	}
	return 0;
}

/* Everything that costs something, in order. */
static int collect(const struct view_profile *counted, struct costs *costs)
{
	size_t count = 0;
	int result = 0;

	for (size_t n = 0; n < counted->pair_count && !result; n++)
		result = add_pair(costs, &counted->pairs[n], n + 1);
	for (size_t n = 0; n < costs->room; n++) {
		if (costs->list[n].samples)
			costs->list[count++] = costs->list[n];
	}
	costs->used = count;
	if (count)
		qsort(costs->list, count, sizeof(*costs->list), by_caller);
	return result;
}

/* The files of the functions, by key: where most of a function's cost is; 0: unknown. */
static uint32_t *files_of(const struct costs *costs)
{
	uint32_t *files = calloc((size_t)costs->keys.count + 1, sizeof(*files));
	uint64_t most = 0;

	for (size_t n = 0, end; files && n < costs->used; n = end) {
		const struct cost *first = &costs->list[n];
		uint64_t sum = 0;

		for (end = n; end < costs->used && costs->list[end].caller == first->caller &&
			      costs->list[end].spot.file == first->spot.file;
		     end++)
			sum += costs->list[end].weight.all;
		if (!n || first->caller != first[-1].caller)
			most = 0;
		if (first->spot.file && (sum > most || !files[first->caller])) {
			files[first->caller] = first->spot.file;
			most = sum;
		}
	}
	return files;
}

static void put_text(const struct costs *costs, const char *prefix, uint32_t string, struct view_buffer *out)
{
	view_buffer_print(out, "%s=", prefix);
	view_buffer_escape(out, string ? costs->keys.strings.texts[string] : "???");
	view_buffer_print(out, "\n");
}

/* Its file, image and name; `prefixes` are what they stand behind. */
static void put_function(const struct costs *costs, const char *const prefixes[3], uint32_t key,
			 uint32_t file, struct view_buffer *out)
{
	const uint32_t *parts = costs->keys.keys[key].parts;

	put_text(costs, prefixes[0], file, out);
	put_text(costs, prefixes[1], parts[VIEW_IMAGE], out);
	put_text(costs, prefixes[2], parts[VIEW_SYMBOL], out);
}

/* A line, and a number for each event. */
static void put_cost(const struct view_profile *counted, const struct cost *cost, struct view_buffer *out)
{
	const struct view_cost *weight = &cost->weight;

	view_buffer_print(out, "%u ", cost->spot.line);
	if (view_profile_mixed(counted))
		view_buffer_print(out, "%" PRIu64 " %" PRIu64 "\n", weight->all - weight->waited,
				  weight->waited);
	else
		view_buffer_print(out, "%" PRIu64 "\n", weight->all);
}

static void put_events(const struct view_profile *counted, struct view_buffer *out)
{
	const struct view_counted *of = counted->of;

	view_buffer_print(out, "\npositions: line\n");
	if (view_profile_mixed(counted))
		view_buffer_print(out, "events: running_ns waiting_ns\nsummary: %" PRIu64 " %" PRIu64 "\n",
				  of[VIEW_RUNNING].weight, of[VIEW_WAITING].weight);
	else
		view_buffer_print(out, "events: %s\nsummary: %" PRIu64 "\n", counted->unit, counted->weight);
}

static void put_costs(const struct view_profile *counted, const struct costs *costs, const uint32_t *files,
		      struct view_buffer *out)
{
	static const char *const function[] = { "fl", "ob", "fn" }, *const call[] = { "cfi", "cob", "cfn" };
	uint32_t caller = 0, at = 0;

	for (size_t n = 0; n < costs->used; n++) {
		const struct cost *cost = &costs->list[n];
		uint32_t own = files[cost->caller], file = cost->spot.file ? cost->spot.file : own;

		if (cost->caller != caller) {
			view_buffer_print(out, "\n");
			put_function(costs, function, cost->caller, own, out);
			at = own;
		}
		caller = cost->caller;
		if (file != at)
			put_text(costs, file == own ? "fe" : "fi", file, out);
		at = file;
		if (cost->callee) {
			put_function(costs, call, cost->callee, files[cost->callee], out);
			view_buffer_print(out, "calls=%" PRIu64 " 0\n", cost->samples);
		}
		put_cost(counted, cost, out);
	}
}

int export_callgrind(const struct view_profile *counted, struct view_buffer *out, int file)
{
	struct costs costs = { .used = 0 };
	uint32_t *files = NULL;
	int result = view_keys_make(&costs.keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE);

	(void)file;
	costs.stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*costs.stack));
	if (!result)
		result = costs.stack ? collect(counted, &costs) : -ENOMEM;
	if (!result) {
		files = files_of(&costs);
		result = files ? 0 : -ENOMEM;
	}
	view_buffer_print(out, "# callgrind format\nversion: 1\ncreator: burin\ncmd: ");
	view_buffer_escape(out, burin_trace_recording(counted->trace, "command") ?: "");
	put_events(counted, out);
	if (!result)
		put_costs(counted, &costs, files, out);
	free(files);
	free(costs.list);
	free(costs.stack);
	free(costs.spots);
	view_keys_free(&costs.keys);
	return result ? result : out->failed ? -ENOMEM : 0;
}
