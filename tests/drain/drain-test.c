/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a session to a trace, in one process. After each round, every record written so far is in the trace or counted as
 * lost. After any damage to the session, the trace has only records that were written, and counts missing ones as lost.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "synthetic.h"

static uint64_t written_in_all(const struct synthetic *synthetic)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < SYNTHETIC_RINGS; n++)
		sum += synthetic->written[n];
	return sum;
}

static uint64_t refused_in_all(const struct synthetic *synthetic)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < SYNTHETIC_RINGS; n++)
		sum += synthetic->refused[n];
	return sum;
}

static uint64_t lost(const struct drain_totals *totals)
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += totals->lost[cause];
	return sum;
}

/* Write and drain at random; check the trace after every round. */
static const char *run_random(struct synthetic *synthetic, enum wire_mode mode, struct random *random,
			      char *why, size_t bytes)
{
	const struct session_options options = { .mode = mode,
						 .buffer_bytes = UINT64_C(4096)
								 << (2 + random_below(random, 6)),
						 .packet_bytes = UINT64_C(4096) << random_below(random, 3),
						 .string_max = 4096 };
	const unsigned rounds = 2 + (unsigned)random_below(random, 40);
	uint64_t accounted;
	const char *bad;
	unsigned fullest;

	synthetic_begin(synthetic, &options);
	for (unsigned round = 0; round < rounds; round++) {
		for (uint64_t n = random_below(random, 12); n > 0; n--)
			synthetic_write(
				synthetic,
				(unsigned)random_below(random, session_names_index(&synthetic->writer)),
				(unsigned)random_below(random, 200), (unsigned)random_below(random, 3) * 400);
		if (drain_round(&synthetic->drain, &fullest) != 0)
			return "a round failed";
		bad = synthetic_check(synthetic, false);
		if (bad) {
			snprintf(why, bytes, "after round %u: %s", round, bad);
			return why;
		}
		if (mode == WIRE_MODE_STREAM && synthetic_kept(synthetic) != written_in_all(synthetic)) {
			snprintf(why, bytes, "after round %u: %llu of %llu records are in the trace", round,
				 (unsigned long long)synthetic_kept(synthetic),
				 (unsigned long long)written_in_all(synthetic));
			return why;
		}
	}
	if (synthetic_finish(synthetic) != 0)
		return "finishing failed";
	bad = synthetic_check(synthetic, mode == WIRE_MODE_FLIGHT);
	if (bad)
		return bad;
	accounted = synthetic_kept(synthetic) + lost(&synthetic->totals);
	if (synthetic_kept(synthetic) != synthetic->totals.events ||
	    accounted != written_in_all(synthetic) + refused_in_all(synthetic) ||
	    synthetic->totals.lost[WIRE_LOST_FULL] != refused_in_all(synthetic) ||
	    (mode == WIRE_MODE_STREAM && synthetic->totals.lost[WIRE_LOST_OVERWRITTEN])) {
		snprintf(why, bytes,
			 "%llu written, %llu refused; %llu in the trace, reported %llu; %llu lost",
			 (unsigned long long)written_in_all(synthetic),
			 (unsigned long long)refused_in_all(synthetic),
			 (unsigned long long)synthetic_kept(synthetic),
			 (unsigned long long)synthetic->totals.events,
			 (unsigned long long)lost(&synthetic->totals));
		return why;
	}
	return NULL;
}

static void test_random(enum wire_mode mode)
{
	const unsigned runs = harness.is_long ? 500 : 30;
	const char *name = mode == WIRE_MODE_STREAM ? "drain: stream, the ledger holds"
						    : "drain: flight, the ledger holds";
	struct synthetic synthetic;
	uint64_t records = 0, losses = 0;
	struct random random;
	char why[500];

	if (!harness_begin_case(name, &random))
		return;
	for (unsigned n = 0; n < runs; n++) {
		const char *bad = run_random(&synthetic, mode, &random, why, sizeof(why));

		if (bad) {
			harness_fail("%s: run %u: %s", name, n, bad);
			return;
		}
		records += synthetic.totals.events;
		losses += lost(&synthetic.totals);
		synthetic_remove(&synthetic);
	}
	harness_ok("%s (%u traces, %llu records, %llu lost)", name, runs, (unsigned long long)records,
		   (unsigned long long)losses);
}

/* ---- damage ---- */

enum damage {
	DAMAGE_TAIL_RANDOM,
	DAMAGE_TAIL_AHEAD, /* by a little: no record was written there */
	DAMAGE_TAIL_BACK,
	DAMAGE_LENGTH,
	DAMAGE_LENGTH_HUGE,
	DAMAGE_ID_ZERO,
	DAMAGE_ID_UNKNOWN,
	DAMAGE_TIME_FUTURE,
	DAMAGE_PADDING,
	DAMAGE_CLOSED, /* an end mark in the middle of a packet */
	DAMAGE_STRING, /* without its NUL */
	DAMAGE_HEADER_SEQUENCE,
	DAMAGE_HEADER_EVENTS,
	DAMAGE_HEADER_TIME,
	DAMAGE_CONSUMED,
	DAMAGE_TABLE,
	DAMAGES
};

static const char *const damage_names[DAMAGES] = {
	[DAMAGE_TAIL_RANDOM] = "a random tail",
	[DAMAGE_TAIL_AHEAD] = "a tail too far ahead",
	[DAMAGE_TAIL_BACK] = "a tail that went back",
	[DAMAGE_LENGTH] = "a length of 0",
	[DAMAGE_LENGTH_HUGE] = "a length that is too large",
	[DAMAGE_ID_ZERO] = "an id of 0",
	[DAMAGE_ID_UNKNOWN] = "an unknown id",
	[DAMAGE_TIME_FUTURE] = "a time in the future",
	[DAMAGE_PADDING] = "padding that is not zero",
	[DAMAGE_CLOSED] = "a packet closed in its middle",
	[DAMAGE_STRING] = "a string without end",
	[DAMAGE_HEADER_SEQUENCE] = "a packet with a wrong sequence number",
	[DAMAGE_HEADER_EVENTS] = "a packet with a wrong count",
	[DAMAGE_HEADER_TIME] = "a packet from the future",
	[DAMAGE_CONSUMED] = "an invalid reader position",
	[DAMAGE_TABLE] = "an event with changed types",
};

/* The address of record @n, from 0, of the open packet, which was not drained yet. */
static char *record_at(struct synthetic *synthetic, unsigned index, unsigned n)
{
	struct ring *ring = &synthetic->writer.rings[index];
	uint64_t position = ring->control->tail >> WIRE_TAIL_COUNT_BITS;
	char *packet = ring->slots + ((position & ring->word_mask) & ~ring->packet_mask) * 8;
	char *at = packet + sizeof(struct wire_packet);

	for (; n > 0; n--)
		at += wire_stride(((struct wire_compact *)at)->length);
	return at;
}

static void put16(char *at, uint16_t value)
{
	memcpy(at, &value, 2);
}

static void put32(char *at, uint32_t value)
{
	memcpy(at, &value, 4);
}

static void do_damage(struct synthetic *synthetic, enum damage damage, unsigned index, struct random *random)
{
	struct ring *ring = &synthetic->writer.rings[index];
	char *at = record_at(synthetic, index, 3);
	struct wire_packet *packet = (struct wire_packet *)(record_at(synthetic, index, 0) - sizeof(*packet));

	switch (damage) {
	case DAMAGE_TAIL_RANDOM:
		ring->control->tail = random_next(random);
		break;
	case DAMAGE_TAIL_AHEAD:
		ring->control->tail += (UINT64_C(6) << WIRE_TAIL_COUNT_BITS) + 2;
		break;
	case DAMAGE_TAIL_BACK:
		ring->control->tail -= (UINT64_C(6) << WIRE_TAIL_COUNT_BITS);
		break;
	case DAMAGE_LENGTH:
		put16(at + 2, 0);
		break;
	case DAMAGE_LENGTH_HUGE:
		put16(at + 2, 60000);
		break;
	case DAMAGE_ID_ZERO:
		put16(at, 0);
		break;
	case DAMAGE_ID_UNKNOWN:
		put16(at, 999);
		break;
	case DAMAGE_TIME_FUTURE:
		put32(at + 4, (uint32_t)ring_clock() - 1000);
		put32(at - 20 + 4,
		      (uint32_t)(ring_clock() + 1000000000)); /* overwrites some field of the record before */
		put32(record_at(synthetic, index, 2) + 4, (uint32_t)(ring_clock() + 1500000000));
		break;
	case DAMAGE_PADDING: /* the records are 28 bytes long */
		put32(at + 28, 1);
		break;
	case DAMAGE_CLOSED:
		put32(at, WIRE_ID_CLOSED);
		break;
	case DAMAGE_STRING:
		put16(at, synthetic->id_text);
		break;
	case DAMAGE_HEADER_SEQUENCE:
		packet->sequence += 2;
		break;
	case DAMAGE_HEADER_EVENTS:
		packet->events_before += UINT64_C(1) << 40;
		break;
	case DAMAGE_HEADER_TIME:
		packet->time_begin = ring_clock() + (UINT64_C(1) << 50);
		break;
	case DAMAGE_CONSUMED:
		ring->control->consumed = random_next(random) | UINT64_C(1) << 60;
		break;
	default: /* DAMAGE_TABLE: the format no longer fits the types */
		synthetic->writer.entries[0].types = WIRE_STR;
		break;
	}
}

/* Return: NULL, or the fault. */
static const char *run_damage(struct synthetic *synthetic, enum damage damage, enum wire_mode mode,
			      struct random *random, char *why, size_t bytes)
{
	const struct session_options options = {
		.mode = mode, .buffer_bytes = 64 << 10, .packet_bytes = 4096, .string_max = 99
	};
	const unsigned ring = (unsigned)random_below(random, 2);
	uint64_t missing, corrupt;
	const char *bad;
	unsigned fullest;

	synthetic_begin(synthetic, &options);
	/* The trace has valid packets already; the damage is in a new open packet. */
	synthetic_write(synthetic, ring, 300, 0);
	synthetic_write(synthetic, 1 - ring, 100, 30);
	drain_round(&synthetic->drain, &fullest);
	do {
		synthetic_write(synthetic, ring, 1, 0);
	} while ((synthetic->writer.rings[ring].control->tail & WIRE_TAIL_COUNT_MASK) != 8 ||
		 (damage == DAMAGE_TABLE && synthetic->written[ring] < 500));
	do_damage(synthetic, damage, ring, random);
	if (damage == DAMAGE_TABLE) /* visible only when the table is copied again, after a new event */
		session_event_register(&synthetic->writer,
				       &(struct session_event){ .name = "late", .format = "", .file = "" }, 1,
				       (uint16_t[1]){ 0 });
	drain_round(&synthetic->drain, &fullest);
	bad = synthetic_check(synthetic, true);
	if (bad)
		return bad;
	synthetic_write(synthetic, ring, 200, 0);
	synthetic_write(synthetic, 1 - ring, 10, 0);
	drain_round(&synthetic->drain, &fullest);
	if (synthetic_finish(synthetic) != 0)
		return "finishing failed";
	bad = synthetic_check(synthetic, true);
	if (bad)
		return bad;
	missing = written_in_all(synthetic) - synthetic_kept(synthetic);
	corrupt = synthetic->totals.lost[WIRE_LOST_CORRUPT];
	if (synthetic_kept(synthetic) < 400) {
		snprintf(why, bytes, "only %llu records are left",
			 (unsigned long long)synthetic_kept(synthetic));
		return why;
	}
	if (missing && corrupt == 0) {
		snprintf(why, bytes,
			 "%llu records are missing, none is counted as corrupt (%llu overwritten, %llu "
			 "unread, %llu late)",
			 (unsigned long long)missing,
			 (unsigned long long)synthetic->totals.lost[WIRE_LOST_OVERWRITTEN],
			 (unsigned long long)synthetic->totals.lost[WIRE_LOST_UNREAD],
			 (unsigned long long)synthetic->totals.lost_late);
		return why;
	}
	if (mode == WIRE_MODE_STREAM && synthetic->totals.lost[WIRE_LOST_OVERWRITTEN]) {
		snprintf(why, bytes, "%llu records count as overwritten in stream mode",
			 (unsigned long long)synthetic->totals.lost[WIRE_LOST_OVERWRITTEN]);
		return why;
	}
	return NULL;
}

static void test_damage(void)
{
	const unsigned runs = harness.is_long ? 100 : 3;

	for (enum damage damage = 0; damage < DAMAGES; damage++) {
		struct synthetic synthetic;
		const char *bad = NULL;
		struct random random;
		char why[500], name[100];

		snprintf(name, sizeof(name), "drain: damage: %s", damage_names[damage]);
		if (!harness_begin_case(name, &random))
			continue;
		for (unsigned n = 0; n < runs && !bad; n++) {
			bad = run_damage(&synthetic, damage, WIRE_MODE_STREAM, &random, why, sizeof(why));
			if (bad && bad != why)
				snprintf(why, sizeof(why), "%s", bad);
			synthetic_remove(&synthetic);
		}
		if (bad)
			harness_fail("%s: %s", name, why);
		else
			harness_ok("%s (%llu of %llu records kept, %llu corrupt)", name,
				   (unsigned long long)synthetic_kept(&synthetic),
				   (unsigned long long)written_in_all(&synthetic),
				   (unsigned long long)synthetic.totals.lost[WIRE_LOST_CORRUPT]);
	}
}

int main(int argc, char **argv)
{
	harness_begin(argc, argv);
	test_random(WIRE_MODE_STREAM);
	test_random(WIRE_MODE_FLIGHT);
	test_damage();
	return harness_end();
}
