/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace can be opened at any time while it is written (promise P4). One process writes it as docs/format.md prescribes,
 * this one opens it again and again. Each time there must be no fault, at least as many records as before, each as it
 * was written, and no gap; and check must find no fault. A broken writer, which announces records before it writes them,
 * must be detected.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "burin/read.h"
#include "synth.h"
#include "wire/wire_event.h"
#include "wire/wire_record.h"

enum {
	FILE_BYTES = 1 << 16,
	PACKET_RECORDS = 100,
	RECORD = 24,
	PACKET_BYTES = (int)sizeof(struct wire_packet) + PACKET_RECORDS * RECORD,
	SECONDS = 2,
};

static char directory[512], path[600];

static int setup(void **state)
{
	const struct synth_options options = { .state = "recording", .cpus = 1 };
	struct synth *synth;

	(void)state;
	synth_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/trace", directory);
	synth = synth_new(path, &options);
	synth_event(synth, "a.b", "n=%lu", WIRE_U64, WIRE_KIND_EVENT, "a.c", 1);
	synth_thread(synth, 1, 1, 1, "t");
	synth_finish(synth);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	synth_remove(directory);
	return 0;
}

/* ---- The writer ---- */

struct writer {
	unsigned char *bytes; /* of the current file */
	unsigned files;
	uint64_t offset; /* of the current packet */
	uint64_t sequence, records;
	bool broken;
};

static struct wire_packet *packet_of(const struct writer *writer)
{
	return (struct wire_packet *)(writer->bytes + writer->offset);
}

static void put_packet(struct writer *writer, struct wire_packet *packet)
{
	static const uint8_t uuid[16] = { 0x12, 0x34, 0x56, 0x78, 0x12, 0x34, 0x46, 0x78,
					  0x92, 0x34, 0x56, 0x78, 0x12, 0x34, 0x56, 0x78 };

	*packet = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.time_begin = 1000 + writer->records,
		.time_end = 1000 + writer->records,
		.content_bits = 8 * sizeof(*packet),
		.packet_bits = 8 * (FILE_BYTES - writer->offset),
		.sequence = writer->sequence++,
		.events_before = writer->records,
		.base_time = 1000 + writer->records,
	};
	memcpy(packet->uuid, uuid, sizeof(uuid));
}

static void next_file(struct writer *writer)
{
	char hidden[700], name[700];
	int file;

	snprintf(hidden, sizeof(hidden), "%s/.new", path);
	if (writer->files)
		snprintf(name, sizeof(name), "%s/cpu0.%u", path, writer->files);
	else
		snprintf(name, sizeof(name), "%s/cpu0", path);
	writer->files++;
	file = open(hidden, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || ftruncate(file, FILE_BYTES))
		_exit(1);
	if (writer->bytes)
		munmap(writer->bytes, FILE_BYTES);
	writer->bytes = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (writer->bytes == MAP_FAILED)
		_exit(1);
	writer->offset = 0;
	put_packet(writer, packet_of(writer));
	if (rename(hidden, name))
		_exit(1);
}

static void next_packet(struct writer *writer)
{
	struct wire_packet *last = packet_of(writer);

	if (writer->offset + 2 * PACKET_BYTES > FILE_BYTES) {
		next_file(writer);
		return;
	}
	writer->offset += PACKET_BYTES;
	put_packet(writer, packet_of(writer));
	__atomic_store_n(&last->packet_bits, 8 * (uint64_t)PACKET_BYTES, __ATOMIC_RELEASE);
}

static void pause_a_little(void)
{
	for (volatile int turn = 0; turn < 20000; turn++)
		;
}

static void write_record(struct writer *writer, unsigned number)
{
	struct wire_packet *packet = packet_of(writer);
	unsigned char *at = (unsigned char *)(packet + 1) + number * RECORD;
	struct wire_compact header = { 1, 20, (uint32_t)(1000 + writer->records), 1 };
	uint64_t content = 8 * (sizeof(*packet) + number * RECORD + 20);

	if (writer->broken) {
		__atomic_store_n(&packet->content_bits, content, __ATOMIC_RELEASE);
		pause_a_little();
	}
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), &writer->records, 8);
	packet->time_end = 1000 + writer->records;
	__atomic_store_n(&packet->content_bits, content, __ATOMIC_RELEASE);
	writer->records++;
}

static void write_for_ever(bool broken)
{
	struct writer writer = { .broken = broken };

	next_file(&writer);
	for (;;) {
		for (unsigned n = 0; n < PACKET_RECORDS; n++) {
			write_record(&writer, n);
			if (writer.records % 7 == 0)
				pause_a_little();
		}
		next_packet(&writer);
	}
}

static pid_t start_writer(bool broken)
{
	pid_t writer = fork();

	assert_true(writer >= 0);
	if (!writer) {
		alarm(600);
		write_for_ever(broken);
	}
	return writer;
}

/* ---- The reader ---- */

/* Opens the trace once; returns how many records it has, or -1 at any fault or gap. */
static int64_t read_once(int64_t at_least)
{
	struct burin_trace *trace;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	int64_t count = 0;

	if (burin_trace_open(&trace, path, NULL, NULL))
		return -1;
	assert_int_equal(burin_cursor_open(&cursor, trace, NULL), 0);
	while (burin_cursor_next(cursor, &record) > 0) {
		uint64_t number = 0;

		burin_record_u64(record, 0, &number);
		if (number != (uint64_t)count || record->time != 1000 + number)
			break;
		count++;
	}
	if (burin_trace_faults(trace) || record || count < at_least)
		count = -1;
	burin_cursor_close(cursor);
	burin_trace_close(trace);
	return count;
}

static bool check_once(void)
{
	struct burin_check_result result;

	return !burin_trace_check(path, NULL, &result, NULL) && !result.faults && result.unfinished;
}

static void test_opens_at_every_instant(void **state)
{
	pid_t writer = start_writer(false);
	time_t end = time(NULL) + SECONDS;
	int64_t records = 0, opened = 0;

	(void)state;
	while (time(NULL) < end && records >= 0) {
		records = read_once(records);
		opened++;
		if (opened % 8 == 0 && !check_once())
			records = -1;
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	assert_true(records > 1000);
	assert_true(read_once(records) >= records); /* also after the writer was killed */
	assert_true(check_once());
}

static void test_broken_writer_is_caught(void **state)
{
	pid_t writer = start_writer(true);
	time_t end = time(NULL) + 30;
	bool caught = false;

	(void)state;
	while (time(NULL) < end && !caught)
		caught = read_once(0) < 0 || !check_once();
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	assert_true(caught);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_opens_at_every_instant, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_writer_is_caught, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
