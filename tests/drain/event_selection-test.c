/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Event selection: the remaining records of a packet are readable, even if the record with their time base was left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drain/event_selection.h"
#include "wire/wire_packet.h"
#include "wire/wire_record.h"

enum {
	PACKET = 4096,
};

static const char *const wanted[] = { "keep", NULL };

struct packet {
	_Alignas(8) char bytes[PACKET];
	uint32_t used;
	uint64_t base;
};

static void begin(struct packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->used = sizeof(struct wire_packet);
}

/* Put a record without arguments, as writers do. */
static void put(struct packet *packet, uint16_t id, uint64_t time)
{
	struct wire_compact compact = {
		.id = id, .length = sizeof(compact), .time = (uint32_t)time, .tid = 7
	};
	struct wire_extended extended = { .tag = WIRE_ID_EXTENDED,
					  .length = sizeof(extended),
					  .id = id,
					  .time_low = (uint32_t)time,
					  .time_high = (uint32_t)(time >> 32),
					  .tid = 7 };
	const bool is_first = packet->used == sizeof(struct wire_packet);

	if (!is_first && time - packet->base >= UINT64_C(1) << 32) {
		memcpy(packet->bytes + packet->used, &extended, sizeof(extended));
		packet->used += wire_stride(sizeof(extended));
		packet->base = time;
	} else {
		memcpy(packet->bytes + packet->used, &compact, sizeof(compact));
		packet->used += wire_stride(sizeof(compact));
		packet->base = is_first ? time : packet->base;
	}
}

static struct wire_event entries[2];
static uint32_t payload[2];
static char text[] = "\0keep\0drop";

static struct event_table table_of_two(void)
{
	entries[0].name = 1;
	entries[1].name = 6;
	return (struct event_table){ .count = 2,
				     .entries = entries,
				     .payload_bytes = payload,
				     .text = text,
				     .text_bytes = sizeof(text) };
}

static struct validated validate_from(const struct event_table *table, const struct packet *packet,
				      uint32_t begin_at, uint32_t end, uint64_t time)
{
	static const struct window always = { 0, UINT64_MAX };

	return validate_records(table, packet->bytes, begin_at, end, time, time, UINT64_MAX, always);
}

static void keeps_what_is_wanted(void **state)
{
	const struct event_table table = table_of_two();
	struct event_selection choice = { .globs = wanted };
	const uint64_t half = UINT64_C(1) << 31, begin_time = half * 10;
	struct packet packet;
	struct validated validated, kept;
	uint64_t base = 0;

	(void)state;
	begin(&packet);
	put(&packet, 1, begin_time);
	put(&packet, 2, begin_time + 3 * half); /* extended: it moves the base, and is left out */
	put(&packet, 2, begin_time + 4 * half);
	put(&packet, 1,
	    begin_time + 4 * half + 5); /* compact, and more than 2^32 after the last kept record */
	put(&packet, 1, begin_time + 4 * half + 6);
	validated = validate_from(&table, &packet, sizeof(struct wire_packet), packet.used, begin_time);
	assert_true(validated.sound);
	assert_int_equal(validated.count, 5);
	assert_int_equal(event_selection_update(&choice, &table), 0);
	assert_int_equal(event_selection_apply(&choice, packet.bytes, PACKET, 0, &base, false, &validated),
			 0);
	assert_int_equal(validated.count, 3);
	assert_true(validated.first == begin_time && validated.time == begin_time + 4 * half + 6);
	kept = validate_from(&table, &packet, validated.begin, wire_stride(validated.content), begin_time);
	assert_true(kept.sound && kept.count == 3 && kept.time == validated.time);
	assert_true(base == begin_time + 4 * half + 5);
	event_selection_free(&choice);
}

static void goes_on_in_a_packet(void **state)
{
	const struct event_table table = table_of_two();
	struct event_selection choice = { .globs = wanted };
	const uint64_t half = UINT64_C(1) << 31, begin_time = half * 6;
	struct packet packet;
	struct validated validated;
	uint64_t base = 0;
	uint32_t middle;

	(void)state;
	begin(&packet);
	put(&packet, 1, begin_time);
	put(&packet, 2, begin_time + 3 * half);
	middle = packet.used;
	put(&packet, 1, begin_time + 4 * half);
	validated = validate_from(&table, &packet, sizeof(struct wire_packet), middle, begin_time);
	assert_int_equal(event_selection_update(&choice, &table), 0);
	/* The first piece is moved to the front of a copy, as in a drain. */
	{
		struct packet copy = packet;

		assert_int_equal(
			event_selection_apply(&choice, copy.bytes, PACKET, 0, &base, false, &validated), 0);
		assert_int_equal(validated.count, 1);
		assert_true(base == begin_time);
	}
	validated = validate_from(&table, &packet, middle, packet.used, begin_time + 3 * half);
	assert_int_equal(event_selection_apply(&choice, packet.bytes, PACKET, 0, &base, true, &validated), 0);
	assert_int_equal(validated.count, 1);
	assert_int_equal(validated.content - validated.begin, sizeof(struct wire_extended));
	assert_true(base == begin_time + 4 * half);
	event_selection_free(&choice);
}

/* Writers put no compact records so far from their base. If accepted, every second one would grow beyond the room. */
static void refuses_records_beyond_the_base(void **state)
{
	const struct event_table table = table_of_two();
	const uint64_t half = UINT64_C(1) << 31, begin_time = half * 6;
	struct packet packet;
	struct validated validated;

	(void)state;
	begin(&packet);
	for (unsigned n = 0; n < 20; n++) {
		packet.base = begin_time + n * half;
		put(&packet, 1, begin_time + n * half);
	}
	validated = validate_from(&table, &packet, sizeof(struct wire_packet), packet.used, begin_time);
	assert_false(validated.sound);
	assert_int_equal(validated.count, 2);
	assert_true(validated.base == begin_time && validated.time == begin_time + half);
	/* The same in a later piece of the packet. */
	validated = validate_records(&table, packet.bytes, validated.end, packet.used, begin_time + half,
				     begin_time, UINT64_MAX, (struct window){ 0, UINT64_MAX });
	assert_false(validated.sound);
	assert_int_equal(validated.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_wanted),
		cmocka_unit_test(goes_on_in_a_packet),
		cmocka_unit_test(refuses_records_beyond_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
