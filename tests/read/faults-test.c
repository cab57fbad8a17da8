/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Damage of a known kind at a known offset. Reading and check must report the right fault with this offset, and reading
 * must continue after it without needless losses.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "burin/read.h"
#include "synth.h"
#include "wire/wire_event.h"
#include "wire/wire_record.h"

enum {
	PACKETS = 10,
	PER_PACKET = 20, /* records of 24 bytes */
	RECORD = 24,
	PACKET = sizeof(struct wire_packet) + PER_PACKET * RECORD,
	TOTAL = PACKETS * PER_PACKET,
};

static char directory[512], path[600];

/* Ten packets of twenty records each, in one file. */
static int setup(void **state)
{
	const struct synth_options options = { .packet_bytes = 4096, .packets_per_file = 100, .cpus = 1 };
	struct synth *synth;
	struct synth_ring *ring;
	uint32_t id;

	(void)state;
	synth_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/trace", directory);
	synth = synth_new(path, &options);
	id = synth_event(synth, "a.b", "i=%d on=%d s=%s", 0xd14, WIRE_KIND_EVENT, "a.c", 1);
	ring = synth_ring(synth, 0, false);
	synth_thread(synth, 1000, 1, 1, "t");
	for (uint32_t n = 0; n < TOTAL; n++) {
		synth_recordf(ring, 1000 + 10 * n, id, 1, "dbs", n, 1, "abcdef"); /* 12 + 4 + 1 + 7 = 24 */
		if (n % PER_PACKET == PER_PACKET - 1)
			synth_close_packet(ring, 0, 0);
	}
	synth_finish(synth);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	synth_remove(directory);
	return 0;
}

static const char *in_trace(const char *name)
{
	static char full[1024];

	snprintf(full, sizeof(full), "%s/%s", path, name);
	return full;
}

static void overwrite(const char *name, uint64_t offset, const void *bytes, size_t count)
{
	int file = open(in_trace(name), O_WRONLY);

	assert_true(file >= 0);
	assert_int_equal(pwrite(file, bytes, count, (off_t)offset), count);
	close(file);
}

static void overwrite64(const char *name, uint64_t offset, uint64_t value)
{
	overwrite(name, offset, &value, sizeof(value));
}

/* The offset of packet n; every other one is as long as its slot. */
static uint64_t packet_at(unsigned n)
{
	return (n + 1) / 2 * 4096 + n / 2 * (uint64_t)PACKET;
}

static uint64_t record_at(unsigned packet, unsigned record)
{
	return packet_at(packet) + sizeof(struct wire_packet) + record * (uint64_t)RECORD;
}

struct found {
	struct burin_diagnosis first;
	uint64_t faults, records;
	struct burin_skipped skipped;
};

static struct found read_all(void)
{
	struct found found = { .records = 0 };
	struct burin_trace *trace;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	uint64_t last = 0;

	assert_int_equal(burin_trace_open(&trace, path, NULL, NULL), 0);
	assert_int_equal(burin_cursor_open(&cursor, trace, NULL), 0);
	while (burin_cursor_next(cursor, &record) > 0) {
		int64_t number = -1;

		assert_int_equal(burin_record_i64(record, 0, &number), 0);
		assert_int_equal(record->time, 1000 + 10 * (uint64_t)number); /* as written, or not at all */
		assert_true(record->time > last);
		last = record->time;
		found.records++;
	}
	/* Again: the same faults must not be reported twice. */
	found.faults = burin_trace_faults(trace);
	assert_int_equal(burin_cursor_seek(cursor, 0), 0);
	while (burin_cursor_next(cursor, &record) > 0)
		;
	assert_int_equal(burin_trace_faults(trace), found.faults);
	burin_trace_fault(trace, 0, &found.first);
	burin_trace_skipped(trace, &found.skipped);
	burin_cursor_close(cursor);
	burin_trace_close(trace);
	return found;
}

static void remember_first(void *data, const struct burin_diagnosis *fault)
{
	struct burin_diagnosis *first = data;

	if (!first->code)
		*first = *fault;
}

/* Check reports at least one fault; the first of them. */
static struct burin_diagnosis check_first(void)
{
	struct burin_diagnosis first = { .code = 0 };
	const struct burin_check_options options = { sizeof(options), remember_first, &first, 0 };
	struct burin_check_result result;

	assert_int_equal(burin_trace_check(path, &options, &result, NULL), 0);
	assert_true((result.faults != 0) == (first.code != 0));
	return first;
}

static void expect(const struct burin_diagnosis *fault, int code, const char *file, uint64_t offset)
{
	if (fault->code != code || strcmp(fault->file, file) != 0 || fault->offset != offset)
		fail_msg("found %s in %s at %llu (%s); wanted %s in %s at %llu",
			 burin_fault_name(fault->code), fault->file, (unsigned long long)fault->offset,
			 fault->reason, burin_fault_name(code), file, (unsigned long long)offset);
}

/* Reading and check report the fault at this offset, and so many records are still read. */
static void expect_everywhere(int code, const char *file, uint64_t offset, uint64_t records)
{
	struct found found = read_all();
	struct burin_diagnosis first = check_first();

	expect(&found.first, code, file, offset);
	expect(&first, code, file, offset);
	assert_int_equal(found.records, records);
}

/* Reading works; only check reports the fault. */
static void expect_check_only(int code, const char *file, uint64_t offset)
{
	struct burin_diagnosis first = check_first();
	struct found found = read_all();

	assert_int_equal(found.faults, 0);
	assert_int_equal(found.records, TOTAL);
	expect(&first, code, file, offset);
}

static void test_sound(void **state)
{
	struct found found = read_all();

	(void)state;
	assert_int_equal(found.faults, 0);
	assert_int_equal(found.records, TOTAL);
	assert_int_equal(check_first().code, 0);
}

static void test_record_id(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 5), &(uint16_t){ 0 }, 2);
	expect_everywhere(BURIN_FAULT_RECORD, "cpu0", record_at(3, 5), TOTAL - 15);
	assert_int_equal(read_all().skipped.packets, 1);
}

static void test_record_length(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 5) + 2, &(uint16_t){ 11 }, 2);
	expect_everywhere(BURIN_FAULT_RECORD, "cpu0", record_at(3, 5), TOTAL - 15);
	overwrite("cpu0", record_at(3, 5) + 2, &(uint16_t){ 60000 }, 2);
	expect_everywhere(BURIN_FAULT_RECORD, "cpu0", record_at(3, 5), TOTAL - 15);
}

static void test_unknown_event(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 5), &(uint16_t){ 9 }, 2);
	expect_everywhere(BURIN_FAULT_EVENT, "cpu0", record_at(3, 5), TOTAL - 1);
	assert_int_equal(read_all().skipped.records, 1);
}

static void test_string_without_end(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 5) + 23, "x", 1);
	expect_everywhere(BURIN_FAULT_PAYLOAD, "cpu0", record_at(3, 5), TOTAL - 1);
}

static void test_string_too_short(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 5) + 20, "", 1);
	expect_everywhere(BURIN_FAULT_PAYLOAD, "cpu0", record_at(3, 5), TOTAL - 1);
}

static void test_time_beyond_packet(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 19) + 4, &(uint32_t){ 1000000 }, 4);
	expect_everywhere(BURIN_FAULT_TIME, "cpu0", record_at(3, 19), TOTAL - 1);
}

static void test_bool(void **state)
{
	(void)state;
	overwrite("cpu0", record_at(3, 5) + 16, "\x02", 1);
	expect_check_only(BURIN_FAULT_PAYLOAD, "cpu0", record_at(3, 5) + 16);
}

static void test_padding(void **state)
{
	(void)state;
	overwrite("cpu0", packet_at(2) + PACKET + 100, "x", 1); /* an even packet fills its slot */
	expect_check_only(BURIN_FAULT_PADDING, "cpu0", packet_at(2) + PACKET + 100);
}

static void test_magic(void **state)
{
	(void)state;
	overwrite("cpu0", packet_at(4), "x", 1);
	expect_everywhere(BURIN_FAULT_HEADER, "cpu0", packet_at(4), TOTAL - PER_PACKET);
}

static void test_uuid(void **state)
{
	(void)state;
	overwrite("cpu0", packet_at(4) + 4, "xyz", 3);
	expect_everywhere(BURIN_FAULT_HEADER, "cpu0", packet_at(4), TOTAL - PER_PACKET);
}

static void test_stream_ids(void **state)
{
	(void)state;
	overwrite("cpu0", packet_at(4) + offsetof(struct wire_packet, stream_id), "\1", 1);
	expect_everywhere(BURIN_FAULT_HEADER, "cpu0", packet_at(4), TOTAL - PER_PACKET);
	overwrite("cpu0", packet_at(4) + offsetof(struct wire_packet, stream_id), "\0\0\0\0\1", 5);
	expect_everywhere(BURIN_FAULT_HEADER, "cpu0", packet_at(4), TOTAL - PER_PACKET);
}

static void test_packet_size(void **state)
{
	(void)state;
	/* What is in the packet can be read, and the next is found by its magic. */
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, packet_bits), 3);
	expect_everywhere(BURIN_FAULT_SIZE, "cpu0", packet_at(4), TOTAL);
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, packet_bits), UINT64_MAX - 63);
	expect_everywhere(BURIN_FAULT_SIZE, "cpu0", packet_at(4), TOTAL);
}

static void test_content_size(void **state)
{
	(void)state;
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, content_bits),
		    8 * sizeof(struct wire_packet) - 8);
	expect_everywhere(BURIN_FAULT_SIZE, "cpu0", packet_at(4), TOTAL - PER_PACKET);
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, content_bits), (uint64_t)1 << 40);
	expect_everywhere(BURIN_FAULT_SIZE, "cpu0", packet_at(4), TOTAL - PER_PACKET);
}

static void test_sequence(void **state)
{
	(void)state;
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, sequence),
		    1000000); /* must not invalidate the packets after it */
	expect_everywhere(BURIN_FAULT_ORDER, "cpu0", packet_at(4), TOTAL - PER_PACKET);
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, sequence), 0);
	expect_everywhere(BURIN_FAULT_ORDER, "cpu0", packet_at(4), TOTAL - PER_PACKET);
}

static void test_time_begin(void **state)
{
	(void)state;
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, time_begin), 0);
	expect_everywhere(BURIN_FAULT_TIME, "cpu0", packet_at(4), TOTAL - PER_PACKET);
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, time_begin), UINT64_MAX);
	expect_everywhere(BURIN_FAULT_TIME, "cpu0", packet_at(4), TOTAL - PER_PACKET);
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, time_end),
		    UINT64_MAX); /* and the end too: far later than the others */
	expect_everywhere(BURIN_FAULT_TIME, "cpu0", packet_at(4), TOTAL - PER_PACKET);
}

static void test_time_end(void **state)
{
	(void)state;
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, time_end), UINT64_MAX);
	expect_everywhere(BURIN_FAULT_TIME, "cpu0", packet_at(4), TOTAL);
}

static void test_counts(void **state)
{
	(void)state;
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, discarded), 1);
	expect_check_only(BURIN_FAULT_COUNT, "cpu0", packet_at(4));
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, discarded), 0);
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, events_before),
		    4 * PER_PACKET + 1); /* one is missing and was not counted */
	expect_check_only(BURIN_FAULT_COUNT, "cpu0", packet_at(4));
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, events_before), 4 * PER_PACKET - 1);
	expect_check_only(BURIN_FAULT_COUNT, "cpu0", packet_at(4));
}

static void test_reserved(void **state)
{
	(void)state;
	overwrite("cpu0", packet_at(4) + 110, "x", 1);
	expect_check_only(BURIN_FAULT_PADDING, "cpu0", packet_at(4));
	overwrite("cpu0", packet_at(4) + 110, "", 1);
	overwrite("cpu0", packet_at(4) + 183, "x", 1);
	expect_check_only(BURIN_FAULT_PADDING, "cpu0", packet_at(4));
}

static void test_base(void **state)
{
	(void)state;
	overwrite64("cpu0", packet_at(4) + offsetof(struct wire_packet, base_time), 5000);
	expect_check_only(BURIN_FAULT_TIME, "cpu0", record_at(4, 0));
	overwrite("cpu0", packet_at(4) + offsetof(struct wire_packet, base_offset),
		  &(uint32_t){ sizeof(struct wire_packet) + RECORD }, 4);
	expect_check_only(BURIN_FAULT_TIME, "cpu0", record_at(4, 1));
}

/* Truncation at any offset: all complete records are read. */
static void test_truncated(void **state)
{
	(void)state;
	for (uint64_t size = packet_at(PACKETS - 1) + PACKET; size-- > packet_at(7);) {
		uint64_t packet = 7 + (size >= packet_at(8)) + (size >= packet_at(9)), whole = 0;
		struct found found;

		assert_int_equal(truncate(in_trace("cpu0"), (off_t)size), 0);
		if (size % 5)
			continue;
		if (size >= record_at((unsigned)packet, 0))
			whole = (size - record_at((unsigned)packet, 0)) / RECORD;
		if (whole > PER_PACKET)
			whole = PER_PACKET;
		found = read_all();
		assert_int_equal(found.records, packet * PER_PACKET + whole);
		/* Truncated between two packets, it is a shorter, valid trace. */
		assert_true(found.faults || size == packet_at((unsigned)packet));
	}
}

static void test_missing_file(void **state)
{
	char from[1100], to[1100];
	struct burin_diagnosis first;

	(void)state;
	snprintf(from, sizeof(from), "%s", in_trace("cpu0"));
	snprintf(to, sizeof(to), "%s", in_trace("cpu0.2"));
	assert_int_equal(rename(from, to), 0);
	expect_everywhere(BURIN_FAULT_FILE, "cpu0.2", 0, TOTAL);
	snprintf(from, sizeof(from), "%s", in_trace("cpu0"));
	assert_int_equal(rename(to, from), 0);
	snprintf(to, sizeof(to), "%s", in_trace("strange"));
	assert_int_equal(mkfifo(to, 0600), 0);
	first = check_first();
	expect(&first, BURIN_FAULT_FILE, "strange", 0);
}

static void test_pipe_for_a_stream(void **state)
{
	(void)state;
	assert_int_equal(unlink(in_trace("cpu0")), 0);
	assert_int_equal(mkfifo(in_trace("cpu0"), 0600), 0);
	expect_everywhere(BURIN_FAULT_FILE, "cpu0", 0, 0);
}

static void test_twice(void **state)
{
	char command[2048];

	(void)state;
	snprintf(command, sizeof(command), "cp %s/cpu0 %s/cpu0.1", path, path);
	assert_int_equal(system(command), 0);
	expect_everywhere(BURIN_FAULT_ORDER, "cpu0.1", 0, TOTAL); /* no record is read twice */
}

static void test_event_table(void **state)
{
	const uint64_t entry = sizeof(struct wire_events);

	(void)state;
	overwrite(".burin/events", entry + 8, "\xff\xff\xff\xff", 4);
	expect_everywhere(BURIN_FAULT_EVENTS, ".burin/events", entry, 0);
	assert_int_equal(truncate(in_trace(".burin/events"), 10), 0);
	expect_everywhere(BURIN_FAULT_EVENTS, ".burin/events", 0, 0);
	assert_int_equal(unlink(in_trace(".burin/events")), 0);
	expect_everywhere(BURIN_FAULT_EVENTS, ".burin/events", 0, 0);
}

/* With an invalid format, the fields can still be read. */
static void test_event_format(void **state)
{
	(void)state;
	overwrite(".burin/events", sizeof(struct wire_events) + 12, "\0\0\0", 4);
	expect_everywhere(BURIN_FAULT_EVENTS, ".burin/events", sizeof(struct wire_events), TOTAL);
}

/* Of another kind, the same records can still be read. */
static void test_event_kind(void **state)
{
	const uint64_t kind = sizeof(struct wire_events) + offsetof(struct wire_event, kind);

	(void)state;
	for (unsigned value = WIRE_KIND_BEGIN; value < UINT8_MAX; value++) {
		struct found found;

		overwrite(".burin/events", kind, &(uint8_t){ (uint8_t)value }, 1);
		found = read_all();
		assert_int_equal(found.records, TOTAL);
		if (value == WIRE_KIND_COUNTER)
			assert_int_equal(found.faults, 0);
		else
			expect(&found.first, BURIN_FAULT_EVENTS, ".burin/events", sizeof(struct wire_events));
	}
	overwrite(".burin/events", kind, &(uint8_t){ WIRE_KIND_SPAN_END }, 1);
	expect_everywhere(BURIN_FAULT_EVENTS, ".burin/events", sizeof(struct wire_events), TOTAL);
}

/* Spans with an id: what their first fields must be. Readers that see the kind see the fields. */
static void test_span_ids(void **state)
{
	static const struct {
		const char *name, *format, *pattern;
		uint64_t types;
		bool sound;
	} events[] = {
		{ "a.begin", "span_id=%#llx", "q", 0x9, true },
		{ "b.begin", "span_id=%llu n=%d", "qd", 0x49, true },
		{ "c.begin", "span_id_high=%#llx span_id=%#llx s=%s", "qqs", 0xd99, true },
		{ "none.begin", "", "", 0, false },
		{ "other.begin", "n=%llu", "q", 0x9, false },
		{ "later.begin", "n=%llu span_id=%#llx", "qq", 0x99, false },
		{ "half.begin", "span_id_high=%#llx", "q", 0x9, false },
		{ "swapped.begin", "span_id_high=%#llx n=%d span_id=%llx", "qdq", 0x949, false },
		{ "narrow.begin", "span_id=%#x", "d", 0x8, false },
		{ "signed.begin", "span_id=%lld", "q", 0x5, false },
		{ "text.begin", "span_id=%s", "s", 0xd, false },
		{ "low.begin", "span_id_high=%#llx span_id=%#x", "qd", 0x89, false },
		{ "real.begin", "span_id=%g", "g", 0xb, false },
		{ "array.begin", "span_id=%llx", "x", 0x90, false },
		{ "unread.begin", "span_id=%!", "q", 0x9, false },
		{ "a.ends", "span_id=%#llx", "q", 0x9, false },
	};
	const unsigned count = sizeof(events) / sizeof(events[0]);
	const struct synth_options options = { .cpus = 1 };
	struct burin_trace *trace;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	unsigned faults = 0, records = 0;
	struct synth *synth;
	struct synth_ring *ring;
	char other[600];

	(void)state;
	snprintf(other, sizeof(other), "%s/spans", directory);
	synth = synth_new(other, &options);
	ring = synth_ring(synth, 0, false);
	for (unsigned n = 0; n < count; n++) {
		const uint32_t id = synth_event(synth, events[n].name, events[n].format, events[n].types,
						WIRE_KIND_SPAN_BEGIN, "a.c", n + 1);

		if (!strcmp(events[n].pattern, "qqs"))
			synth_recordf(ring, 1000 + n, id, 1, "qqs", UINT64_C(1), UINT64_C(2), "text");
		else if (!strcmp(events[n].pattern, "q"))
			synth_recordf(ring, 1000 + n, id, 1, "q", UINT64_C(7));
	}
	synth_finish(synth);
	assert_int_equal(burin_trace_open(&trace, other, NULL, NULL), 0);
	for (unsigned n = 0; n < count; n++) {
		const struct burin_event *event = burin_trace_event(trace, n + 1);
		const bool span = events[n].sound || !strcmp(events[n].name, "a.ends");

		if (event->kind != (span ? BURIN_KIND_SPAN_BEGIN : BURIN_KIND_EVENT))
			fail_msg("%s has kind %u", event->name, event->kind);
		faults += !events[n].sound;
	}
	/* A fault of an entry is reported once: for the format that cannot be read, too. */
	assert_int_equal(burin_trace_faults(trace), faults);
	assert_int_equal(burin_cursor_open(&cursor, trace, NULL), 0);
	while (burin_cursor_next(cursor, &record) > 0) {
		uint64_t number = 0;

		assert_int_equal(record->event->line, record->time - 999);
		records++;
		if (record->event->line <= 2) {
			assert_int_equal(burin_record_u64(record, 0, &number), 0);
			assert_int_equal(number, 7);
		}
	}
	assert_int_equal(records, 7);
	burin_cursor_close(cursor);
	burin_trace_close(trace);
}

static void test_recording(void **state)
{
	(void)state;
	overwrite(".burin/recording", 0, "x", 1);
	expect_everywhere(BURIN_FAULT_RECORDING, ".burin/recording", 0, TOTAL);
	assert_int_equal(unlink(in_trace(".burin/recording")), 0);
	expect_everywhere(BURIN_FAULT_RECORDING, ".burin/recording", 0, TOTAL);
}

static void test_metadata(void **state)
{
	(void)state;
	overwrite("metadata", 0, "x", 1);
	expect_check_only(BURIN_FAULT_METADATA, "metadata", 0);
	assert_int_equal(unlink(in_trace("metadata")), 0);
	expect_check_only(BURIN_FAULT_METADATA, "metadata", 0);
}

/* A file that shrinks while it is read is a fault and not a SIGBUS. */
static void test_shrinks_while_read(void **state)
{
	struct burin_trace *trace;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_diagnosis fault;
	uint64_t count = 0;

	(void)state;
	assert_int_equal(burin_trace_open(&trace, path, NULL, NULL), 0);
	assert_int_equal(burin_cursor_open(&cursor, trace, NULL), 0);
	while (burin_cursor_next(cursor, &record) > 0) {
		if (count++ == 2 * PER_PACKET)
			assert_int_equal(truncate(in_trace("cpu0"), 0), 0);
	}
	assert_int_equal(count, 3 * PER_PACKET);
	assert_int_equal(burin_trace_fault(trace, 0, &fault), 0);
	expect(&fault, BURIN_FAULT_CHANGED, "cpu0", packet_at(3));
	burin_cursor_close(cursor);
	burin_trace_close(trace);
}

#define case_of(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		case_of(test_sound),
		case_of(test_record_id),
		case_of(test_record_length),
		case_of(test_unknown_event),
		case_of(test_string_without_end),
		case_of(test_string_too_short),
		case_of(test_time_beyond_packet),
		case_of(test_bool),
		case_of(test_padding),
		case_of(test_magic),
		case_of(test_uuid),
		case_of(test_stream_ids),
		case_of(test_packet_size),
		case_of(test_content_size),
		case_of(test_sequence),
		case_of(test_time_begin),
		case_of(test_time_end),
		case_of(test_counts),
		case_of(test_reserved),
		case_of(test_base),
		case_of(test_truncated),
		case_of(test_missing_file),
		case_of(test_pipe_for_a_stream),
		case_of(test_twice),
		case_of(test_event_table),
		case_of(test_event_format),
		case_of(test_event_kind),
		case_of(test_span_ids),
		case_of(test_recording),
		case_of(test_metadata),
		case_of(test_shrinks_while_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
