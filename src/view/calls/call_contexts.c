/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calling contexts; see call_contexts.h.
 *
 * Calls come from the last to the first, callers before callees (call_walk.h). So when a call is entered, the node of
 * its caller exists and is in the frame below (frame.user), and one look-up by (caller's node, key) finds its own.
 * Self time is known when a call is left: then all its callees have been visited.
 *
 * Total and self must add up, also at the limits. A call without a node (`folded`) takes its time out of its caller's
 * `callees` again, so it counts as self time of the caller. All calls within it have no node, either, and do the
 * same: so a folded tree is self time of the last node above it.
 *
 * Recursion. A key can be several times on the path to a node. Sums by key take the outermost one only (edges:
 * `open`), since it has the time of those within. The walk of visit_node() enters and leaves nodes in order, so
 * `open` is 0 again at its end.
 *
 * Nodes are numbered as they are made, so a caller's number is lower than those of its callees.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "read/profile/profile_parts.h"
#include "view/calls/call_contexts.h"
#include "view/calls/call_threads.h"
#include "view/calls/call_walk.h"
#include "view/symbol_label.h"

struct merger {
	struct call_contexts *contexts;
	struct call_threads threads;
	uint32_t *keys; /* by function */
	int result;
};

/* ---- Calls to nodes */

/* The node of a function below another; 0: there is none, and no room for it. */
static uint32_t call_contexts_find_node(struct merger *merger, uint32_t caller, uint32_t function)
{
	struct call_contexts *contexts = merger->contexts;
	const uint32_t key = merger->keys[function], depth = contexts->nodes[caller].depth + 1;
	const uint64_t hash = hash_pair(caller, key);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&contexts->numbers, hash, &at));)
		if (contexts->nodes[number].caller == caller && contexts->nodes[number].key == key)
			return number;
	if (depth > CALL_CONTEXT_DEPTH || contexts->count == CALL_CONTEXTS_MAX)
		return 0;
	if (!array_reserve(contexts->nodes, contexts->room, (size_t)contexts->count + 1) ||
	    !hash_table_reserve(&contexts->numbers)) {
		merger->result = -ENOMEM;
		return 0;
	}
	number = contexts->count++;
	contexts->nodes[number] =
		(struct call_context){ .caller = caller, .key = key, .function = function, .depth = depth };
	hash_table_add(&contexts->numbers, hash, number);
	return number;
}

static int call_contexts_enter_call(void *data, struct call_walk_stack *stack)
{
	struct merger *merger = data;
	struct call_contexts *contexts = merger->contexts;
	struct call_frame *frame = &stack->frames[stack->count - 1];
	const uint32_t caller = stack->count > 1 ? (uint32_t)frame[-1].user : 0;
	/* Between a call without a node and its callees there is no node either. */
	uint32_t node =
		stack->count > 1 && !caller ? 0 : call_contexts_find_node(merger, caller, frame->function);

	contexts->call_count++;
	contexts->open += frame->open;
	if (stack->count == 1)
		contexts->time += frame->end - frame->begin;
	frame->user = node;
	if (!node) {
		contexts->folded++;
		if (stack->count > 1) /* its time is that of its caller itself */
			frame[-1].callees -= frame->end - frame->begin;
		return merger->result;
	}
	contexts->nodes[node].calls++;
	contexts->nodes[node].total += frame->end - frame->begin;
	return 0;
}

static void call_contexts_leave_call(void *data, struct call_walk_stack *stack)
{
	const struct merger *merger = data;
	const struct call_frame *frame = &stack->frames[stack->count - 1];

	if (frame->user)
		merger->contexts->nodes[frame->user].self += call_walk_self(frame);
}

/* The thread of a stack at the time of its last call. */
static bool call_contexts_select_call(void *data, struct call_walk_stack *stack, uint64_t end)
{
	struct merger *merger = data;
	struct call_thread_span *thread = stack->user;

	if (__builtin_expect(!thread, 0)) {
		thread = stack->user = calloc(1, sizeof(*thread));
		if (!thread) {
			merger->result = -ENOMEM;
			return true;
		}
	}
	if (__builtin_expect(!call_threads_has(thread, stack->tid, end), 0)) {
		const int error = call_threads_find(&merger->threads, stack->tid, end, thread);

		if (error)
			merger->result = error;
	}
	return thread->selected;
}

static int call_contexts_find_keys(struct merger *merger)
{
	struct call_contexts *contexts = merger->contexts;
	const uint32_t count = burin_calls_functions(contexts->calls);

	merger->keys = calloc((size_t)count + 1, sizeof(*merger->keys));
	if (!merger->keys)
		return -ENOMEM;
	for (uint32_t n = 0; n <= count; n++) {
		struct burin_stack stack = { .location = 0 };
		uint32_t keys;

		burin_profile_stack(burin_calls_profile(contexts->calls), n, &stack);
		merger->keys[n] = *view_keys_of(&contexts->keys, stack.location, &keys);
	}
	return view_keys_failed(&contexts->keys) ? -ENOMEM : 0;
}

/* ---- Siblings in order */

struct sibling {
	uint32_t node, caller;
	uint64_t total;
};

static int call_contexts_by_caller(const void *a, const void *b)
{
	const struct sibling *one = a, *other = b;

	return number_order(one->caller, other->caller) ?:
	       number_order(one->total, other->total) ?:
	       number_order(other->node, one->node);
}

static int link_nodes(struct call_contexts *contexts)
{
	struct sibling *siblings = calloc(contexts->count, sizeof(*siblings));

	if (!siblings)
		return -ENOMEM;
	for (uint32_t n = 1; n < contexts->count; n++)
		siblings[n] = (struct sibling){ n, contexts->nodes[n].caller, contexts->nodes[n].total };
	qsort(siblings + 1, contexts->count - 1, sizeof(*siblings), call_contexts_by_caller);
	for (uint32_t n = 1; n < contexts->count; n++) {
		struct call_context *caller = &contexts->nodes[siblings[n].caller];

		contexts->nodes[siblings[n].node].next = caller->child;
		caller->child = siblings[n].node;
	}
	free(siblings);
	return 0;
}

static int call_contexts_merge(struct merger *merger, const struct view_profile_filter *filter,
			       unsigned threads)
{
	struct call_contexts *contexts = merger->contexts;
	const struct call_visitor visitor = { .select = call_contexts_select_call,
					      .enter = call_contexts_enter_call,
					      .leave = call_contexts_leave_call,
					      .free_stack = free,
					      .data = merger };
	struct call_walk_options options = {
		.from = filter->from, .to = filter->to, .threads = threads, .tids = &contexts->threads
	};
	struct view_where *where = NULL;
	int result = call_contexts_find_keys(merger);

	if (!result && !array_reserve_zeroed(contexts->nodes, contexts->room, 1))
		result = -ENOMEM;
	contexts->count = 1;
	if (!result)
		result = call_where_make(&where, contexts->trace, contexts->calls, &filter->where);
	options.where = where;
	if (!result)
		result = call_walk(contexts->trace, contexts->calls, &options, &visitor);
	view_where_free(where);
	if (!result)
		result = merger->result;
	return result ? result : link_nodes(contexts);
}

int call_contexts_make(struct call_contexts *contexts, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, unsigned threads)
{
	struct merger merger = { .contexts = contexts };
	int result;

	*contexts = (struct call_contexts){ .trace = trace };
	result = burin_calls_open(&contexts->calls, trace);
	if (result)
		return result;
	result = read_calls_only_counted(contexts->calls);
	if (result) {
		burin_calls_close(contexts->calls);
		return result > 0 ? -ENODATA : result;
	}
	result = view_keys_make(&contexts->keys, burin_calls_profile(contexts->calls),
				1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, true);
	call_threads_init(&merger.threads, trace, filter, &contexts->keys.strings, 0);
	if (!result)
		result = call_contexts_merge(&merger, filter, threads);
	call_threads_free(&merger.threads);
	free(merger.keys);
	if (result)
		call_contexts_free(contexts);
	return result;
}

void call_contexts_free(struct call_contexts *contexts)
{
	if (contexts->calls)
		view_keys_free(&contexts->keys);
	burin_calls_close(contexts->calls);
	free(contexts->nodes);
	hash_table_free(&contexts->numbers);
	*contexts = (struct call_contexts){ .nodes = NULL };
}

uint64_t *call_contexts_by_function(const struct call_contexts *contexts)
{
	uint64_t *calls = calloc((size_t)burin_calls_functions(contexts->calls) + 1, sizeof(*calls));

	for (uint32_t n = 1; calls && n < contexts->count; n++)
		calls[contexts->nodes[n].function] += contexts->nodes[n].calls;
	return calls;
}

/* ---- Callers and callees */

/* Sums by key, and how often each is on the path to the present node. */
struct edges {
	struct call_edge *sums; /* by key */
	uint32_t *open;
};

static bool edges_new(struct edges *edges, uint32_t keys)
{
	edges->sums = calloc((size_t)keys + 1, sizeof(*edges->sums));
	edges->open = calloc((size_t)keys + 1, sizeof(*edges->open));
	return edges->sums && edges->open;
}

static void edges_free(struct edges *edges)
{
	free(edges->sums);
	free(edges->open);
}

static void edge_enter(struct edges *edges, uint32_t key, const struct call_context *node)
{
	edges->sums[key].key = key;
	edges->sums[key].calls += node->calls;
	if (!edges->open[key]++)
		edges->sums[key].total += node->total;
}

static int call_contexts_by_total(const void *a, const void *b)
{
	const struct call_edge *one = a, *other = b;

	return number_order(other->total, one->total) ?:
	       number_order(other->calls, one->calls) ?:
	       number_order(one->key, other->key);
}

/* Keep those with calls, in order. Return: their number. */
static size_t edges_list(struct edges *edges, uint32_t keys, struct call_edge **list)
{
	size_t count = 0;

	for (uint32_t n = 0; n <= keys; n++)
		if (edges->sums[n].calls)
			edges->sums[count++] = edges->sums[n];
	qsort(edges->sums, count, sizeof(*edges->sums), call_contexts_by_total);
	*list = edges->sums;
	edges->sums = NULL;
	return count;
}

struct visit {
	const struct call_contexts *contexts;
	struct call_neighbours *neighbours;
	struct edges callers, callees;
	uint32_t open; /* how often the function is on the path */
};

static void visit_node(struct visit *visit, uint32_t number, bool enter)
{
	const struct call_context *node = &visit->contexts->nodes[number];
	const struct call_context *caller = &visit->contexts->nodes[node->caller];
	const uint32_t caller_key = node->caller ? caller->key : 0, own = visit->neighbours->key;

	if (node->caller && caller_key == own) {
		if (enter)
			edge_enter(&visit->callees, node->key, node);
		else
			visit->callees.open[node->key]--;
	}
	if (node->key != own)
		return;
	if (!enter) {
		visit->callers.open[caller_key]--;
		visit->open--;
		return;
	}
	edge_enter(&visit->callers, caller_key, node);
	visit->neighbours->calls += node->calls;
	visit->neighbours->self += node->self;
	if (!visit->open++)
		visit->neighbours->total += node->total;
}

int call_neighbours_make(struct call_neighbours *neighbours, const struct call_contexts *contexts,
			 uint32_t key)
{
	const uint32_t keys = contexts->keys.count;
	struct visit visit = { .contexts = contexts, .neighbours = neighbours };
	uint32_t node = contexts->nodes[0].child;
	bool made;

	*neighbours = (struct call_neighbours){ .key = key };
	made = edges_new(&visit.callers, keys);
	made &= edges_new(&visit.callees, keys);
	while (made && node) {
		const struct call_context *at = &contexts->nodes[node];

		visit_node(&visit, node, true);
		if (at->child) {
			node = at->child;
			continue;
		}
		for (;;) {
			visit_node(&visit, node, false);
			if (contexts->nodes[node].next || !contexts->nodes[node].caller)
				break;
			node = contexts->nodes[node].caller;
		}
		node = contexts->nodes[node].next;
	}
	if (made) {
		neighbours->caller_count = edges_list(&visit.callers, keys, &neighbours->callers);
		neighbours->callee_count = edges_list(&visit.callees, keys, &neighbours->callees);
	}
	edges_free(&visit.callers);
	edges_free(&visit.callees);
	return made ? 0 : -ENOMEM;
}

void call_neighbours_free(struct call_neighbours *neighbours)
{
	free(neighbours->callers);
	free(neighbours->callees);
}

/* The selected keys with calls. Their totals count recursion more than once, which is enough for an order. */
ssize_t call_contexts_find(const struct call_contexts *contexts, const char *glob, uint32_t **keys)
{
	struct edges found;
	struct call_edge *list = NULL;
	ssize_t count = -ENOMEM;

	*keys = calloc((size_t)contexts->keys.count + 1, sizeof(**keys));
	if (edges_new(&found, contexts->keys.count) && *keys) {
		for (uint32_t n = 1; n < contexts->count; n++)
			edge_enter(&found, contexts->nodes[n].key,
				   &(struct call_context){ .calls = contexts->nodes[n].calls });
		for (uint32_t n = 1; n < contexts->count; n++)
			found.sums[contexts->nodes[n].key].total += contexts->nodes[n].total;
		for (uint32_t key = 0; key <= contexts->keys.count; key++)
			if (found.sums[key].calls &&
			    !view_symbol_fits(glob, view_key_text(&contexts->keys, key, VIEW_SYMBOL)))
				found.sums[key].calls = 0;
		count = (ssize_t)edges_list(&found, contexts->keys.count, &list);
		for (ssize_t n = 0; n < count; n++)
			(*keys)[n] = list[n].key;
	}
	free(list);
	edges_free(&found);
	return count;
}
