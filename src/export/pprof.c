/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pprof's profile.proto, compressed by gzip. The protocol buffers are written by hand: a field is a number (tag << 3 |
 * kind), followed by a number (kind 0), or by a length and so many bytes (kind 2).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "base/text.h"
#include "export/export.h"

enum {
	/* Profile */
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING_TABLE = 6,
	TIME_NANOS = 9,
	DURATION_NANOS = 10,
	PERIOD_TYPE = 11,
	DEFAULT_SAMPLE_TYPE = 14,
	/* kinds */
	KIND_NUMBER = 0,
	KIND_BYTES = 2,
};

struct writer {
	const struct view_profile *counted;
	struct view_buffer *out;
	struct view_buffer part, inner; /* messages within messages */
	struct view_strings strings;
	uint32_t *functions; /* by number of the name's string: 1: already written */
	size_t function_room;
};

static void pprof_put(struct view_buffer *out, uint64_t number)
{
	unsigned char *at = (unsigned char *)view_buffer_reserve(out, LEB128_MAX);

	if (at)
		view_buffer_commit(out, (char *)leb128_put(at, number));
}

static void pprof_put_number(struct view_buffer *out, unsigned tag, uint64_t number)
{
	pprof_put(out, tag << 3 | KIND_NUMBER);
	pprof_put(out, number);
}

static void pprof_put_bytes(struct view_buffer *out, unsigned tag, const char *bytes, size_t count)
{
	pprof_put(out, tag << 3 | KIND_BYTES);
	pprof_put(out, count);
	view_buffer_put(out, bytes, count);
}

/* Writes a complete message as a field of another one, and empties it. */
static void pprof_put_part(struct view_buffer *out, unsigned tag, struct view_buffer *part)
{
	pprof_put_bytes(out, tag, part->bytes, part->used);
	out->failed |= part->failed;
	part->used = 0;
}

static void pprof_put_type(struct writer *writer, unsigned tag, const char *type, const char *unit)
{
	pprof_put_number(&writer->part, 1, view_string(&writer->strings, type));
	pprof_put_number(&writer->part, 2, view_string(&writer->strings, unit));
	pprof_put_part(writer->out, tag, &writer->part);
}

/* Strings must be UTF-8, and pprof prints them unescaped. */
static void pprof_put_string(struct writer *writer, const char *text)
{
	view_buffer_escape(&writer->part, text);
	pprof_put_part(writer->out, STRING_TABLE, &writer->part);
}

/* Writes a function once. Return: its number, which is that of its name. */
static uint64_t pprof_function_of(struct writer *writer, const char *name, const char *file)
{
	uint32_t number = view_string(&writer->strings, name);

	if (!array_reserve_zeroed(writer->functions, writer->function_room, (size_t)number + 1)) {
		writer->out->failed = true;
		return number;
	}
	if (!writer->functions[number]) {
		struct view_buffer function = { .used = 0 };

		writer->functions[number] = 1;
		pprof_put_number(&function, 1, number);
		pprof_put_number(&function, 2, number);
		pprof_put_number(&function, 3, number);
		pprof_put_number(&function, 4, view_string(&writer->strings, file ? file : ""));
		pprof_put_part(writer->out, FUNCTION, &function);
		view_buffer_free(&function);
	}
	return number;
}

/* Locations keep their numbers. */
static void pprof_put_location(struct writer *writer, uint32_t number)
{
	const struct burin_profile *profile = writer->counted->profile;
	struct burin_frame frame;
	struct burin_location location;
	char address[512];
	uint32_t n = 0;

	if (burin_profile_location(profile, number, &location))
		return;
	pprof_put_number(&writer->part, 1, number);
	if (location.image)
		pprof_put_number(&writer->part, 2, location.image);
	pprof_put_number(&writer->part, 3, location.offset);
	do {
		if (burin_profile_frame(profile, number, n, &frame))
			frame = (struct burin_frame){ .function = NULL };
		burin_profile_address(profile, number, address, sizeof(address));
		pprof_put_number(
			&writer->inner, 1,
			pprof_function_of(writer, frame.function ? frame.function : address, frame.file));
		pprof_put_number(&writer->inner, 2, frame.line);
		pprof_put_part(&writer->part, 4, &writer->inner);
	} while (++n < location.frames);
	pprof_put_part(writer->out, LOCATION, &writer->part);
}

static void put_mapping(struct writer *writer, uint32_t number)
{
	const struct burin_image *image = burin_profile_image(writer->counted->profile, number);
	char build_id[129] = "";

	if (!image)
		return;
	text_hex(build_id, image->build_id, image->build_id_bytes < 64 ? image->build_id_bytes : 64);
	pprof_put_number(&writer->part, 1, number);
	pprof_put_number(&writer->part, 5,
			 view_string(&writer->strings, *image->path ? image->path : burin_image_name(image)));
	pprof_put_number(&writer->part, 6, view_string(&writer->strings, build_id));
	pprof_put_number(&writer->part, 7, image->names >= BURIN_NAMES_EXPORTED);
	pprof_put_number(&writer->part, 8, image->names >= BURIN_NAMES_LINES);
	pprof_put_number(&writer->part, 9, image->names >= BURIN_NAMES_LINES);
	pprof_put_part(writer->out, MAPPING, &writer->part);
}

/* The program with most weight. It is written first, since readers regard the first mapping as the main program. */
static uint32_t main_image(const struct view_profile *counted)
{
	uint64_t most = 0, sum = 0;
	uint32_t image = 0;

	for (size_t n = 0; n < counted->pair_count; n++) {
		const struct view_pair *pair = &counted->pairs[n];
		const struct burin_task *task = burin_profile_task(counted->profile, pair->task);

		sum = n && pair->task == pair[-1].task ? sum + pair->weight : pair->weight;
		if (sum > most && task && task->image) {
			most = sum;
			image = task->image;
		}
	}
	return image;
}

static void put_mappings(struct writer *writer)
{
	const struct view_profile *counted = writer->counted;
	uint32_t first = main_image(counted);

	if (first)
		put_mapping(writer, first);
	for (uint32_t n = 1; n <= burin_profile_images(counted->profile); n++)
		if (n != first)
			put_mapping(writer, n);
}

static void put_label(struct writer *writer, const char *key, const char *value)
{
	pprof_put_number(&writer->inner, 1, view_string(&writer->strings, key));
	pprof_put_number(&writer->inner, 2, view_string(&writer->strings, value));
	pprof_put_part(&writer->part, 3, &writer->inner);
}

static void put_sample(struct writer *writer, const struct view_pair *pair)
{
	const struct burin_profile *profile = writer->counted->profile;
	struct burin_stack stack;

	for (uint32_t n = pair->stack; !burin_profile_stack(profile, n, &stack); n = stack.caller)
		pprof_put(&writer->inner, stack.location);
	pprof_put_part(&writer->part, 1, &writer->inner);
	pprof_put(&writer->inner, pair->samples);
	for (unsigned state = 0; state < VIEW_STATES; state++)
		if (writer->counted->of[state].event)
			pprof_put(&writer->inner, pair->state == state ? pair->weight : 0);
	pprof_put_part(&writer->part, 2, &writer->inner);
	put_label(writer, "program", view_program(profile, pair->task));
	put_label(writer, "thread", view_thread(profile, pair->task));
	pprof_put_part(writer->out, SAMPLE, &writer->part);
}

static int put_profile(struct writer *writer)
{
	const struct view_profile *counted = writer->counted;
	const char *unit = strcmp(counted->unit, "ns") ? counted->unit : "nanoseconds";
	const char *const types[VIEW_STATES] = { strcmp(counted->unit, "ns") ? "weight" : "cpu", "waiting" };
	const char *type = types[counted->of[VIEW_RUNNING].event ? VIEW_RUNNING : VIEW_WAITING];
	uint64_t begin, end;

	view_string(&writer->strings, "");
	pprof_put_type(writer, SAMPLE_TYPE, "samples", "count");
	for (unsigned state = 0; state < VIEW_STATES; state++)
		if (counted->of[state].event)
			pprof_put_type(writer, SAMPLE_TYPE, types[state], unit);
	pprof_put_type(writer, PERIOD_TYPE, type, unit);
	pprof_put_number(writer->out, DEFAULT_SAMPLE_TYPE, view_string(&writer->strings, type));
	for (size_t n = 0; n < counted->pair_count; n++)
		put_sample(writer, &counted->pairs[n]);
	put_mappings(writer);
	for (uint32_t n = 1; n <= burin_profile_locations(counted->profile); n++)
		pprof_put_location(writer, n);
	if (!burin_trace_range(counted->trace, &begin, &end)) {
		pprof_put_number(writer->out, TIME_NANOS, (uint64_t)burin_trace_ns(counted->trace, begin));
		pprof_put_number(writer->out, DURATION_NANOS,
				 (uint64_t)(burin_trace_ns(counted->trace, end) -
					    burin_trace_ns(counted->trace, begin)));
	}
	for (uint32_t n = 0; n < writer->strings.count; n++)
		pprof_put_string(writer, writer->strings.texts[n]);
	return writer->out->failed || writer->strings.failed || writer->part.failed || writer->inner.failed
		       ? -ENOMEM
		       : 0;
}

static int pprof_pack(const struct view_buffer *plain, struct view_buffer *out)
{
	enum {
		GZIP_WINDOW = 15 + 16,
		MEMORY = 8
	};
	z_stream stream = { .next_in = (unsigned char *)plain->bytes, .avail_in = (unsigned)plain->used };
	size_t bound;
	char *at;

	if (plain->used > UINT32_MAX)
		return -EFBIG;
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, plain->used);
	at = view_buffer_reserve(out, bound);
	stream.next_out = (unsigned char *)at;
	stream.avail_out = (unsigned)bound;
	if (at && deflate(&stream, Z_FINISH) == Z_STREAM_END)
		view_buffer_commit(out, (char *)stream.next_out);
	else
		out->failed = true;
	deflateEnd(&stream);
	return out->failed ? -ENOMEM : 0;
}

int export_pprof(const struct view_profile *counted, struct export_output *output)
{
	struct view_buffer *out = &output->buffer;
	struct view_buffer plain = { .used = 0 };
	struct writer writer = { .counted = counted, .out = &plain };
	int result = put_profile(&writer);

	if (!result)
		result = pprof_pack(&plain, out);
	view_buffer_free(&plain);
	view_buffer_free(&writer.part);
	view_buffer_free(&writer.inner);
	view_strings_free(&writer.strings);
	free(writer.functions);
	return result;
}
