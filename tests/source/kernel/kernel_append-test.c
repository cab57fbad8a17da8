/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Records appended to a ring of kernel events: each is there once, whole and in order, and packets state what lies before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "source/kernel/in_kernel/kernel_calls.bpf.h"
#include "source/kernel/in_kernel/kernel_event.bpf.h"
#include "source/kernel/programs/kernel_append.h"

enum {
	WINDOW = 4,
	RECORDS = 40000,
	REACH = 1000000,
	LONGEST = 1200,

	ATOMIC64 = 0xdb, /* of an instruction; its kind: */
	ADD_AND_FETCH = 0x01,
};

struct seen {
	uint64_t records, last_ns;
	uint64_t packets;
};

static const struct kernel_layout layout = { .rings = -1, .members = -1, .window = WINDOW, .reach = REACH };

static struct kernel_ring *make_ring(void)
{
	struct kernel_ring *ring = calloc(1, kernel_ring_bytes(WINDOW));

	assert_non_null(ring);
	ring->header.cpu = 3;
	return ring;
}

/* The payload of a record follows from its number, which is in its thread's place. */
static unsigned payload_of(uint64_t number, char *out)
{
	const unsigned bytes = (unsigned)(number * 2654435761u % LONGEST);

	for (unsigned n = 0; n < bytes; n++)
		out[n] = (char)(number * 31 + n);
	return bytes;
}

/* Check the records of the packets before the tail, and give them back. */
static void consume(struct kernel_ring *ring, struct seen *seen)
{
	const uint64_t end = (ring->control.tail >> WIRE_TAIL_COUNT_BITS) * 8;

	for (; seen->packets < ring->next; seen->packets++) {
		const uint64_t begin = seen->packets * KERNEL_PACKET;
		const char *bytes = (char *)ring + KERNEL_SLOTS + begin % (WINDOW * KERNEL_PACKET);
		struct wire_packet packet;
		uint64_t at = sizeof(packet), base;

		memcpy(&packet, bytes, sizeof(packet));
		assert_int_equal(packet.sequence, seen->packets);
		assert_int_equal(packet.cpu, 3);
		assert_int_equal(packet.events_before, seen->records);
		base = packet.base_time;
		while (at < KERNEL_PACKET && begin + at < end &&
		       number_load16(bytes + at) != WIRE_ID_CLOSED) {
			char payload[LONGEST];
			const unsigned length = number_load16(bytes + at + 2);
			const unsigned known = payload_of(seen->records, payload);

			assert_int_equal(number_load16(bytes + at), 7);
			assert_int_equal(length, sizeof(struct wire_compact) + known);
			assert_int_equal(number_load32(bytes + at + 8), seen->records);
			assert_memory_equal(bytes + at + sizeof(struct wire_compact), payload, known);
			base += (uint32_t)(number_load32(bytes + at + 4) - (uint32_t)base);
			assert_true(base >= seen->last_ns && base - packet.base_time <= REACH);
			seen->last_ns = base;
			seen->records++;
			at += wire_stride(length);
		}
	}
	ring->control.consumed = ring->next;
}

static void appends_in_order(void **state)
{
	struct kernel_ring *ring = make_ring();
	struct seen seen = { 0 };
	uint64_t ns = 5000000000;
	unsigned full = 0;

	(void)state;
	srandom(1);
	for (uint64_t n = 0; n < RECORDS; n++) {
		char payload[LONGEST];
		struct kernel_record record = { .id = 7, .tid = (uint32_t)n, .payload = payload };

		ns += (uint64_t)random() % (n % 97 ? 2000 : 2 * REACH);
		record.ns = n % 13 ? ns : ns - 100; /* a little too early */
		record.bytes = payload_of(n, payload);
		if (!kernel_append(ring, &layout, &record)) {
			full++;
			consume(ring, &seen);
			/* The open packet is given back, too: what comes next opens another one. */
			ring->control.tail = (ring->next * (KERNEL_PACKET / 8)) << WIRE_TAIL_COUNT_BITS |
					     (ring->control.tail & WIRE_TAIL_COUNT_MASK);
			assert_true(kernel_append(ring, &layout, &record));
		}
	}
	consume(ring, &seen);
	assert_int_equal(seen.records, RECORDS);
	assert_true(full > 10);
	free(ring);
}

static void states_losses(void **state)
{
	struct kernel_ring *ring = make_ring();
	struct kernel_record record = { .id = 7, .ns = 1, .payload = "", .bytes = 0 };
	struct wire_packet packet;

	(void)state;
	ring->control.lost[WIRE_LOST_FULL] = 5;
	ring->control.lost[WIRE_LOST_BUSY] = 6;
	assert_true(kernel_append(ring, &layout, &record));
	memcpy(&packet, (char *)ring + KERNEL_SLOTS, sizeof(packet));
	assert_int_equal(packet.discarded, 11);
	assert_int_equal(packet.lost[WIRE_LOST_FULL], 5);
	free(ring);
}

/* Return: the additions to counts of losses. */
static unsigned check_additions(const struct bpf_code *code)
{
	unsigned found = 0;

	for (unsigned n = 0; n < code->count; n++)
		if (code->code[n].code == ATOMIC64 &&
		    (code->code[n].off == offsetof(struct wire_ring, lost[WIRE_LOST_FULL]) ||
		     code->code[n].off == offsetof(struct wire_ring, lost[WIRE_LOST_BUSY]))) {
			assert_int_equal(code->code[n].imm, ADD_AND_FETCH);
			found++;
		}
	return found;
}

/* Elsewhere than on x86 the recorder could find the lock free, and not yet the loss before it, if the addition returned nothing. */
static void losses_precede_releases(void **state)
{
	(void)state;
	assert_true(check_additions(&kernel_event) >= 2);
	assert_true(check_additions(&kernel_enter) >= 2);
	assert_true(check_additions(&kernel_exit) >= 2);
	assert_true(check_additions(&kernel_exec) >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_in_order),
		cmocka_unit_test(states_losses),
		cmocka_unit_test(losses_precede_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
