/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Formats of text lines: folded stacks, which flame graph scripts read, and the output of `perf script`, which many tools
 * read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

enum {
	FLUSH_BYTES = 4 << 20,
};

/* A name in a line, escaped. Each separator in @from is replaced by the character at its index in @to. */
static void stack_text_put_name(struct view_buffer *out, const char *name, const char *from, const char *to)
{
	const size_t before = out->used;

	view_buffer_escape(out, name);
	for (; *from; from++, to++) {
		char *at = out->bytes + before, *end = out->bytes + out->used;

		while (at < end && (at = memchr(at, *from, (size_t)(end - at))))
			*at++ = *to;
	}
}

/*
 * The thread's name, at the beginning of a sample's first line. A blank at its beginning is replaced, since lines of
 * frames begin with a blank. So is a blank before a digit, since tools find the ids behind the name by it.
 */
static void put_thread(struct view_buffer *out, const char *name)
{
	const size_t before = out->used;

	view_buffer_escape(out, name);
	for (size_t n = before; n < out->used; n++) {
		const bool digit = n + 1 < out->used && out->bytes[n + 1] >= '0' && out->bytes[n + 1] <= '9';

		if (out->bytes[n] == ' ' && (n == before || digit))
			out->bytes[n] = '_';
	}
}

/* Writes the buffer if it is large, since the text may be larger than memory. */
static int flush_large(struct export_output *output)
{
	if (output->buffer.failed)
		return -ENOMEM;
	if (output->bytes + output->buffer.used > output->bytes_max)
		return -EMSGSIZE;
	if (output->buffer.used < FLUSH_BYTES)
		return 0;
	output->bytes += output->buffer.used;
	return view_buffer_write(&output->buffer, output->file);
}

/* Whether all samples have the same weight. */
static bool stack_text_even(const struct view_profile *counted)
{
	uint64_t each = counted->samples ? counted->weight / counted->samples : 0;

	for (size_t n = 0; n < counted->pair_count; n++)
		if (counted->pairs[n].weight != counted->pairs[n].samples * each)
			return false;
	return true;
}

/* Program, frames from the outermost, and the number of samples, or their weight if weights differ. */
int export_folded(const struct view_profile *counted, struct export_output *output)
{
	struct view_buffer *out = &output->buffer;
	struct view_keys keys;
	uint32_t *stack = calloc(VIEW_STACK_KEYS_MAX, sizeof(*stack));
	bool samples = stack_text_even(counted);
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL, false);

	if (!stack)
		result = -ENOMEM;
	for (size_t n = 0; n < counted->pair_count && !result; n++) {
		const struct view_pair *pair = &counted->pairs[n];
		uint32_t count = view_keys_of_stack(&keys, pair->stack, stack);

		stack_text_put_name(out, view_program(counted->profile, pair->task), ";", ":");
		while (count-- && !result) {
			view_buffer_print(out, ";");
			stack_text_put_name(out, view_key_text(&keys, stack[count], VIEW_SYMBOL), ";", ":");
			result = flush_large(output);
		}
		if (result)
			break;
		view_buffer_print(out, "%s %" PRIu64 "\n",
				  view_profile_mixed(counted) && pair->state == VIEW_WAITING ? ";[waiting]"
											     : "",
				  samples ? pair->samples : pair->weight);
		output->samples += pair->samples;
		result = view_keys_failed(&keys) ? -ENOMEM : flush_large(output);
	}
	free(stack);
	view_keys_free(&keys);
	return result;
}

static void stack_text_put_location(const struct view_profile *counted, uint32_t number,
				    struct view_buffer *out)
{
	struct burin_location location;
	struct burin_frame frame;
	const struct burin_image *image;
	char address[512];
	uint32_t n = 0;

	if (burin_profile_location(counted->profile, number, &location) || !location.image)
		return;
	image = burin_profile_image(counted->profile, location.image);
	do {
		if (burin_profile_frame(counted->profile, number, n, &frame))
			frame.function = NULL;
		view_buffer_print(out, "\t%16" PRIx64 " ", location.offset);
		stack_text_put_name(out,
				    frame.function  ? frame.function
				    : location.size ? burin_profile_address(counted->profile, number, address,
									    sizeof(address))
						    : "[unknown]",
				    "", "");
		if (n + 1 < location.frames)
			view_buffer_print(out, " (inlined)");
		else if (location.size)
			view_buffer_print(out, "+0x%" PRIx64, location.offset - location.begin);
		if (n + 1 >= location.frames) {
			view_buffer_print(out, " (");
			stack_text_put_name(out,
					    image && *image->path ? image->path : burin_image_name(image),
					    "()", "[]");
			view_buffer_print(out, ")");
		}
		view_buffer_print(out, "\n");
	} while (++n < location.frames);
}

/* One sample after another, in order of time. */
int export_perf(const struct view_profile *counted, struct export_output *output)
{
	struct view_buffer *out = &output->buffer;
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
		put_thread(out, task && *task->name ? task->name : "unknown");
		view_buffer_print(out, " %6u/%-6u [%03u] %" PRId64 ".%06" PRId64 ": %10" PRIu64 " %s: \n",
				  task ? task->pid : 0, record->tid, record->cpu, ns / 1000000000,
				  ns % 1000000000 / 1000, sample.weight, record->event->name);
		for (uint32_t n = sample.stack; !result && !burin_profile_stack(counted->profile, n, &stack);
		     n = stack.caller) {
			stack_text_put_location(counted, stack.location, out);
			result = flush_large(output);
		}
		view_buffer_print(out, "\n");
		output->samples += !result;
	}
	burin_cursor_close(cursor);
	return result;
}
