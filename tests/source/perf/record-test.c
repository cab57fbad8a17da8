/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's records are parsed; damaged ones are detected, and nothing behind their end is read. */
#include <stdlib.h>

#include "synthetic.h"

static void valid(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x1000, 0x2000 };
	struct synthetic bytes;
	struct record record;
	uint64_t second;

	(void)state;
	synthetic_sample(&bytes, PERF_RECORD_MISC_USER, 0x1000, 7, 8, 99, chain, 3);
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_SAMPLE);
	assert_int_equal(record.sample.mode, RECORD_MODE_USER);
	assert_int_equal(record.pid, 7);
	assert_int_equal(record.tid, 8);
	assert_int_equal(record.time, 99);
	assert_int_equal(record.sample.chain_count, 3);
	memcpy(&second, &record.sample.chain[2], 8);
	assert_int_equal(second, 0x2000);

	synthetic_map(&bytes, 7, 100, 0x1000, 0x2000, 0x3000, 42, "/bin/x");
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_MAP);
	assert_int_equal(record.map.bytes, 0x2000);
	assert_int_equal(record.map.inode, 42);
	assert_string_equal(record.map.path, "/bin/x");
	assert_int_equal(record.time, 100);

	synthetic_name(&bytes, 7, 8, 101, 1, "name");
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_NAME);
	assert_true(record.exec);
	assert_string_equal(record.name, "name");

	synthetic_task(&bytes, PERF_RECORD_FORK, 9, 10, 7, 8, 102);
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_FORK);
	assert_int_equal(record.parent_tid, 8);
	assert_int_equal(record.tid, 10);
}

/*
 * A name of kernel code, whose record the kernel makes longer for each event that it writes it for: what follows the trailer
 * is not the record's.
 */
static void kernel_code(void **state)
{
	static const char *const names[] = { "bpf_prog_1234567", "bpf_prog_",
					     "x" }; /* 16, 9 and 1 bytes, and a NUL */

	(void)state;
	for (unsigned n = 0; n < 6; n++) {
		struct synthetic bytes;
		struct record record;

		synthetic_begin(&bytes, PERF_RECORD_KSYMBOL, 0);
		synthetic_u64(&bytes, 0x1000);
		synthetic_u32(&bytes, 0x200);
		synthetic_u32(&bytes, 1);
		synthetic_text(&bytes, names[n / 2]);
		synthetic_trailer(&bytes, 7, 8, 99);
		if (n % 2) {
			synthetic_u64(&bytes, UINT64_C(0x6d6f726620646c6f)); /* bytes of a former record */
			synthetic_u64(&bytes, UINT64_C(0x6d6f726620646c6f));
			synthetic_end(&bytes);
		}
		record = synthetic_parsed(&bytes);
		assert_int_equal(record.kind, RECORD_KERNEL_CODE);
		assert_string_equal(record.name, names[n / 2]);
		assert_int_equal(record.map.begin, 0x1000);
		assert_int_equal(record.map.bytes, 0x200);
		assert_int_equal(record.time, 99);
		assert_int_equal(record.tid, 8);
		for (uint16_t size = 8; size < 24 + (strlen(names[n / 2]) / 8 + 1) * 8 + 16; size += 8) {
			memcpy(bytes.bytes + offsetof(struct perf_event_header, size), &size, 2);
			bytes.size = size;
			assert_int_equal(synthetic_parsed(&bytes).kind, RECORD_DAMAGED);
		}
	}
}

/* A record with registers and a stack. */
static void stacks(void **state)
{
	const uint64_t type = SYNTHETIC_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	struct synthetic bytes;
	struct record record;

	(void)state;
	synthetic_sample(&bytes, PERF_RECORD_MISC_USER, 1, 7, 8, 99, NULL, 0);
	synthetic_u64(&bytes, PERF_SAMPLE_REGS_ABI_64);
	synthetic_u64(&bytes, 11);
	synthetic_u64(&bytes, 12);
	synthetic_u64(&bytes, 16); /* bytes of the stack */
	synthetic_u64(&bytes, 21);
	synthetic_u64(&bytes, 22);
	synthetic_u64(&bytes, 8); /* that are valid */
	synthetic_end(&bytes);
	record_parse(bytes.bytes, bytes.size, type, 0x81, &record);
	assert_int_equal(record.kind, RECORD_SAMPLE);
	assert_int_equal(record.sample.user.register_count, 2);
	assert_int_equal(record.sample.user.stack_bytes, 8);
	assert_int_equal(record.sample.user.stack[0], 21);
	record_parse(bytes.bytes, bytes.size, type, 0xff81, &record); /* more registers than there are */
	assert_int_equal(record.kind, RECORD_DAMAGED);
}

/* A tracepoint's record between the chain and the registers; its size is not trusted. */
static void raw(void **state)
{
	const uint64_t type = SYNTHETIC_TYPE | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;

	(void)state;
	for (uint32_t size = 12; size <= 0x7fffffff; size = size == 12 ? 100 : size * 2 + 1) {
		struct synthetic bytes;
		struct record record;

		synthetic_sample(&bytes, PERF_RECORD_MISC_KERNEL, 1, 7, 8, 99, NULL, 0);
		synthetic_u32(&bytes, size);
		synthetic_u32(&bytes, 31);
		synthetic_u64(&bytes, 32);
		synthetic_u64(&bytes, PERF_SAMPLE_REGS_ABI_64);
		synthetic_u64(&bytes, 11);
		synthetic_end(&bytes);
		record_parse(bytes.bytes, bytes.size, type, 1, &record);
		assert_int_equal(record.kind, size == 12 ? RECORD_SAMPLE : RECORD_DAMAGED);
		if (size > 12)
			continue;
		assert_int_equal(record.sample.raw_bytes, 12);
		assert_int_equal(record.sample.raw[0], 31);
		assert_int_equal(record.sample.user.register_count, 1);
	}
}

enum {
	STACK_TYPE = SYNTHETIC_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	STACK_ROOM = 512, /* bytes that the kernel reserves */
};

static void sample_with_stack(struct synthetic *bytes, uint64_t filled)
{
	synthetic_sample(bytes, PERF_RECORD_MISC_USER, 1, 7, 8, 99, NULL, 0);
	synthetic_u64(bytes, PERF_SAMPLE_REGS_ABI_64);
	synthetic_u64(bytes, 11);
	synthetic_u64(bytes, STACK_ROOM);
	for (unsigned n = 0; n < STACK_ROOM / 8; n++)
		synthetic_u64(bytes, 100 + n);
	synthetic_u64(bytes, filled);
	synthetic_end(bytes);
}

/* Only the filled part of a stack is kept; all else is unchanged. */
static void packed(void **state)
{
	static const uint64_t filled[] = { 0, 1, 8, 50, STACK_ROOM - 8, STACK_ROOM, STACK_ROOM + 1 };
	static const uint64_t left[] = { 8, 8, 8, 56, STACK_ROOM - 8, STACK_ROOM, STACK_ROOM };

	(void)state;
	for (unsigned n = 0; n < sizeof(filled) / sizeof(*filled); n++) {
		struct synthetic bytes, copy;
		struct record before, after;

		sample_with_stack(&bytes, filled[n]);
		copy.size = record_pack(copy.bytes, bytes.bytes, bytes.size, STACK_TYPE, 1);
		assert_int_equal(copy.size, bytes.size - STACK_ROOM + left[n]);
		assert_int_equal(record_bytes(copy.bytes), copy.size);
		record_parse(bytes.bytes, bytes.size, STACK_TYPE, 1, &before);
		record_parse(copy.bytes, copy.size, STACK_TYPE, 1, &after);
		assert_int_equal(after.kind, RECORD_SAMPLE);
		assert_int_equal(after.tid, 8);
		assert_int_equal(after.sample.user.registers[0], 11);
		assert_int_equal(after.sample.user.stack_bytes, before.sample.user.stack_bytes);
		assert_memory_equal(after.sample.user.stack, before.sample.user.stack,
				    after.sample.user.stack_bytes);
		assert_int_equal(record_pack(bytes.bytes, bytes.bytes, bytes.size, STACK_TYPE, 1), copy.size);
		assert_memory_equal(bytes.bytes, copy.bytes, copy.size);
	}
}

/* A record without a stack, or a damaged one, is copied unchanged; nothing is written behind it. */
static void packed_unchanged(void **state)
{
	struct synthetic bytes;

	(void)state;
	sample_with_stack(&bytes, 8);
	for (size_t size = 0; size < bytes.size; size++) {
		unsigned char *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		assert_int_equal(record_pack(copy, bytes.bytes, size, STACK_TYPE, 1), size);
		assert_memory_equal(copy, bytes.bytes, size);
		free(copy);
	}
	assert_int_equal(record_pack(bytes.bytes, bytes.bytes, bytes.size, SYNTHETIC_TYPE, 1), bytes.size);
	synthetic_name(&bytes, 7, 8, 101, 1, "name");
	assert_int_equal(record_pack(bytes.bytes, bytes.bytes, bytes.size, STACK_TYPE, 1), bytes.size);
	assert_int_equal(synthetic_parsed(&bytes).kind, RECORD_NAME);
}

/* Parse bytes at the end of an allocation, so that the sanitizer finds reads behind them. */
static struct record parse_exact(const void *bytes, size_t size)
{
	struct record record;
	void *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	record_parse(copy, size, SYNTHETIC_TYPE, 0, &record);
	if (record.kind == RECORD_MAP)
		assert_true(strlen(record.map.path) < size);
	free(copy);
	return record;
}

static void truncated(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x1000, 0x2000 };
	struct synthetic all[4];

	(void)state;
	synthetic_sample(&all[0], PERF_RECORD_MISC_USER, 0x1000, 7, 8, 99, chain, 3);
	synthetic_map(&all[1], 7, 100, 0x1000, 0x2000, 0x3000, 42, "/bin/x");
	synthetic_name(&all[2], 7, 8, 101, 1, "name");
	synthetic_task(&all[3], PERF_RECORD_EXIT, 9, 10, 7, 8, 102);
	for (unsigned n = 0; n < 4; n++) {
		const size_t whole = all[n].size;

		for (size_t size = 0; size < whole; size++) {
			struct record record =
				parse_exact(all[n].bytes, size); /* shorter than its header says */

			assert_int_equal(record.kind, RECORD_DAMAGED);
			if (size < RECORD_HEAD)
				continue;
			all[n].size = size; /* as its header says; it may be valid if its rest is text */
			synthetic_end(&all[n]);
			record = parse_exact(all[n].bytes, size);
			if (n == 0 || size < RECORD_HEAD + 16)
				assert_int_equal(record.kind, RECORD_DAMAGED);
			all[n].size = whole;
			synthetic_end(&all[n]);
		}
	}
}

static void hostile(void **state)
{
	struct synthetic bytes;
	unsigned seed = 1;
	unsigned found = 0;

	(void)state;
	synthetic_sample(&bytes, PERF_RECORD_MISC_USER, 1, 7, 8, 99, NULL, 0);
	memset(bytes.bytes + 32, 0xff, 8); /* the largest number of frames */
	assert_int_equal(synthetic_parsed(&bytes).kind, RECORD_DAMAGED);
	synthetic_map(&bytes, 7, 1, UINT64_MAX - 10, 4096, 0, 1, "/x"); /* wraps around the end of memory */
	assert_int_equal(synthetic_parsed(&bytes).kind, RECORD_DAMAGED);
	for (unsigned n = 0; n < 200000; n++) {
		struct record record;

		synthetic_begin(&bytes, 1 + n % 18, (uint16_t)(n * 257));
		for (unsigned k = 0; k < 24; k++) {
			seed = seed * 1103515245 + 12345;
			synthetic_u32(&bytes, seed >> 8 & (n % 3 ? 0xff : 0xffffffff));
		}
		synthetic_end(&bytes);
		record = parse_exact(bytes.bytes, bytes.size);
		found += record.kind != RECORD_DAMAGED;
	}
	assert_in_range(found, 1, 199999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid),
		cmocka_unit_test(kernel_code),
		cmocka_unit_test(stacks),
		cmocka_unit_test(packed),
		cmocka_unit_test(packed_unchanged),
		cmocka_unit_test(truncated),
		cmocka_unit_test(hostile),
		cmocka_unit_test(raw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
