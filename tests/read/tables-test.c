/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin/profile.h on a trace whose truth is known (profile_sample.h), and on tables with one fault each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "synth.h"
#include "base/leb128.h"
#include "burin/profile.h"
#include "read/profile/profile_parts.h"
#include "profile_sample.h"
#include "wire/wire_profile.h"

struct opened {
	char base[512], path[600];
	struct burin_trace *trace;
	struct burin_profile *profile;
};

static void make(struct opened *opened)
{
	synth_directory(opened->base, sizeof(opened->base));
	snprintf(opened->path, sizeof(opened->path), "%s/trace", opened->base);
	sample_small(opened->path, 1, false);
}

static void open_it(struct opened *opened)
{
	assert_int_equal(burin_trace_open(&opened->trace, opened->path, NULL, NULL), 0);
	assert_int_equal(burin_profile_open(&opened->profile, opened->trace), 0);
}

static void done(struct opened *opened)
{
	burin_profile_close(opened->profile);
	burin_trace_close(opened->trace);
	synth_remove(opened->base);
}

static void test_samples(void **state)
{
	struct opened opened;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_sample sample;
	uint64_t count = 0, weight = 0;

	(void)state;
	make(&opened);
	open_it(&opened);
	assert_int_equal(burin_cursor_open(&cursor, opened.trace, NULL), 0);
	while (burin_cursor_next(cursor, &record) > 0) {
		assert_int_equal(burin_profile_sample(opened.profile, record, &sample), 0);
		assert_true(burin_profile_is_sample(opened.profile, record->event));
		assert_string_equal(burin_profile_unit(opened.profile, record->event), "ns");
		assert_int_equal(burin_profile_task(opened.profile, sample.task)->tid, record->tid);
		count++;
		weight += sample.weight;
	}
	burin_cursor_close(cursor);
	assert_int_equal(count, 1000);
	assert_int_equal(weight, 1000000000);
	assert_int_equal(burin_trace_faults(opened.trace), 0);
	done(&opened);
}

static void test_stacks(void **state)
{
	static const struct {
		const char *function;
		uint32_t line;
	} wanted[] = { { "next_token", 35 }, { "parse", 31 }, { "handle", 21 }, { "main", 11 } };
	struct opened opened;
	struct burin_stack stack;
	struct burin_location place;
	struct burin_frame frame;
	unsigned at = 0;
	char address[64];

	(void)state;
	make(&opened);
	open_it(&opened);
	/* Stack 3 is main handle parse [next_token]. */
	assert_int_equal(burin_profile_stack(opened.profile, 3, &stack), 0);
	assert_int_equal(stack.depth, 3);
	for (uint32_t number = 3; !burin_profile_stack(opened.profile, number, &stack);
	     number = stack.caller) {
		assert_true(stack.caller < number);
		for (uint32_t n = 0; !burin_profile_frame(opened.profile, stack.location, n, &frame);
		     n++, at++) {
			assert_string_equal(frame.function, wanted[at].function);
			assert_string_equal(frame.file, "src/server.c");
			assert_int_equal(frame.line, wanted[at].line);
		}
	}
	assert_int_equal(at, 4);
	/* The same text in two entries is one name: fib at two places. */
	assert_int_equal(burin_profile_stack(opened.profile, 6, &stack), 0);
	assert_int_equal(burin_profile_frame(opened.profile, stack.location, 0, &frame), 0);
	at = frame.name;
	assert_int_equal(burin_profile_stack(opened.profile, stack.caller, &stack), 0);
	assert_int_equal(burin_profile_frame(opened.profile, stack.location, 0, &frame), 0);
	assert_int_equal(frame.name, at);
	/* Nothing is known of libc+0x5000, and its caller is a mark. */
	for (uint32_t n = 1; n <= burin_profile_stacks(opened.profile); n++) {
		assert_int_equal(burin_profile_stack(opened.profile, n, &stack), 0);
		assert_int_equal(burin_profile_location(opened.profile, stack.location, &place), 0);
		burin_profile_address(opened.profile, stack.location, address, sizeof(address));
		if (!place.image) {
			assert_int_equal(place.truncation, BURIN_TRUNCATION_TABLES);
			assert_string_equal(address, "[no unwind information]");
		} else if (!place.frames) {
			assert_string_equal(address, "libc.so.6+0x5000");
		}
	}
	assert_int_equal(burin_profile_stack(opened.profile, 0, &stack), -ENOENT);
	assert_int_equal(
		burin_profile_stack(opened.profile, burin_profile_stacks(opened.profile) + 1, &stack),
		-ENOENT);
	assert_int_equal(burin_profile_location(opened.profile, 0, &place), -ENOENT);
	assert_int_equal(burin_profile_frame(opened.profile, UINT32_MAX, 0, &frame), -ENOENT);
	assert_null(burin_profile_task(opened.profile, 0));
	assert_null(burin_profile_task(opened.profile, 4));
	assert_null(burin_profile_image(opened.profile, 5));
	assert_string_equal(burin_image_name(NULL), "[unknown]");
	done(&opened);
}

static void test_images_and_values(void **state)
{
	struct opened opened;
	const struct burin_image *image;
	const char *key, *value;
	unsigned limits = 0;

	(void)state;
	make(&opened);
	open_it(&opened);
	image = burin_profile_image(opened.profile, 2);
	assert_string_equal(image->path, "/usr/lib/libc.so.6");
	assert_string_equal(burin_image_name(image), "libc.so.6");
	assert_int_equal(image->names, BURIN_NAMES_EXPORTED);
	assert_string_equal(image->hint, "libc6-dbg");
	assert_int_equal(image->build_id_bytes, 3);
	assert_memory_equal(image->build_id, "\x04\x05\x06", 3);
	assert_string_equal(burin_image_name(burin_profile_image(opened.profile, 3)), "[kernel]");
	assert_int_equal(burin_profile_number(opened.profile, "received"), 1015);
	assert_int_equal(burin_profile_number(opened.profile, "state"), 0);
	assert_string_equal(burin_profile_value(opened.profile, "call_graph"), "both");
	assert_null(burin_profile_value(opened.profile, "nothing"));
	for (unsigned n = 0; !burin_profile_value_at(opened.profile, n, &key, &value); n++)
		limits += !strcmp(key, "limit");
	assert_int_equal(limits, 1);
	done(&opened);
}

/* A table of one block. */
static void write_block(const struct opened *opened, const char *name, uint32_t magic,
			struct wire_block block, const void *bytes)
{
	struct wire_table header = { magic, WIRE_TABLE_VERSION, 0 };
	char path[700];
	FILE *file;

	snprintf(path, sizeof(path), "%s/.burin/%s", opened->path, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
	assert_int_equal(fwrite(&block, sizeof(block), 1, file), 1);
	assert_int_equal(fwrite(bytes, 1, block.stored, file), block.stored);
	assert_int_equal(fclose(file), 0);
}

/* The same, its entries as they are. */
static void write_table(const struct opened *opened, const char *name, uint32_t magic, uint32_t claimed_bytes,
			uint32_t entries, const void *bytes, uint32_t size)
{
	write_block(opened, name, magic, (struct wire_block){ claimed_bytes, size, entries, 0 }, bytes);
}

static void expect_fault(struct opened *opened, const char *reason)
{
	struct burin_diagnosis fault = { .code = 0 };

	open_it(opened);
	assert_true(burin_trace_faults(opened->trace) > 0);
	assert_int_equal(burin_trace_fault(opened->trace, 0, &fault), 0);
	assert_int_equal(fault.code, BURIN_FAULT_TABLE);
	if (!strstr(fault.reason, reason))
		fail_msg("\"%s\" does not contain \"%s\"", fault.reason, reason);
}

static void test_faults(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t size, claimed, entries, good;
		const char *reason;
	} cases[] = {
		{ "\1\1\1\0\1\1\1\1\1", 9, 9, 3, 1, "it is its own caller" },
		{ "\1\1\1\5\1\1", 6, 6, 2, 1, "its caller would be before" },
		{ "\1\1\1\1\1\x80", 6, 6, 2, 1, "the block ends within it" },
		{ "\1\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12, 12, 1, 0, "more than 64 bits" },
		{ "\1\xff\xff\xff\xff\x7f\1", 7, 7, 1, 0, "more than 32 bits" },
		{ "\1\1\1", 3, 3, 2, 0, "more entries than fit" },
		{ "\1\1\1", 3, 2, 1, 0, "stored in more bytes" },
		{ "\1\1\1", 3, WIRE_BLOCK_MAX + 1, 1, 0, "more than 16 MiB" },
		{ "\1\1\1", 3, 9, 1, 0, "not a zstd frame" },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct opened opened;
		struct burin_stack stack;

		make(&opened);
		write_table(&opened, "stacks", WIRE_TABLE_STACKS, cases[n].claimed, cases[n].entries,
			    cases[n].bytes, cases[n].size);
		expect_fault(&opened, cases[n].reason);
		/* What stands before the fault can be read; what stands behind has its number, and cannot. */
		for (uint32_t at = 1; at <= burin_profile_stacks(opened.profile); at++)
			assert_int_equal(burin_profile_stack(opened.profile, at, &stack),
					 at <= cases[n].good ? 0 : -ENOENT);
		done(&opened);
	}
}

/* Spots in columns: what a column says is taken from the highest before it; a block that lies is told. */
static void test_columns(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t size, columns, entries, good;
		const char *reason;
	} cases[] = {
		{ "\1\1\2\5\2\0", 6, 2, 3, 3, NULL },
		{ "\1\1\2\5\4\0", 6, 3, 2, 0, "columns that this table does not have" },
		{ "\1\1\2\5\2", 5, 2, 3, 2, "more entries than fit" },
		{ "\1\1\2\5\2\x80", 6, 2, 3, 2, "the block ends within it" },
		{ "\1\1\6\5\2\0", 6, 2, 3, 2, "the task's number has more than 32 bits" },
		{ "\x80\x80\x80\x80\x80\x80", 6, 2, 3, 0, "the block ends within it" },
	};
	static const struct read_sample_context wanted[] = { { 1, 3 }, { 2, 2 }, { 1, 3 } };

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct opened opened;

		make(&opened);
		write_block(&opened, "contexts", WIRE_TABLE_CONTEXTS,
			    (struct wire_block){ cases[n].size, cases[n].size, cases[n].entries,
						 cases[n].columns },
			    cases[n].bytes);
		if (cases[n].reason)
			expect_fault(&opened, cases[n].reason);
		else
			open_it(&opened);
		for (uint32_t at = 0; at < opened.profile->context_count; at++)
			assert_memory_equal(&opened.profile->contexts[at],
					    at < cases[n].good ? &wanted[at]
							       : &(struct read_sample_context){ 0 },
					    sizeof(wanted[0]));
		done(&opened);
	}
}

/* A stack of a thousand frames more than there may be is cut, so that no walk is long. */
static void test_deep(void **state)
{
	static unsigned char bytes[16 * 4096];
	unsigned char *at = bytes;
	struct opened opened;
	struct burin_stack stack;
	uint32_t steps = 0;

	(void)state;
	make(&opened);
	for (uint32_t n = 0; n < 2048; n++) {
		at = leb128_put(at, 1);
		at = leb128_put(at, 1);
		at = leb128_put(at, n);
	}
	write_table(&opened, "stacks", WIRE_TABLE_STACKS, (uint32_t)(at - bytes), 2048, bytes,
		    (uint32_t)(at - bytes));
	open_it(&opened);
	for (uint32_t n = 2048; !burin_profile_stack(opened.profile, n, &stack); n = stack.caller)
		steps++;
	assert_true(steps > 0 && steps <= WIRE_DEPTH_MAX + 1);
	done(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),		  cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_images_and_values), cmocka_unit_test(test_faults),
		cmocka_unit_test(test_columns),		  cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
