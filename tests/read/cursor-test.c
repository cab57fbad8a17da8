/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads the synthetic trace: every record once, merged by time, by ring, and from any time on; fields, names. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "burin/read.h"
#include "read/trace.h"
#include "synth.h"
#include "wire/wire_event.h"

static char directory[512], path[600];
static uint64_t written;
static struct burin_trace *trace;

static int setup(void **state)
{
	(void)state;
	synth_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/trace", directory);
	written = synth_sample(path);
	return burin_trace_open(&trace, path, NULL, NULL);
}

static int teardown(void **state)
{
	(void)state;
	burin_trace_close(trace);
	synth_remove(directory);
	return 0;
}

static struct burin_cursor *open_cursor(unsigned flags, uint32_t ring, uint64_t from, uint64_t to)
{
	const struct burin_cursor_options options = { sizeof(options), flags, ring, from, to };
	struct burin_cursor *cursor;

	assert_int_equal(burin_cursor_open(&cursor, trace, &options), 0);
	return cursor;
}

/* Counts the remaining records and checks their order. */
static uint64_t count_rest(struct burin_cursor *cursor, uint64_t from, uint64_t to)
{
	const struct burin_record *record;
	uint64_t count = 0, last = from;
	uint32_t ring = 0;

	while (burin_cursor_next(cursor, &record) > 0) {
		assert_true(record->time >= last);
		if (record->time == last && count)
			assert_true(record->ring >= ring);
		assert_true(!to || record->time < to);
		last = record->time;
		ring = record->ring;
		count++;
	}
	assert_int_equal(burin_cursor_next(cursor, &record), 0);
	assert_null(record);
	burin_cursor_close(cursor);
	return count;
}

static void test_every_record_once(void **state)
{
	(void)state;
	assert_int_equal(burin_trace_faults(trace), 0);
	assert_int_equal(count_rest(open_cursor(0, 0, 0, 0), 0, 0), written);
	assert_int_equal(count_rest(open_cursor(BURIN_CURSOR_NAMES, 0, 0, 0), 0, 0), written + 6);
	assert_int_equal(burin_trace_faults(trace), 0);
}

static void test_rings(void **state)
{
	const struct burin_cursor_options absent = { sizeof(absent), BURIN_CURSOR_RING, 17, 0, 0 };
	struct burin_cursor *cursor;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(burin_trace_rings(trace), 3);
	for (unsigned n = 0; n < 3; n++) {
		assert_int_equal(burin_trace_ring(trace, n)->number, n);
		sum += count_rest(open_cursor(BURIN_CURSOR_RING, n, 0, 0), 0, 0);
	}
	assert_int_equal(sum, written);
	assert_true(burin_trace_ring(trace, 2)->locked);
	assert_null(burin_trace_ring(trace, 3));
	assert_int_equal(burin_cursor_open(&cursor, trace, &absent), -ENOENT);
	assert_null(cursor);
}

static void assert_same(const struct burin_record *one, const struct burin_record *other)
{
	assert_true(one->time == other->time && one->offset == other->offset && one->tid == other->tid);
	assert_ptr_equal(one->event, other->event);
	assert_string_equal(one->file, other->file);
	assert_int_equal(one->cpu, other->cpu);
	assert_int_equal(one->payload_bytes, other->payload_bytes);
	assert_memory_equal(one->payload, other->payload, one->payload_bytes);
	for (unsigned n = 0; n <= one->event->fields; n++)
		assert_int_equal(one->offsets[n], other->offsets[n]);
}

/* The next record of a cursor that is wanted. */
static bool next_wanted(struct burin_cursor *cursor, const struct burin_event *only,
			const struct burin_record **record)
{
	while (burin_cursor_next(cursor, record) > 0)
		if (!only || (*record)->event == only)
			return true;
	return false;
}

/* Runs of any length have the records that are read one by one. */
static void test_runs(void **state)
{
	static struct read_run run;
	const struct burin_record *record;

	(void)state;
	for (unsigned id = 0; id <= burin_trace_events(trace); id++)
		for (run.room = 1; run.room <= READ_RUN; run.room = 3 * run.room + 1) {
			struct burin_cursor *one = open_cursor(0, 0, 0, 0), *other = open_cursor(0, 0, 0, 0);

			run.only = burin_trace_event(trace, id);
			while (read_cursor_run(one, &run) > 0) {
				assert_in_range(run.count, 1, run.room);
				for (size_t n = 0; n < run.count; n++) {
					assert_true(next_wanted(other, run.only, &record));
					assert_same(&run.records[n], record);
				}
			}
			assert_int_equal(run.count, 0);
			assert_false(next_wanted(other, run.only, &record));
			burin_cursor_close(one);
			burin_cursor_close(other);
		}
}

/* Seeking finds the same records as reading from the beginning. */
static void test_seek(void **state)
{
	struct burin_cursor *cursor = open_cursor(0, 0, 0, 0), *walk;
	const struct burin_record *record;
	uint64_t *times = calloc(written, sizeof(*times)), begin, end;
	size_t count = 0;

	(void)state;
	walk = open_cursor(0, 0, 0, 0);
	while (burin_cursor_next(walk, &record) > 0)
		times[count++] = record->time;
	burin_cursor_close(walk);
	assert_int_equal(count, written);
	assert_int_equal(burin_trace_range(trace, &begin, &end), 0);
	assert_int_equal(times[0], begin);
	assert_int_equal(times[count - 1], end);
	srand(1);
	for (unsigned round = 0; round < 500; round++) {
		uint64_t time = round % 2 ? times[(size_t)rand() % count] + (unsigned)rand() % 3 - 1
					  : begin + (uint64_t)rand() * 64 % (end - begin);
		size_t at = 0;

		while (at < count && times[at] < time)
			at++;
		assert_int_equal(burin_cursor_seek(cursor, time), 0);
		for (unsigned more = 0; more < 5 && at < count; more++, at++) {
			assert_int_equal(burin_cursor_next(cursor, &record), 1);
			assert_int_equal(record->time, times[at]);
		}
	}
	assert_int_equal(burin_cursor_seek(cursor, end + 1), 0);
	assert_int_equal(burin_cursor_next(cursor, &record), 0);
	burin_cursor_close(cursor);
	free(times);
}

static void test_spans_add_up(void **state)
{
	uint64_t begin, end, sum = 0;

	(void)state;
	burin_trace_range(trace, &begin, &end);
	for (uint64_t from = begin; from <= end;) {
		uint64_t to = from + (from < begin + 40000 ? 977 : (uint64_t)3 << 30);

		sum += count_rest(open_cursor(0, 0, from, to), from, to);
		from = to;
	}
	assert_int_equal(sum, written);
}

/* The first record of an event. */
static const struct burin_record *find(struct burin_cursor *cursor, const char *name)
{
	const struct burin_record *record;

	while (burin_cursor_next(cursor, &record) > 0) {
		if (!strcmp(record->event->name, name))
			return record;
	}
	fail_msg("no record of %s", name);
	return NULL;
}

static int64_t signed_field(const struct burin_record *record, const char *name)
{
	int field = burin_event_find(record->event, name);
	int64_t value = 0;

	assert_true(field >= 0);
	assert_int_equal(burin_record_i64(record, (unsigned)field, &value), 0);
	return value;
}

static void test_integers(void **state)
{
	struct burin_cursor *cursor = open_cursor(0, 0, 0, 0);
	const struct burin_record *record = find(cursor, "types.integers");
	int64_t number;
	uint64_t bits;
	double value;

	(void)state;
	assert_int_equal(record->event->fields, 9);
	assert_int_equal(signed_field(record, "i8"), -8);
	assert_int_equal(signed_field(record, "i16"), -16);
	assert_int_equal(signed_field(record, "i32"), -32);
	assert_int_equal(signed_field(record, "i64"), -64);
	assert_int_equal(signed_field(record, "u8"), 200);
	assert_int_equal(signed_field(record, "u16"), 60000);
	assert_int_equal(signed_field(record, "u32"), 4000000000);
	assert_int_equal(signed_field(record, "flag"), 1);
	assert_int_equal(burin_event_find(record->event, "nothing"), -ENOENT);
	assert_int_equal(burin_record_i64(record, 7, &number), -ERANGE);
	assert_int_equal(burin_record_u64(record, 7, &bits), 0);
	assert_true(bits == UINT64_MAX);
	assert_int_equal(burin_record_u64(record, 0, &bits), -ERANGE);
	assert_int_equal(burin_record_double(record, 0, &value), 0);
	assert_true(value == -8.0);
	assert_int_equal(burin_record_i64(record, 9, &number), -ENOENT);
	assert_int_equal(burin_record_string(record, 0, &(const char *){ NULL }, NULL), -EINVAL);
	burin_cursor_close(cursor);
}

static void test_other_types(void **state)
{
	struct burin_cursor *cursor = open_cursor(0, 0, 0, 0);
	const struct burin_record *record = find(cursor, "types.others");
	const char *text;
	const void *data;
	size_t bytes;
	uint64_t bits;
	double value;

	(void)state;
	assert_int_equal(burin_record_double(record, 0, &value), 0);
	assert_true(value == 0.5);
	assert_int_equal(burin_record_double(record, 1, &value), 0);
	assert_true(value == 3.14159);
	assert_int_equal(burin_record_u64(record, 2, &bits), 0);
	assert_true(bits == 0xffff888000001234);
	assert_int_equal(burin_record_string(record, 3, &text, &bytes), 0);
	assert_string_equal(text, "hello");
	assert_int_equal(bytes, 5);
	assert_int_equal(burin_record_bytes(record, 4, &data, &bytes), 0);
	assert_int_equal(bytes, 3);
	assert_memory_equal(data, "\x00\xff\x7f", 3);
	assert_int_equal(burin_record_u64(record, 5, &bits), 0);
	assert_int_equal(bits, 'z');
	assert_int_equal(burin_record_i64(record, 3, &(int64_t){ 0 }), -EINVAL);
	record = find(cursor, "types.others");
	assert_int_equal(burin_record_string(record, 3, &text, &bytes), 0);
	assert_string_equal(text, WIRE_NULL);
	assert_int_equal(burin_record_bytes(record, 4, &data, &bytes), 0);
	assert_int_equal(bytes, 0);
	burin_cursor_close(cursor);
}

static void test_event_table(void **state)
{
	const struct burin_event *event = burin_trace_event(trace, 1);

	(void)state;
	assert_int_equal(burin_trace_events(trace), 9);
	assert_string_equal(event->name, "app.tick");
	assert_string_equal(event->file, "app.c");
	assert_int_equal(event->line, 1);
	assert_int_equal(event->refused, 3);
	assert_string_equal(event->refused_file, "other.c");
	assert_int_equal(event->refused_line, 77);
	assert_string_equal(burin_event_field(event, 1)->name, "j");
	assert_int_equal(burin_event_field(event, 1)->type, BURIN_TYPE_I32);
	assert_null(burin_event_field(event, 2));
	assert_int_equal(burin_trace_event(trace, 3)->kind, BURIN_KIND_BEGIN);
	assert_null(burin_trace_event(trace, 0));
	assert_int_equal(burin_trace_event(trace, 8)->kind, BURIN_KIND_SPAN_BEGIN);
	assert_string_equal(burin_event_field(burin_trace_event(trace, 8), 0)->name, "span_id");
	assert_int_equal(burin_trace_event(trace, 9)->kind, BURIN_KIND_SPAN_END);
	assert_null(burin_trace_event(trace, 10));
	assert_null(burin_trace_event(trace, UINT32_MAX));
}

static void test_names(void **state)
{
	const uint64_t begin = 0xfffff000;
	const struct burin_thread *thread;

	(void)state;
	assert_string_equal(burin_trace_thread(trace, 101, begin + 39999)->name, "worker");
	assert_string_equal(burin_trace_thread(trace, 101, begin + 40000)->name, "renamed");
	assert_string_equal(burin_trace_thread(trace, 101, UINT64_MAX)->name, "renamed");
	thread = burin_trace_thread(trace, 200, 0); /* announced later than its record */
	assert_string_equal(thread->name, "child");
	assert_int_equal(thread->pid, 200);
	assert_string_equal(thread->process->command, "child");
	assert_int_equal(thread->process->parent, 100);
	assert_null(burin_trace_thread(trace, 999, begin));
	assert_null(burin_trace_process(trace, 1, begin));
	assert_string_equal(burin_trace_process(trace, 100, begin)->exe, "/bin/demo");
	assert_int_equal(burin_trace_thread_at(trace, 3)->tid, 200);
	assert_null(burin_trace_thread_at(trace, 4));
	assert_null(burin_trace_process_at(trace, 2));
}

static void test_losses(void **state)
{
	(void)state;
	assert_int_equal(burin_trace_lost(trace, BURIN_LOST_FULL), 12);
	assert_int_equal(burin_trace_lost(trace, BURIN_LOST_OVERWRITTEN), 77);
	assert_int_equal(burin_trace_lost(trace, BURIN_LOST_BUSY), 5);
	assert_int_equal(burin_trace_lost(trace, BURIN_LOST_SIZE), 1);
	assert_int_equal(burin_trace_lost(trace, BURIN_LOST_UNREAD), 0);
	assert_int_equal(burin_trace_lost(trace, 99), 0);
	assert_int_equal(burin_trace_ring(trace, 1)->lost[BURIN_LOST_OVERWRITTEN], 77);
}

static void test_recording_and_clock(void **state)
{
	const char *key, *value;

	(void)state;
	assert_string_equal(burin_trace_recording(trace, "state"), "finished");
	assert_string_equal(burin_trace_recording(trace, "command"), "./demo");
	assert_null(burin_trace_recording(trace, "nothing"));
	assert_int_equal(burin_trace_recording_at(trace, 0, &key, &value), 0);
	assert_string_equal(key, "state");
	assert_int_equal(burin_trace_recording_at(trace, 1000, &key, &value), -ENOENT);
	/* 2.6 GHz, from 1700000000 s */
	assert_true(burin_trace_ns(trace, 0) == 1700000000000000000);
	assert_true(burin_trace_ns(trace, 2600000000) == 1700000001000000000);
	assert_true(burin_trace_ns(trace, 13) == 1700000000000000005);
	assert_true(burin_trace_ns(trace, 12) == 1700000000000000004);
	assert_true(burin_trace_ns(trace, UINT64_MAX) == 1700000000000000000 + 7094901566811366005);
	assert_true(burin_trace_ticks(trace, 1700000000000000005) == 13);
	assert_true(burin_trace_ticks(trace, 1700000000000000004) == 11);
	assert_true(burin_trace_ticks(trace, 0) == 0);
	assert_true(burin_trace_ticks(trace, INT64_MIN) == 0);
	for (uint64_t ticks = 1; ticks < UINT64_MAX / 7; ticks = ticks * 3 + 1)
		assert_true(burin_trace_ticks(trace, burin_trace_ns(trace, ticks)) <= ticks);
}

/* Nanoseconds are exact for every rate: a division is two multiplications. */
static void test_clocks(void **state)
{
	static const uint64_t rates[] = {
		1,	    3,		1000,		1000000000,	999999999,
		2096003000, 2600000000, 18446744073ull, 18446744074ull, UINT64_MAX
	};
	struct burin_trace other = *trace;

	(void)state;
	for (size_t n = 0; n < sizeof(rates) / sizeof(*rates); n++) {
		other.clock = (struct read_clock){ .hz = rates[n], .inverse = UINT64_MAX / rates[n] };
		for (uint64_t seed = 1, turn = 0; turn < 100000;
		     turn++, seed = seed * 6364136223846793005 + 1) {
			const uint64_t ticks =
				turn % 3 ? seed >> turn % 64 : seed / rates[n] * rates[n] - turn % 2;
			const unsigned __int128 ns =
				(unsigned __int128)(ticks / rates[n]) * 1000000000 +
				(unsigned __int128)(ticks % rates[n]) * 1000000000 / rates[n];

			assert_true(burin_trace_ns(&other, ticks) ==
				    (ns > INT64_MAX ? INT64_MAX : (int64_t)ns));
		}
	}
}

static void test_options_of_another_version(void **state)
{
	const struct burin_cursor_options options = { .size = 3 };
	const struct burin_open_options open = { .size = 3 }, older = { .size = sizeof(size_t) };
	struct {
		struct burin_cursor_options known;
		uint64_t more;
	} newer = { .known = { .size = sizeof(newer) } };
	struct burin_cursor *cursor;
	struct burin_trace *other;
	struct burin_diagnosis why;

	(void)state;
	assert_int_equal(burin_cursor_open(&cursor, trace, &options), -EINVAL);
	assert_int_equal(burin_trace_open(&other, path, &open, &why), -EINVAL);
	/* A caller that was built with a larger struct, and one that was built with a smaller one. */
	assert_int_equal(burin_cursor_open(&cursor, trace, &newer.known), 0);
	burin_cursor_close(cursor);
	newer.more = 1;
	assert_int_equal(burin_cursor_open(&cursor, trace, &newer.known), -EINVAL);
	assert_int_equal(burin_trace_open(&other, path, &older, &why), 0);
	burin_trace_close(other);
	assert_int_equal(burin_trace_open(&other, "/nonexistent", NULL, &why), -ENOENT);
	assert_int_equal(why.code, -ENOENT);
	assert_int_equal(burin_trace_open(&other, "/dev/null", NULL, &why), -ENOTDIR);
	assert_int_equal(burin_trace_open(&other, directory, NULL, &why), BURIN_FAULT_NOT_A_TRACE);
	assert_non_null(strstr(why.reason, "not a trace"));
	assert_null(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_record_once),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_spans_add_up),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_other_types),
		cmocka_unit_test(test_event_table),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_recording_and_clock),
		cmocka_unit_test(test_options_of_another_version),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cursor", tests, setup, teardown);
}
