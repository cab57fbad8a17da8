/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The synthetic trace of most tests; see synth.h. */
#include <string.h>

#include "synth.h"
#include "wire/wire_event.h"

/* Fields of all types, first lowest: bool i8 i16 i32 i64 u8 u16 u32 | u64 f32 f64 ptr str bytes char. */
static const uint64_t types_integers = 0x98765432 | (uint64_t)WIRE_BOOL << 32;
static const uint64_t types_others = 0xfedcba;

static uint64_t write_all_types(struct synth *synth, struct synth_ring *ring, uint64_t time)
{
	uint32_t integers =
		synth_event(synth, "types.integers",
			    "i8=%hhd i16=%hd i32=%d i64=%ld u8=%hhu u16=%hu u32=%u u64=%lu flag=%d",
			    types_integers, WIRE_KIND_EVENT, "types.c", 10);
	uint32_t others =
		synth_event(synth, "types.others", "f32=%g f64=%.3f ptr=%p text=%s data=%p letter=%c",
			    types_others, WIRE_KIND_EVENT, "types.c", 20);

	synth_recordf(ring, time, integers, 100, "bwdqbwdqb", -8, -16, (uint32_t)-32, (uint64_t)-64, 200,
		      60000, 4000000000u, UINT64_MAX, 1);
	synth_recordf(ring, time + 10, others, 100, "fgqsxb", 0.5, 3.14159, (uint64_t)0xffff888000001234,
		      "hello", "\x00\xff\x7f", 3, 'z');
	synth_recordf(ring, time + 20, others, 100, "fgqsxb", -1.0, 1e100, (uint64_t)0, WIRE_NULL, "", 0,
		      '\n');
	synth_recordf(ring, time + 30, others, 100, "fgqsxb", 0.0, 0.0, (uint64_t)1,
		      "\033[31mred\033[0m\r\n\xff caf\xc3\xa9 \xe2\x80\xae" WIRE_TRUNCATED, "ab", 2, '\\');
	return 4;
}

/* Spans with an id, begun by a thread and ended by another. */
static uint64_t write_span_ids(struct synth *synth, struct synth_ring *ring, uint64_t time)
{
	const uint32_t begin = synth_event(synth, "app.ask.begin", "span_id=%#llx path=%s", 0xd9,
					   WIRE_KIND_SPAN_BEGIN, "app.c", 6);
	const uint32_t end = synth_event(synth, "app.trace.end", "span_id_high=%#llx span_id=%#llx n=%u",
					 0x899, WIRE_KIND_SPAN_END, "app.c", 7);

	synth_recordf(ring, time, begin, 100, "qs", UINT64_C(7), "/pay");
	synth_recordf(ring, time + 1, end, 200, "qqd", UINT64_C(1), UINT64_MAX, 3);
	return 2;
}

uint64_t synth_sample(const char *path)
{
	const struct synth_options options = { .cpus = 2, .packets_per_file = 3 };
	struct synth *synth = synth_new(path, &options);
	struct synth_ring *cpu0 = synth_ring(synth, 0, false), *cpu1 = synth_ring(synth, 1, false);
	struct synth_ring *locked = synth_ring(synth, 0, true);
	const uint64_t begin = 0xfffff000, wrap = (uint64_t)1 << 32;
	uint64_t time = begin, records = 0;
	uint32_t tick = synth_event(synth, "app.tick", "i=%d j=%d", 0x44, WIRE_KIND_EVENT, "app.c", 1);
	uint32_t name = synth_event(synth, "app.name", "who=%s", 0xd, WIRE_KIND_EVENT, "app.c", 2);
	uint32_t work_begin = synth_event(synth, "app.work.begin", "n=%u", 0x8, WIRE_KIND_BEGIN, "app.c", 3);
	uint32_t work_end = synth_event(synth, "app.work.end", "", 0, WIRE_KIND_END, "app.c", 4);
	uint32_t level = synth_event(synth, "app.level", "%d", 0x4, WIRE_KIND_COUNTER, "app.c", 5);

	synth_refuse(synth, tick, 3, "other.c", 77);
	synth_process(synth, begin, 100, 1, "/bin/demo", "./demo --loud");
	synth_thread(synth, begin + 1, 100, 100, "demo");
	synth_thread(synth, begin + 2, 101, 100, "worker");
	synth_thread(synth, begin + 40000, 101, 100, "renamed");
	synth_process(synth, begin + 50000, 200, 100, "/bin/child", "child");
	synth_thread(synth, begin + 50001, 200, 200, "child");

	/* Across the wrap of the low half, on two CPUs, in several packets and files; the same times on both.
	 */
	for (uint32_t n = 0; n < 2000; n++, time += 17) {
		synth_recordf(cpu0, time, tick, 100, "dd", n, 0 - n);
		synth_recordf(cpu1, time, tick, 101, "dd", n, 2 * n);
		records += 2;
		if (n % 100 == 50) {
			synth_recordf(cpu1, time + 1, work_begin, 101, "d", n);
			synth_recordf(cpu1, time + 2, name, 101, "s", "somebody");
			synth_recordf(cpu1, time + 3, work_end, 101, "");
			records += 3;
		}
		if (n == 700)
			synth_lose(cpu0, WIRE_LOST_FULL, 12);
		if (n == 800)
			synth_empty_packet(cpu0, time + 5);
		if (n == 900)
			synth_close_packet(cpu1, 2, 77);
		if (n % 50 == 0) {
			synth_recordf(locked, time + 4, level, 200, "d", n);
			records++;
		}
	}
	/* Gaps longer than the 32-bit time within a packet: extended records. */
	time += 1000;
	records += write_all_types(synth, cpu0, time);
	records += write_span_ids(synth, cpu0, time + 500);
	for (unsigned n = 0; n < 4; n++) {
		time += (n + 1) * wrap + 12345;
		synth_recordf(cpu0, time, tick, 100, "dd", n, n);
		synth_recordf(cpu0, time + 5, name, 100, "s", "after a gap");
		synth_recordf(cpu0, time + wrap - 1, tick, 999, "dd", n, n);
		time += wrap - 1;
		records += 3;
	}
	synth_lose(locked, WIRE_LOST_BUSY, 5);
	synth_lose(locked, WIRE_LOST_SIZE, 1);
	synth_next_file(cpu1);
	synth_recordf(cpu1, time + 1, tick, 101, "dd", 1, 1);
	records++;
	synth_finish(synth);
	return records;
}
