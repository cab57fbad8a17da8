/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Callgrind's format, for KCachegrind and callgrind_annotate: each function's own cost, and that of each call. A
 * sample counts once for a call, however often the call is in its stack; a function's calls of itself are its own cost. Samples do not tell how often something was
 * called: `calls` is the number of samples that saw it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/export.h"

/* What a function (callee 0), or a function's call of another, costs. */
struct cost {
	uint32_t caller, callee;
	uint64_t samples;
	struct view_cost weight;
	size_t last; /* pair that was counted last, from 1 */
};

struct costs {
	struct cost *list; /* open addressing */
	size_t used, room;
};

static struct cost *find(const struct costs *costs, uint32_t caller, uint32_t callee)
{
	uint64_t hash = ((uint64_t)caller << 32 | callee) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (hash ^ hash >> 32) & (costs->room - 1);

	while (costs->list[at].caller &&
	       (costs->list[at].caller != caller || costs->list[at].callee != callee))
		at = (at + 1) & (costs->room - 1);
	return &costs->list[at];
}

static int grow(struct costs *costs)
{
	struct costs grown = { .used = costs->used, .room = costs->room ? 2 * costs->room : 1024 };

	grown.list = calloc(grown.room, sizeof(*grown.list));
	if (!grown.list)
		return -ENOMEM;
	for (size_t n = 0; n < costs->room; n++) {
		if (costs->list[n].caller)
			*find(&grown, costs->list[n].caller, costs->list[n].callee) = costs->list[n];
	}
	free(costs->list);
	*costs = grown;
	return 0;
}

static int add(struct costs *costs, uint32_t caller, uint32_t callee, const struct view_pair *pair,
	       size_t number)
{
	struct cost *cost;

	if (2 * costs->used >= costs->room && grow(costs))
		return -ENOMEM;
	cost = find(costs, caller, callee);
	if (!cost->caller)
		costs->used++;
	cost->caller = caller;
	cost->callee = callee;
	if (cost->last != number) {
		cost->samples += pair->samples;
		view_cost_add(&cost->weight, pair);
	}
	cost->last = number;
	return 0;
}

static int by_caller(const void *a, const void *b)
{
	const struct cost *one = a, *other = b;

	if (one->caller != other->caller)
		return one->caller < other->caller ? -1 : 1;
	return (one->callee > other->callee) - (one->callee < other->callee);
}

static int collect(const struct view_profile *counted, struct view_keys *keys, struct costs *costs)
{
	uint32_t *stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*stack));
	int result = stack ? 0 : -ENOMEM;

	for (size_t n = 0; n < counted->pair_count && !result; n++) {
		uint32_t count = view_keys_of_stack(keys, counted->pairs[n].stack, stack);

		if (!count || keys->failed)
			result = -ENOMEM;
		else
			result = add(costs, stack[0], 0, &counted->pairs[n], n + 1);
		for (uint32_t at = 1; at < count && !result; at++)
			result = stack[at] == stack[at - 1]
					 ? 0
					 : add(costs, stack[at], stack[at - 1], &counted->pairs[n], n + 1);
	}
	free(stack);
	return result;
}

static void put_function(const struct view_keys *keys, const char *prefix, uint32_t key,
			 struct view_buffer *out)
{
	view_buffer_print(out, "%sob=", prefix);
	view_buffer_escape(out, view_key_text(keys, key, VIEW_IMAGE));
	view_buffer_print(out, "\n%sfn=", prefix);
	view_buffer_escape(out, view_key_text(keys, key, VIEW_SYMBOL));
	view_buffer_print(out, "\n");
}

/* A position that says nothing, and a number for each event. */
static void put_cost(const struct view_profile *counted, const struct view_cost *cost,
		     struct view_buffer *out)
{
	if (view_profile_mixed(counted))
		view_buffer_print(out, "0 %" PRIu64 " %" PRIu64 "\n", cost->all - cost->waited, cost->waited);
	else
		view_buffer_print(out, "0 %" PRIu64 "\n", cost->all);
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

int export_callgrind(const struct view_profile *counted, struct view_buffer *out, int file)
{
	struct costs costs = { .used = 0 };
	struct view_keys keys;
	uint32_t caller = 0;
	size_t count = 0;
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE);

	(void)file;
	if (!result)
		result = collect(counted, &keys, &costs);
	for (size_t n = 0; n < costs.room; n++) {
		if (costs.list[n].caller)
			costs.list[count++] = costs.list[n];
	}
	if (count)
		qsort(costs.list, count, sizeof(*costs.list), by_caller);
	view_buffer_print(out, "# callgrind format\nversion: 1\ncreator: burin\ncmd: ");
	view_buffer_escape(out, burin_trace_recording(counted->trace, "command") ?: "");
	put_events(counted, out);
	for (size_t n = 0; n < count && !result; n++) {
		const struct cost *cost = &costs.list[n];

		if (cost->caller != caller) {
			view_buffer_print(out, "\nfl=???\n");
			put_function(&keys, "", cost->caller, out);
		}
		caller = cost->caller;
		if (cost->callee) {
			put_function(&keys, "c", cost->callee, out);
			view_buffer_print(out, "calls=%" PRIu64 " 0\n", cost->samples);
		}
		put_cost(counted, &cost->weight, out);
	}
	free(costs.list);
	view_keys_free(&keys);
	return result ? result : out->failed ? -ENOMEM : 0;
}
