/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Formats of text lines: folded stacks, as flame graph scripts read them, and what `perf script` prints, which many
 * tools take for input.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

enum {
	PASS_ON_BYTES = 4 << 20,
};

/* A name in a line: what separates there, and control characters, become something else. */
static void put_name(struct view_buffer *out, const char *name, char separator)
{
	size_t bytes = strlen(name);
	char *at = view_buffer_reserve(out, bytes);

	if (!at)
		return;
	for (size_t n = 0; n < bytes; n++)
		*at++ = (unsigned char)name[n] < ' ' || name[n] == 0x7f ? '?'
			: name[n] == separator				? ':'
									: name[n];
	view_buffer_commit(out, at);
}

/* Writes what there is, if it is much: such texts may be larger than memory. */
static int pass_on(struct view_buffer *out, int file)
{
	if (out->failed)
		return -ENOMEM;
	return out->used < PASS_ON_BYTES ? 0 : view_buffer_write(out, file);
}

/* Whether all samples weigh the same. */
static bool even(const struct view_profile *counted)
{
	uint64_t each = counted->samples ? counted->weight / counted->samples : 0;

	for (size_t n = 0; n < counted->pair_count; n++) {
		if (counted->pairs[n].weight != counted->pairs[n].samples * each)
			return false;
	}
	return true;
}

/* Programs, then frames, callers first, then the number of samples; or their weight, if that is not as good. */
int export_folded(const struct view_profile *counted, struct view_buffer *out, int file)
{
	struct view_keys keys;
	uint32_t *stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*stack));
	bool samples = even(counted);
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL);

	if (!stack)
		result = -ENOMEM;
	for (size_t n = 0; n < counted->pair_count && !result; n++) {
		const struct view_pair *pair = &counted->pairs[n];
		uint32_t count = view_keys_of_stack(&keys, pair->stack, stack);

		put_name(out, view_program(counted->profile, pair->task), ';');
		while (count--) {
			view_buffer_print(out, ";");
			put_name(out, view_key_text(&keys, stack[count], VIEW_SYMBOL), ';');
		}
		view_buffer_print(out, "%s %" PRIu64 "\n",
				  view_profile_mixed(counted) && pair->state == VIEW_WAITING ? ";[waiting]"
											     : "",
				  samples ? pair->samples : pair->weight);
		result = keys.failed ? -ENOMEM : pass_on(out, file);
	}
	free(stack);
	view_keys_free(&keys);
	return result;
}

static void perf_place(const struct view_profile *counted, uint32_t number, struct view_buffer *out)
{
	struct burin_place place;
	struct burin_frame frame;
	const struct burin_image *image;
	uint32_t n = 0;

	if (burin_profile_place(counted->profile, number, &place) || !place.image)
		return;
	image = burin_profile_image(counted->profile, place.image);
	do {
		if (burin_profile_frame(counted->profile, number, n, &frame))
			frame.function = NULL;
		view_buffer_print(out, "\t%16" PRIx64 " ", place.offset);
		put_name(out, frame.function ? frame.function : "[unknown]", 0);
		if (n + 1 < place.frames)
			view_buffer_print(out, " (inlined)");
		else if (frame.function && place.size)
			view_buffer_print(out, "+0x%" PRIx64, place.offset - place.begin);
		if (n + 1 >= place.frames) {
			view_buffer_print(out, " (");
			put_name(out, image && *image->path ? image->path : burin_image_name(image), 0);
			view_buffer_print(out, ")");
		}
		view_buffer_print(out, "\n");
	} while (++n < place.frames);
}

/* Sample by sample, in order of time. */
int export_perf(const struct view_profile *counted, struct view_buffer *out, int file)
{
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .from = counted->from,
						      .to = counted->to };
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_sample sample;
	struct burin_stack stack;
	int result = burin_cursor_open(&cursor, counted->trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		const struct burin_task *task;
		int64_t ns = burin_trace_ns(counted->trace, record->time);

		result = 0;
		if (burin_profile_sample(counted->profile, record, &sample) ||
		    !view_profile_has(counted, record, &sample))
			continue;
		task = burin_profile_task(counted->profile, sample.task);
		put_name(out, task && *task->name ? task->name : "unknown", 0);
		view_buffer_print(out, " %6u/%-6u [%03u] %" PRId64 ".%06" PRId64 ": %10" PRIu64 " %s: \n",
				  task ? task->pid : 0, record->tid, record->cpu, ns / 1000000000,
				  ns % 1000000000 / 1000, sample.weight, record->event->name);
		for (uint32_t n = sample.stack; !burin_profile_stack(counted->profile, n, &stack);
		     n = stack.caller)
			perf_place(counted, stack.place, out);
		view_buffer_print(out, "\n");
		result = pass_on(out, file);
	}
	burin_cursor_close(cursor);
	return result;
}
