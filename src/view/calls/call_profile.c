/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls as a profile; see call_profile.h.
 *
 * Exporters and flame graphs take samples by stacks. Contexts of calls have the same form: a node is a stack, its
 * caller is the stack's caller, and its self time is a weight. So the stacks of the profile, which were one frame
 * each, are replaced by the contexts; locations stay, and names with them. Stack n is node n.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/profile/profile_parts.h"
#include "view/calls/call_contexts.h"
#include "view/calls/call_profile.h"
#include "view/calls/call_stats.h"

/* Put the contexts in the place of the functions, which were stacks of one frame. */
static int replace_stacks(struct burin_profile *profile, const struct call_contexts *contexts)
{
	struct read_stack *stacks = calloc(contexts->count, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	for (uint32_t n = 1; n < contexts->count; n++) {
		const struct call_context *node = &contexts->nodes[n];
		const uint32_t function = node->function - 1;

		stacks[n - 1] = (struct read_stack){
			.caller = node->caller,
			.location = function < profile->stack_count ? profile->stacks[function].location : 0,
			.depth = node->depth,
		};
	}
	free(profile->stacks);
	profile->stacks = stacks;
	profile->stack_count = contexts->count - 1;
	return 0;
}

/* All calls are of one task, which has the name of the first program. */
static int call_profile_add_task(struct burin_profile *profile, const struct burin_trace *trace)
{
	const struct burin_process *process = burin_trace_process_at(trace, 0);
	const struct burin_thread *thread = burin_trace_thread_at(trace, 0);
	const char *name = thread ? thread->name : "", *path = process ? process->exe : "";
	struct burin_task *task = calloc(1, sizeof(*task));

	profile->tasks = task;
	if (!task)
		return -ENOMEM;
	*task = (struct burin_task){ .tid = thread ? thread->tid : 0,
				     .pid = process ? process->pid : 0,
				     .name = arena_keep(&profile->arena, name, strlen(name)),
				     .path = arena_keep(&profile->arena, path, strlen(path)) };
	profile->task_count = 1;
	return task->name && task->path ? 0 : -ENOMEM;
}

static const struct burin_event *call_profile_find_event(const struct burin_trace *trace,
							 const struct burin_calls *calls)
{
	for (uint32_t n = 1; n <= burin_trace_events(trace); n++)
		if (burin_calls_is_call(calls, burin_trace_event(trace, n)))
			return burin_trace_event(trace, n);
	return NULL;
}

static int call_profile_add_pairs(struct view_profile *counted, const struct call_contexts *contexts)
{
	struct view_counted *of = &counted->of[VIEW_RUNNING];

	counted->pairs = calloc(contexts->count, sizeof(*counted->pairs));
	if (!counted->pairs)
		return -ENOMEM;
	for (uint32_t n = 1; n < contexts->count; n++) {
		const struct call_context *node = &contexts->nodes[n];
		const uint64_t self = call_ns(counted->trace, node->self);

		counted->pairs[counted->pair_count++] =
			(struct view_pair){ .task = 1,
					    .stack = n,
					    .state = VIEW_RUNNING,
					    .samples = node->calls,
					    .weight = self,
					    .squares = (double)self * (double)self };
		of->samples += node->calls;
		of->weight += self;
	}
	counted->samples = of->samples;
	counted->weight = of->weight;
	return 0;
}

int call_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter, unsigned threads)
{
	struct call_contexts contexts;
	int result = call_contexts_make(&contexts, trace, filter, threads);

	*counted = (struct view_profile){
		.trace = trace, .from = filter->from, .to = filter->to, .unit = "ns", .calls = true
	};
	if (result)
		return result;
	counted->of[VIEW_RUNNING].event = call_profile_find_event(trace, contexts.calls);
	counted->profile = read_calls_take_functions(contexts.calls);
	result = replace_stacks(counted->profile, &contexts);
	if (!result)
		result = call_profile_add_task(counted->profile, trace);
	if (!result)
		result = call_profile_add_pairs(counted, &contexts);
	call_contexts_free(&contexts);
	if (result)
		view_profile_free(counted);
	return result;
}
