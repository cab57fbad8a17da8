/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * JSON for speedscope: frames, and for each task a profile of samples with weights; where times of waiting are told
 * apart, two. The one with most is shown first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

static void put_frames(const struct view_keys *keys, struct view_buffer *out)
{
	for (uint32_t n = 1; n < keys->count; n++) {
		view_buffer_print(out, "%s\n{\"name\":", n > 1 ? "," : "");
		view_buffer_json(out, view_key_text(keys, n, VIEW_SYMBOL));
		view_buffer_print(out, ",\"file\":");
		view_buffer_json(out, view_key_text(keys, n, VIEW_IMAGE));
		view_buffer_print(out, "}");
	}
}

/* Pairs first to end of one task, of one state. Return: 0 or -ENOMEM. */
static int put_task(const struct view_profile *counted, struct view_keys *keys, size_t first, size_t end,
		    enum view_state state, uint32_t *stack, struct view_buffer *out)
{
	const struct burin_task *task = burin_profile_task(counted->profile, counted->pairs[first].task);
	const char *comma = "";
	struct view_buffer name = { .used = 0 };
	uint64_t sum = 0;

	view_buffer_print(&name, "%s %s (%u/%u)%s%s",
			  view_program(counted->profile, counted->pairs[first].task), task ? task->name : "",
			  task ? task->pid : 0, task ? task->tid : 0, view_profile_mixed(counted) ? " " : "",
			  view_profile_mixed(counted) ? view_state_name(state) : "");
	*view_buffer_reserve(&name, 1) = '\0';
	view_buffer_print(out, "{\"type\":\"sampled\",\"name\":");
	view_buffer_json(out, name.bytes);
	view_buffer_free(&name);
	view_buffer_print(out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
			  strcmp(counted->unit, "ns") ? "none" : "nanoseconds");
	for (size_t n = first; n < end; n++) {
		uint32_t frames = view_keys_of_stack(keys, counted->pairs[n].stack, stack);

		if (counted->pairs[n].state != state)
			continue;
		view_buffer_print(out, "%s[", comma);
		comma = ",";
		for (uint32_t at = frames; at--;)
			view_buffer_print(out, "%u%s", stack[at] - 1, at ? "," : "");
		view_buffer_print(out, "]");
		sum += counted->pairs[n].weight;
	}
	view_buffer_print(out, "],\"weights\":[");
	comma = "";
	for (size_t n = first; n < end; n++) {
		if (counted->pairs[n].state != state)
			continue;
		view_buffer_print(out, "%s%" PRIu64, comma, counted->pairs[n].weight);
		comma = ",";
	}
	view_buffer_print(out, "],\"endValue\":%" PRIu64 "}", sum);
	return keys->failed || out->failed ? -ENOMEM : 0;
}

int export_speedscope(const struct view_profile *counted, struct view_buffer *out, int file)
{
	struct view_buffer profiles = { .used = 0 };
	struct view_keys keys;
	uint32_t *stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*stack));
	uint32_t count = 0, first = 0;
	uint64_t most = 0;
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE);

	(void)file;
	if (!stack)
		result = -ENOMEM;
	for (size_t n = 0, end; n < counted->pair_count && !result; n = end) {
		uint64_t weights[VIEW_STATES] = { 0 };

		for (end = n; end < counted->pair_count && counted->pairs[end].task == counted->pairs[n].task;
		     end++)
			weights[counted->pairs[end].state] += counted->pairs[end].weight;
		for (unsigned state = 0; state < VIEW_STATES && !result; state++) {
			if (!weights[state])
				continue;
			first = weights[state] > most ? count : first;
			most = weights[state] > most ? weights[state] : most;
			view_buffer_print(&profiles, "%s\n", count++ ? "," : "");
			result = put_task(counted, &keys, n, end, state, stack, &profiles);
		}
	}
	view_buffer_print(
		out,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"burin\","
		"\"shared\":{\"frames\":[");
	put_frames(&keys, out);
	view_buffer_print(out, "]},\n\"activeProfileIndex\":%u,\"profiles\":[%.*s]}\n", first,
			  (int)profiles.used, profiles.used ? profiles.bytes : "");
	view_buffer_free(&profiles);
	free(stack);
	view_keys_free(&keys);
	return result;
}
