/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * JSON for speedscope: frames, and for each task a profile of samples with weights. A task that ran and waited has two
 * profiles. Speedscope shows the one with most weight first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

static void put_frames(const struct view_keys *keys, struct json *json)
{
	json_object(json, "shared");
	json_array(json, "frames");
	for (uint32_t n = 1; n < keys->count; n++) {
		json_object(json, NULL);
		json_text(json, "name", view_key_text(keys, n, VIEW_SYMBOL));
		json_text(json, "file", view_key_text(keys, n, VIEW_IMAGE));
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void put_raw(struct view_buffer *out, const char *text)
{
	view_buffer_put(out, text, strlen(text));
}

static void speedscope_put_name(const struct view_profile *counted, uint32_t number, enum view_state state,
				struct json *json)
{
	const struct burin_task *task = burin_profile_task(counted->profile, number);
	struct view_buffer name = { .used = 0 };

	put_raw(&name, view_program(counted->profile, number));
	put_raw(&name, " ");
	put_raw(&name, task ? task->name : "");
	view_buffer_print(&name, " (%u/%u)%s%s", task ? task->pid : 0, task ? task->tid : 0,
			  view_profile_mixed(counted) ? " " : "",
			  view_profile_mixed(counted) ? view_state_name(state) : "");
	json_bytes(json, "name", name.bytes, name.used);
	view_buffer_free(&name);
}

/* Writes the profile of one task and state; its pairs are [first, end). Return: 0 or -ENOMEM. */
static int put_task(const struct view_profile *counted, struct view_keys *keys, size_t first, size_t end,
		    enum view_state state, uint32_t *stack, struct json *json)
{
	uint64_t sum = 0;

	json_object(json, NULL);
	json_text(json, "type", "sampled");
	speedscope_put_name(counted, counted->pairs[first].task, state, json);
	json_text(json, "unit", strcmp(counted->unit, "ns") ? "none" : "nanoseconds");
	json_u64(json, "startValue", 0);
	json_array(json, "samples");
	for (size_t n = first; n < end; n++) {
		uint32_t frames = view_keys_of_stack(keys, counted->pairs[n].stack, stack);

		if (counted->pairs[n].state != state)
			continue;
		json_array(json, NULL);
		for (uint32_t at = frames; at--;)
			json_u64(json, NULL, stack[at] - 1);
		json_end(json);
		sum += counted->pairs[n].weight;
	}
	json_end(json);
	json_array(json, "weights");
	for (size_t n = first; n < end; n++)
		if (counted->pairs[n].state == state)
			json_u64(json, NULL, counted->pairs[n].weight);
	json_end(json);
	json_u64(json, "endValue", sum);
	json_end(json);
	return view_keys_failed(keys) || json->out->failed ? -ENOMEM : 0;
}

int export_speedscope(const struct view_profile *counted, struct export_output *output)
{
	struct json json;
	struct view_keys keys;
	uint32_t *stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*stack));
	uint32_t count = 0, first = 0;
	uint64_t most = 0;
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, false);

	if (!stack)
		result = -ENOMEM;
	json_begin_object(&json, &output->buffer, 2);
	json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(&json, "exporter", "burin");
	json_array(&json, "profiles");
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
			count++;
			result = put_task(counted, &keys, n, end, state, stack, &json);
		}
	}
	json_end(&json);
	json_u64(&json, "activeProfileIndex", first);
	put_frames(&keys, &json); /* those that the profiles have met */
	json_end(&json);
	free(stack);
	view_keys_free(&keys);
	return result;
}
