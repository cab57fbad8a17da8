/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pprof's profile.proto, packed by gzip. Protocol buffers are put together by hand: a field is a number (tag << 3 |
 * kind) and then a number (kind 0), or a length and so many bytes (kind 2).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/leb128.h"
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

struct writing {
	const struct view_profile *counted;
	struct view_buffer *out;
	struct view_buffer part, inner; /* messages within messages */
	struct view_strings strings;
	uint32_t *functions; /* by number of a name's string: 1, it has been told */
	uint32_t function_room;
};

static void put(struct view_buffer *out, uint64_t number)
{
	unsigned char *at = (unsigned char *)view_buffer_reserve(out, LEB128_MAX);

	if (at)
		view_buffer_commit(out, (char *)leb128_put(at, number));
}

static void put_number(struct view_buffer *out, unsigned tag, uint64_t number)
{
	put(out, tag << 3 | KIND_NUMBER);
	put(out, number);
}

static void put_bytes(struct view_buffer *out, unsigned tag, const char *bytes, size_t count)
{
	char *at;

	put(out, tag << 3 | KIND_BYTES);
	put(out, count);
	at = view_buffer_reserve(out, count);
	if (!at)
		return;
	if (count)
		memcpy(at, bytes, count);
	view_buffer_commit(out, at + count);
}

/* A message that was put together becomes a field of another. */
static void put_part(struct view_buffer *out, unsigned tag, struct view_buffer *part)
{
	put_bytes(out, tag, part->bytes, part->used);
	out->failed |= part->failed;
	part->used = 0;
}

static void put_type(struct writing *writing, unsigned tag, const char *type, const char *unit)
{
	put_number(&writing->part, 1, view_string(&writing->strings, type));
	put_number(&writing->part, 2, view_string(&writing->strings, unit));
	put_part(writing->out, tag, &writing->part);
}

/* The number of a function: that of its name. */
static uint64_t function_of(struct writing *writing, const char *name, const char *file)
{
	uint32_t number = view_string(&writing->strings, name);

	if (number >= writing->function_room) {
		uint32_t room = 2 * number + 1024;
		uint32_t *functions = reallocarray(writing->functions, room, sizeof(*functions));

		if (!functions) {
			writing->out->failed = true;
			return number;
		}
		memset(functions + writing->function_room, 0,
		       (room - writing->function_room) * sizeof(*functions));
		writing->functions = functions;
		writing->function_room = room;
	}
	if (!writing->functions[number]) {
		struct view_buffer function = { .used = 0 };

		writing->functions[number] = 1;
		put_number(&function, 1, number);
		put_number(&function, 2, number);
		put_number(&function, 3, number);
		put_number(&function, 4, view_string(&writing->strings, file ? file : ""));
		put_part(writing->out, FUNCTION, &function);
		view_buffer_free(&function);
	}
	return number;
}

/* A place is a location of the same number. */
static void put_location(struct writing *writing, uint32_t number)
{
	const struct burin_profile *profile = writing->counted->profile;
	struct burin_frame frame;
	struct burin_place place;
	char address[512];
	uint32_t n = 0;

	if (burin_profile_place(profile, number, &place))
		return;
	put_number(&writing->part, 1, number);
	if (place.image)
		put_number(&writing->part, 2, place.image);
	put_number(&writing->part, 3, place.offset);
	do {
		if (burin_profile_frame(profile, number, n, &frame))
			frame = (struct burin_frame){ .function = NULL };
		burin_profile_address(profile, number, address, sizeof(address));
		put_number(&writing->inner, 1,
			   function_of(writing, frame.function ? frame.function : address, frame.file));
		put_number(&writing->inner, 2, frame.line);
		put_part(&writing->part, 4, &writing->inner);
	} while (++n < place.frames);
	put_part(writing->out, LOCATION, &writing->part);
}

static void put_mapping(struct writing *writing, uint32_t number)
{
	const struct burin_image *image = burin_profile_image(writing->counted->profile, number);
	char build_id[129] = "";

	if (!image)
		return;
	for (size_t n = 0; n < image->build_id_bytes && n < 64; n++) {
		build_id[2 * n] = "0123456789abcdef"[image->build_id[n] >> 4];
		build_id[2 * n + 1] = "0123456789abcdef"[image->build_id[n] & 15];
		build_id[2 * n + 2] = '\0';
	}
	put_number(&writing->part, 1, number);
	put_number(&writing->part, 5,
		   view_string(&writing->strings, *image->path ? image->path : burin_image_name(image)));
	put_number(&writing->part, 6, view_string(&writing->strings, build_id));
	put_number(&writing->part, 7, image->names >= BURIN_NAMES_EXPORTED);
	put_number(&writing->part, 8, image->names >= BURIN_NAMES_LINES);
	put_number(&writing->part, 9, image->names >= BURIN_NAMES_LINES);
	put_part(writing->out, MAPPING, &writing->part);
}

static void put_label(struct writing *writing, const char *key, const char *value)
{
	put_number(&writing->inner, 1, view_string(&writing->strings, key));
	put_number(&writing->inner, 2, view_string(&writing->strings, value));
	put_part(&writing->part, 3, &writing->inner);
}

static void put_sample(struct writing *writing, const struct view_pair *pair)
{
	const struct burin_profile *profile = writing->counted->profile;
	struct burin_stack stack;

	for (uint32_t n = pair->stack; !burin_profile_stack(profile, n, &stack); n = stack.caller)
		put(&writing->inner, stack.place);
	put_part(&writing->part, 1, &writing->inner);
	put(&writing->inner, pair->samples);
	for (unsigned state = 0; state < VIEW_STATES; state++) {
		if (writing->counted->of[state].event)
			put(&writing->inner, pair->state == state ? pair->weight : 0);
	}
	put_part(&writing->part, 2, &writing->inner);
	put_label(writing, "program", view_program(profile, pair->task));
	put_label(writing, "thread", view_thread(profile, pair->task));
	put_part(writing->out, SAMPLE, &writing->part);
}

static int put_profile(struct writing *writing)
{
	const struct view_profile *counted = writing->counted;
	const char *unit = strcmp(counted->unit, "ns") ? counted->unit : "nanoseconds";
	const char *const types[VIEW_STATES] = { strcmp(counted->unit, "ns") ? "weight" : "cpu", "waiting" };
	const char *type = types[counted->of[VIEW_RUNNING].event ? VIEW_RUNNING : VIEW_WAITING];
	uint64_t begin, end;

	view_string(&writing->strings, "");
	put_type(writing, SAMPLE_TYPE, "samples", "count");
	for (unsigned state = 0; state < VIEW_STATES; state++) {
		if (counted->of[state].event)
			put_type(writing, SAMPLE_TYPE, types[state], unit);
	}
	put_type(writing, PERIOD_TYPE, type, unit);
	put_number(writing->out, DEFAULT_SAMPLE_TYPE, view_string(&writing->strings, type));
	for (size_t n = 0; n < counted->pair_count; n++)
		put_sample(writing, &counted->pairs[n]);
	for (uint32_t n = 1; n <= burin_profile_images(counted->profile); n++)
		put_mapping(writing, n);
	for (uint32_t n = 1; n <= burin_profile_places(counted->profile); n++)
		put_location(writing, n);
	if (!burin_trace_range(counted->trace, &begin, &end)) {
		put_number(writing->out, TIME_NANOS, (uint64_t)burin_trace_ns(counted->trace, begin));
		put_number(writing->out, DURATION_NANOS,
			   (uint64_t)(burin_trace_ns(counted->trace, end) -
				      burin_trace_ns(counted->trace, begin)));
	}
	for (uint32_t n = 0; n < writing->strings.count; n++)
		put_bytes(writing->out, STRING_TABLE, writing->strings.texts[n],
			  strlen(writing->strings.texts[n]));
	return writing->out->failed ? -ENOMEM : 0;
}

static int pack(const struct view_buffer *plain, struct view_buffer *out)
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

int export_pprof(const struct view_profile *counted, struct view_buffer *out, int file)
{
	struct view_buffer plain = { .used = 0 };
	struct writing writing = { .counted = counted, .out = &plain };
	int result = put_profile(&writing);

	(void)file;
	if (!result)
		result = pack(&plain, out);
	view_buffer_free(&plain);
	view_buffer_free(&writing.part);
	view_buffer_free(&writing.inner);
	view_strings_free(&writing.strings);
	free(writing.functions);
	return result;
}
