/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Buffers of perf events and pages of tracefs, made by hand: each record is in the ring once, with its thread and time, or counted as
 * lost; those of other tracepoints, of 32-bit system calls and before a command's exec are left out.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "base/number.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/in_kernel/kernel_ring.h"
#include "source/kernel/mechanisms/kernel_perf.h"
#include "source/kernel/mechanisms/kernel_tracefs.h"

enum {
	PAGE = 4096,
	DATA = 4 * PAGE, /* of the perf buffer */
	WINDOW = 4,
	ROUNDS = 200,
	COMMAND = 500, /* its thread */
	OTHER = 501,
	EVENT = 321, /* numbers of tracepoints */
	CALL = 322,
	UNKNOWN = 323,
	EXEC = 324,
};

static const char format[] = "name: it\nID: 321\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n";

static const char call_format[] = "name: it\nID: 322\nformat:\n"
				  "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\n"
				  "\tfield:int number;\toffset:16;\tsize:8;\tsigned:0;\n";

static const struct kernel_layout layout = { .rings = -1, .members = -1, .window = WINDOW, .reach = 1 << 30 };
static struct tracepoint described[2];
static uint16_t ids[2] = { 7, 8 };
static const struct kernel_points points = { .points = described, .count = 2, .ids = ids };

static struct kernel_ring *make_ring(void)
{
	struct kernel_ring *ring = calloc(KERNEL_DEPTHS, kernel_ring_bytes(WINDOW));

	assert_non_null(ring);
	assert_true(tracepoint_parse(&described[0], "some", "it", format));
	assert_true(tracepoint_parse(&described[1], "syscalls", "sys_enter_it", call_format));
	described[0].id = EVENT;
	described[1].id = CALL;
	return ring;
}

/* What the open packet has, which is the first one. */
struct seen {
	uint16_t id;
	uint32_t tid, time;
	int number;
};

static unsigned read_ring(const struct kernel_ring *ring, struct seen *seen, unsigned room)
{
	const char *slots = (const char *)ring + KERNEL_SLOTS;
	const uint64_t end = (ring->control.tail >> WIRE_TAIL_COUNT_BITS) * 8;
	unsigned count = 0;

	assert_true(end <= KERNEL_PACKET);
	for (uint64_t at = sizeof(struct wire_packet); at < end; count++) {
		struct wire_compact record;

		memcpy(&record, slots + at, sizeof(record));
		assert_true(count < room);
		seen[count] = (struct seen){ number_load16(slots + at), number_load32(slots + at + 8),
					     number_load32(slots + at + 4), 0 };
		memcpy(&seen[count].number, slots + at + sizeof(record), 4);
		at += wire_stride(number_load16(slots + at + 2));
	}
	assert_int_equal(ring->control.tail & WIRE_TAIL_COUNT_MASK, count);
	return count;
}

/* ---- perf */

struct perf_fixture {
	struct kernel_perf perf;
	struct kernel_perf_buffer buffer;
	struct kernel_ring *ring;
	char *data;
};

static void begin_perf(struct perf_fixture *fixture)
{
	void *memory = mmap(NULL, PAGE + DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	*fixture = (struct perf_fixture){ .ring = make_ring(), .data = (char *)memory + PAGE };
	fixture->buffer = (struct kernel_perf_buffer){ .event = -1, .control = memory, .bytes = DATA };
	fixture->perf.buffers = malloc(sizeof(fixture->buffer));
	fixture->perf.copy = malloc(1 << 16);
	fixture->perf.cpus = 1;
	assert_non_null(fixture->perf.buffers);
	fixture->perf.buffers[0] = fixture->buffer;
	assert_int_equal(kernel_sink_open(&fixture->perf.sink, &points, &layout, (char *)fixture->ring), 0);
}

static void end_perf(struct perf_fixture *fixture)
{
	kernel_perf_close(&fixture->perf);
	free(fixture->ring);
}

/* Bytes behind the head, around the end of the buffer. */
static void put(struct perf_fixture *fixture, const void *bytes, unsigned count)
{
	uint64_t *head = (uint64_t *)&fixture->buffer.control->data_head;

	for (unsigned n = 0; n < count; n++)
		fixture->data[(*head)++ % DATA] = ((const char *)bytes)[n];
}

/* A sample: pid, tid, time, the size of the record, the record, the kind of registers. */
static void put_sample(struct perf_fixture *fixture, unsigned type, uint32_t tid, uint64_t time, int number,
		       uint64_t registers)
{
	const uint32_t raw[] = { 28, type, tid, (uint32_t)number, 0, (uint32_t)number, 0, 0 };
	const struct perf_event_header header = { PERF_RECORD_SAMPLE, 0,
						  (uint16_t)(sizeof(header) + 16 + sizeof(raw) + 8) };

	put(fixture, &header, sizeof(header));
	put(fixture, &(uint32_t){ 499 }, 4);
	put(fixture, &tid, 4);
	put(fixture, &time, 8);
	put(fixture, raw, sizeof(raw));
	put(fixture, &registers, 8);
}

static void put_lost(struct perf_fixture *fixture, uint64_t lost)
{
	const struct perf_event_header header = { PERF_RECORD_LOST, 0, sizeof(header) + 16 };

	put(fixture, &header, sizeof(header));
	put(fixture, &(uint64_t){ 1 }, 8);
	put(fixture, &lost, 8);
}

static void reads_samples(void **state)
{
	struct perf_fixture fixture;
	struct seen seen[4 * ROUNDS];
	unsigned count = 0, lost = 0;

	(void)state;
	begin_perf(&fixture);
	for (int n = 0; n < ROUNDS; n++) { /* several times around the buffer */
		put_sample(&fixture, EVENT, COMMAND, 1000u + (unsigned)n * 10, n, 0);
		put_sample(&fixture, UNKNOWN, COMMAND, 1001u + (unsigned)n * 10, n, 0);
		put_sample(&fixture, CALL, OTHER, 1002u + (unsigned)n * 10, -n,
			   n % 3 ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32);
		put_lost(&fixture, (uint64_t)n % 4);
		lost += (unsigned)n % 4;
		kernel_perf_read(&fixture.perf, n == ROUNDS - 1);
		assert_int_equal(fixture.buffer.control->data_tail, fixture.buffer.control->data_head);
	}
	count = read_ring(fixture.ring, seen, 4 * ROUNDS);
	for (unsigned n = 0, at = 0; n < ROUNDS; n++) {
		assert_true(at < count);
		assert_int_equal(seen[at].id, 7);
		assert_int_equal(seen[at].tid, COMMAND);
		assert_int_equal(seen[at].time, 1000 + n * 10);
		assert_int_equal(seen[at++].number, n);
		if (n % 3 == 0)
			continue; /* of a process of 32 bits */
		assert_int_equal(seen[at].id, 8);
		assert_int_equal(seen[at].tid, OTHER);
		assert_int_equal(seen[at++].number, -(int)n);
	}
	assert_int_equal(count, ROUNDS + ROUNDS - (ROUNDS + 2) / 3);
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], lost);
	end_perf(&fixture);
}

/* A ring without room keeps samples in the buffer; at the end they are lost. */
static void waits_for_room(void **state)
{
	struct perf_fixture fixture;
	uint64_t put_in = 0, kept;

	(void)state;
	begin_perf(&fixture);
	while (fixture.buffer.control->data_head == fixture.buffer.control->data_tail) {
		for (int n = 0; n < 100; n++)
			put_sample(&fixture, EVENT, COMMAND, 1000 + put_in, (int)put_in, 0), put_in++;
		kernel_perf_read(&fixture.perf, false);
	}
	kept = fixture.ring->events + (fixture.ring->control.tail & WIRE_TAIL_COUNT_MASK);
	assert_true(kept > 1000 && kept < put_in);
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], 0);
	kernel_perf_read(&fixture.perf, true);
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], put_in - kept);
	end_perf(&fixture);
}

static void survives_damage(void **state)
{
	struct perf_fixture fixture;

	(void)state;
	srandom(1);
	for (unsigned turn = 0; turn < 300; turn++) {
		begin_perf(&fixture);
		for (unsigned n = 0; n < 100; n++)
			put_sample(&fixture, n % 2 ? EVENT : CALL, COMMAND, n, (int)n,
				   PERF_SAMPLE_REGS_ABI_64);
		for (unsigned n = 0; n < 20; n++)
			fixture.data[random() % DATA] = (char)random();
		kernel_perf_read(&fixture.perf, true);
		assert_true((fixture.ring->control.tail & WIRE_TAIL_COUNT_MASK) <= 110);
		end_perf(&fixture);
	}
}

/* ---- tracefs: files instead of the kernel's */

struct tracefs_fixture {
	struct kernel_tracefs tracefs;
	struct kernel_ring *ring;
	int pages, stats; /* where the files are written */
};

static int make_file(int *reader)
{
	char path[] = "/tmp/kernel_perf-test-XXXXXX";
	const int writer = mkstemp(path);

	assert_true(writer >= 0);
	*reader = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(*reader >= 0);
	unlink(path);
	return writer;
}

static void begin_tracefs(struct tracefs_fixture *fixture)
{
	struct kernel_tracefs *tracefs = &fixture->tracefs;

	*fixture = (struct tracefs_fixture){
		.tracefs = { .events = -1,
			     .instance = -1,
			     .tasks = -1,
			     .page_bytes = PAGE,
			     .cpus = 1,
			     .exec = EXEC },
		.ring = make_ring(),
	};
	tracefs->of = calloc(1, sizeof(*tracefs->of));
	assert_non_null(tracefs->of);
	fixture->pages = make_file(&tracefs->of[0].file);
	fixture->stats = make_file(&tracefs->of[0].stats);
	assert_int_equal(kernel_sink_open(&tracefs->sink, &points, &layout, (char *)fixture->ring), 0);
}

static void end_tracefs(struct tracefs_fixture *fixture)
{
	kernel_tracefs_close(&fixture->tracefs);
	close(fixture->pages);
	close(fixture->stats);
	free(fixture->ring);
}

/* A page with records of 12 bytes, 10 ns apart. @types: ends with 0 */
static void put_page(const struct tracefs_fixture *fixture, uint64_t time, const unsigned *types,
		     const uint32_t *tids)
{
	char page[PAGE] = "";
	uint32_t used = 0;

	memcpy(page, &time, 8);
	for (unsigned n = 0; types[n]; n++, used += 16) {
		const uint32_t record[] = { 3 | 10 << 5, types[n], tids[n], (uint32_t)time + n };

		memcpy(page + 16 + used, record, sizeof(record));
	}
	memcpy(page + 8, &used, 4);
	assert_int_equal(write(fixture->pages, page, PAGE), PAGE);
}

static void put_stats(const struct tracefs_fixture *fixture, unsigned dropped, unsigned nested)
{
	char text[200];
	const int bytes = snprintf(
		text, sizeof(text),
		"entries: 9\noverrun: 0\ncommit overrun: %u\nbytes: 7\ndropped events: %u\nread events: 5\n",
		nested, dropped);

	assert_int_equal(pwrite(fixture->stats, text, (size_t)bytes, 0), bytes);
}

/* Pages wait for the exec; then what the command did before is left out, and what others did is not. */
static void begins_at_the_exec(void **state)
{
	static const unsigned before[] = { EVENT, EVENT, UNKNOWN, EVENT, 0 },
			      at[] = { EVENT, EXEC, EVENT, 0 };
	static const uint32_t tids[] = { COMMAND, OTHER, COMMAND, OTHER },
			      exec_tids[] = { COMMAND, COMMAND, COMMAND };
	struct tracefs_fixture fixture;
	struct seen seen[8];

	(void)state;
	for (int others = 0; others < 2; others++) {
		begin_tracefs(&fixture);
		fixture.tracefs.command = COMMAND;
		fixture.tracefs.waits = true;
		fixture.tracefs.others = others;
		put_page(&fixture, 1000, before, tids);
		kernel_tracefs_read(&fixture.tracefs, false);
		assert_int_equal(fixture.ring->control.tail, 0);
		put_page(&fixture, 2000, at, exec_tids);
		kernel_tracefs_read(&fixture.tracefs, false);
		assert_int_equal(read_ring(fixture.ring, seen, 8), 1 + 2 * others);
		assert_int_equal(seen[0].tid, others ? OTHER : COMMAND);
		assert_int_equal(seen[0].time, others ? 1020 : 2030);
		assert_int_equal(seen[2 * others].time, 2030);
		assert_int_equal(seen[2 * others].number, 2002);
		end_tracefs(&fixture);
	}
}

static void leaves_out_a_failed_command(void **state)
{
	static const unsigned types[] = { EVENT, EVENT, 0 };
	static const uint32_t tids[] = { COMMAND, COMMAND };
	struct tracefs_fixture fixture;

	(void)state;
	begin_tracefs(&fixture);
	fixture.tracefs.command = COMMAND;
	fixture.tracefs.waits = true;
	put_page(&fixture, 1000, types, tids);
	kernel_tracefs_read(&fixture.tracefs, true);
	assert_int_equal(fixture.ring->control.tail, 0);
	end_tracefs(&fixture);
}

/* Losses are those that the kernel has counted since the last look, and at the end what the ring has no room for. */
static void counts_losses(void **state)
{
	unsigned types[251];
	uint32_t tids[251];
	struct tracefs_fixture fixture;
	uint64_t put_in = 0, kept;

	(void)state;
	begin_tracefs(&fixture);
	for (unsigned n = 0; n < 250; n++) {
		types[n] = EVENT;
		tids[n] = COMMAND;
	}
	types[250] = 0;
	put_stats(&fixture, 3, 4);
	kernel_tracefs_read(&fixture.tracefs, false);
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], 7);
	put_stats(&fixture, 5, 4);
	kernel_tracefs_read(&fixture.tracefs, false);
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], 9);
	for (unsigned n = 0; n < 90; n++, put_in += 250) {
		put_page(&fixture, 10000 * (n + 1), types, tids);
		kernel_tracefs_read(&fixture.tracefs, false);
	}
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], 9);
	kernel_tracefs_read(&fixture.tracefs, true);
	kept = fixture.ring->events + (fixture.ring->control.tail & WIRE_TAIL_COUNT_MASK);
	assert_true(kept > 1000 && kept < put_in);
	assert_int_equal(fixture.ring->control.lost[WIRE_LOST_FULL], 9 + put_in - kept);
	end_tracefs(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_samples),
		cmocka_unit_test(waits_for_room),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(begins_at_the_exec),
		cmocka_unit_test(leaves_out_a_failed_command),
		cmocka_unit_test(counts_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
