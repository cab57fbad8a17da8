/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The reference for a ring; see queue.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "queue.h"

static const uint64_t position_mask = UINT64_MAX >> WIRE_TAIL_COUNT_BITS;

__attribute__((format(printf, 2, 3))) static void wrong(struct queue *queue, const char *format, ...)
{
	va_list args;

	if (queue->why[0]) /* the first is the one to know */
		return;
	va_start(args, format);
	vsnprintf(queue->why, sizeof(queue->why), format, args);
	va_end(args);
}

/* Slots full of what looks like records: none of it may ever be read. */
static void fill_with_stale(char *slots, uint64_t bytes, uint64_t seed)
{
	struct random random = { seed };

	for (uint64_t at = 0; at + 24 <= bytes; at += 24) {
		const struct wire_compact stale = { QUEUE_STALE_ID, 24, (uint32_t)random_next(&random), 7 };

		memcpy(slots + at, &stale, sizeof(stale));
		memset(slots + at + sizeof(stale), 0, 12);
	}
}

void queue_init(struct queue *queue, const struct queue_shape *shape, uint64_t seed)
{
	const uint64_t bytes = (uint64_t)shape->packet_bytes * shape->packets;
	const uint32_t room = shape->packet_bytes - (uint32_t)sizeof(struct wire_packet);

	*queue = (struct queue){ .header = { .magic = WIRE_MAGIC,
					     .packet_bits = (uint64_t)shape->packet_bytes * 8 } };
	queue->slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	queue->copy = aligned_alloc(64, shape->packet_bytes);
	queue->room = bytes / 16 + 1; /* of the smallest records */
	queue->records = calloc(queue->room, sizeof(*queue->records));
	queue->holds = calloc(shape->packets, sizeof(*queue->holds));
	if (queue->slots == MAP_FAILED || !queue->copy || !queue->records || !queue->holds)
		harness_die("no memory");
	fill_with_stale(queue->slots, bytes, seed);
	queue->ring = (struct ring){
		.control = &queue->control,
		.slots = queue->slots,
		.word_mask = bytes / 8 - 1,
		.packet_mask = shape->packet_bytes / 8 - 1,
		.ready_words = shape->packet_bytes / 8,
		.packet_words = shape->packet_bytes / 8,
		.window = shape->packets,
		.record_max = room < WIRE_LENGTH_MAX - 8 ? room : WIRE_LENGTH_MAX - 8,
		.overwrite = shape->overwrite,
		.locked = shape->locked,
		.header = &queue->header,
		.stream_instance = 5,
		.cpu = shape->cpu,
	};
	queue->reader = queue->ring;
	queue->size = shape->packets;
	queue->control.size = shape->packets;
	if (!shape->near_wrap)
		return;
	/* As if packet after packet had been written and read up to a few before the wrap. */
	queue->position = position_mask + 1 - (3 + seed % 5) * queue->ring.packet_words;
	queue->sequence = queue->position / queue->ring.packet_words - 1;
	queue->lap = queue->sequence / shape->packets * shape->packets;
	queue->lap_before = queue->lap - shape->packets;
	for (uint64_t back = 0; back < shape->packets; back++)
		queue->holds[(queue->sequence - back) % shape->packets] = queue->sequence - back + 1;
	queue->consumed = queue->sequence; /* the reader stands at its end */
	queue->begun = true;
	queue->cursor = (struct ring_cursor){ .sequence = queue->sequence, .offset = shape->packet_bytes };
	queue->control.tail = queue->position << WIRE_TAIL_COUNT_BITS;
	queue->control.consumed = queue->consumed;
	*(struct wire_packet *)(queue->slots + queue->sequence * queue->ring.packet_words % (bytes / 8) * 8) =
		(struct wire_packet){ .sequence = queue->sequence, .lap = shape->packets };
}

void queue_free(struct queue *queue)
{
	munmap(queue->slots, (queue->ring.word_mask + 1) * 8);
	free(queue->copy);
	free(queue->records);
	free(queue->holds);
}

/* No word is there twice, in this record or another. Mixing each of them would take half of the test's time. */
static void payload_fill(char *payload, uint64_t seed, uint32_t bytes)
{
	uint64_t word = harness_mix(seed);

	for (uint32_t n = 0; n < bytes; n += 8, word += 0x9e3779b97f4a7c15u)
		memcpy(payload + n, &word, bytes - n < 8 ? bytes - n : 8);
}

struct ring_record queue_prepare(void *buffer, const struct expected *expected)
{
	const uint32_t payload = expected->length - (uint32_t)sizeof(struct wire_compact);

	memset(buffer, 0xa5, WIRE_HEADROOM);
	payload_fill((char *)buffer + WIRE_HEADROOM, expected->seed, payload);
	memset((char *)buffer + WIRE_HEADROOM + payload, 0, 8);
	ring_prepare(buffer, expected->id, expected->length, expected->tid);
	return (struct ring_record){ buffer, expected->length };
}

static void push(struct queue *queue, struct expected expected)
{
	if (queue->written - queue->read - queue->overwritten >= queue->room) {
		wrong(queue, "the ring holds more records than it has room for");
		return;
	}
	queue->records[queue->written++ % queue->room] = expected;
}

static uint32_t slot_of_tail(const struct queue *queue)
{
	return (uint32_t)((queue->position - 1) / queue->ring.packet_words % queue->ring.window);
}

/* Where the next packet belongs. */
static uint32_t next_slot(const struct queue *queue)
{
	const uint32_t next = queue->begun ? slot_of_tail(queue) + 1 : 0;

	return next < queue->size ? next : 0;
}

/* Whether a packet can be opened behind the model's. */
static bool can_open(const struct queue *queue, bool no_memory)
{
	const uint32_t slot = next_slot(queue);

	if (!queue->ring.overwrite && queue->holds[slot] > queue->consumed)
		return false;
	return !no_memory || slot < queue->backed;
}

static void model_opens(struct queue *queue, uint64_t words, uint64_t now)
{
	const uint64_t packet_words = queue->ring.packet_words, window = packet_words * queue->ring.window;
	const uint32_t slot = next_slot(queue);
	const uint64_t lap = queue->begun ? (queue->position - 1) / window + (slot == 0) : 0;

	queue->sequence = queue->begun ? queue->sequence + 1 : 0;
	queue->position = lap * window + slot * packet_words + sizeof(struct wire_packet) / 8 + words;
	queue->holds[slot] = queue->sequence + 1;
	if (slot == 0) {
		queue->lap_before = queue->lap;
		queue->lap = queue->sequence;
	}
	if (slot >= queue->backed)
		queue->backed = slot + 1;
	queue->base_time = now;
	queue->in_packet = words != 0;
	queue->begun = true;
}

void queue_resize(struct queue *queue, uint32_t slots)
{
	const uint64_t changes = (queue->control.size >> WIRE_RING_CHANGES_SHIFT) + 1;

	queue->size = slots < 4 ? 4 : slots > queue->ring.window ? queue->ring.window : slots;
	queue->backed = 0;
	__atomic_store_n(&queue->control.size, changes << WIRE_RING_CHANGES_SHIFT | slots, __ATOMIC_RELEASE);
}

static void check_tail(struct queue *queue)
{
	if (queue->control.tail !=
	    ((queue->position & position_mask) << WIRE_TAIL_COUNT_BITS | queue->in_packet))
		wrong(queue, "the tail is %#llx after record %llu, and should be at word %#llx, %llu records",
		      (unsigned long long)queue->control.tail, (unsigned long long)queue->written,
		      (unsigned long long)(queue->position & position_mask),
		      (unsigned long long)queue->in_packet);
}

void queue_turned(struct queue *queue, enum ring_result result, bool no_memory, uint64_t clock)
{
	const bool can = !queue->begun || can_open(queue, no_memory);

	if (result != (can ? RING_DONE : RING_FULL))
		wrong(queue, "a turn has come to %d where it %s", result, can ? "can be done" : "cannot");
	if (queue->begun && clock && clock < queue->time_end)
		queue->steps++;
	if (!queue->begun || !can)
		return;
	model_opens(queue, 0, 0);
	check_tail(queue);
	if (!clock) /* the real one: believe what is there */
		clock = ((struct wire_packet *)(queue->slots +
						slot_of_tail(queue) * queue->ring.packet_words * 8))
				->time_end;
	if (clock > queue->time_end)
		queue->time_end = clock;
	queue->base_time = queue->time_end;
}

void queue_punch(struct queue *queue)
{
	const uint64_t bytes = queue->ring.packet_words * 8;

	if (!queue->begun || slot_of_tail(queue) + 1 >= queue->size ||
	    (!queue->ring.overwrite && queue->consumed < queue->lap))
		return;
	memset(queue->slots + queue->size * bytes, 0, (queue->ring.window - queue->size) * bytes);
	memset(queue->holds + queue->size, 0, (queue->ring.window - queue->size) * sizeof(*queue->holds));
}

void queue_wrote(struct queue *queue, struct expected expected, enum ring_result result, bool no_memory,
		 uint64_t clock, uint64_t before, uint64_t after)
{
	const uint64_t packet_words = queue->ring.packet_words, words = wire_stride(expected.length) / 8;
	const uint64_t inside = queue->position % packet_words;
	const bool fits = inside != 0 && inside + words <= packet_words;
	const bool long_fits = inside != 0 && inside + words + 1 <= packet_words;
	uint64_t now = clock;

	if (!clock &&
	    result == RING_DONE) { /* the real one: believe what is between before and after, or was held */
		const uint64_t open =
			(__atomic_load_n(&queue->control.tail, __ATOMIC_RELAXED) >> WIRE_TAIL_COUNT_BITS) - 1;

		now = ((struct wire_packet *)(queue->slots +
					      ((open & ~queue->ring.packet_mask) & queue->ring.word_mask) *
						      8))
			      ->time_end;
		if (now != queue->time_end && (now < before || now > after))
			wrong(queue, "record %llu has time %llu, out of [%llu, %llu]",
			      (unsigned long long)queue->written, (unsigned long long)now,
			      (unsigned long long)before, (unsigned long long)after);
	}
	if (now < queue->time_end)
		now = queue->time_end;
	expected.time = now;
	if (fits && (now - queue->base_time) >> 32 == 0) {
		queue->position += words;
		queue->in_packet++;
	} else if (long_fits && fits) {
		expected.extended = true;
		queue->position += words + 1;
		queue->in_packet++;
		queue->base_time = now;
	} else {
		if (clock && queue->begun && clock < queue->time_end)
			queue->steps++;
		if (!can_open(queue, no_memory)) {
			if (result != RING_FULL)
				wrong(queue, "a record was accepted (%d) where there is no room", result);
			queue->discarded++;
			return;
		}
		model_opens(queue, words, now);
	}
	if (result != RING_DONE) {
		wrong(queue, "a record was refused (%d) where there is room", result);
		return;
	}
	queue->time_end = now;
	push(queue, expected);
	check_tail(queue);
}

/* Compare the record at `at` with what must be there. Return: its stride, 0 if it is wrong. */
static uint32_t check_record(struct queue *queue, const char *at, uint32_t left)
{
	const struct expected *expected = &queue->records[(queue->read + queue->overwritten) % queue->room];
	const unsigned long long number = queue->read + queue->overwritten;
	static char payload[QUEUE_BUFFER];
	struct wire_extended extended = { 0 };
	struct wire_compact compact = { 0 };
	uint32_t header, length, id, tid;
	uint64_t time;

	if (queue->read + queue->overwritten >= queue->written) {
		wrong(queue, "record %llu was read and never written", number);
		return 0;
	}
	memcpy(&compact, at, left < sizeof(compact) ? left : sizeof(compact));
	memcpy(&extended, at, left < sizeof(extended) ? left : sizeof(extended));
	length = compact.length;
	if (compact.id == WIRE_ID_EXTENDED) {
		header = sizeof(extended);
		id = extended.id;
		tid = extended.tid;
		time = (uint64_t)extended.time_high << 32 | extended.time_low;
	} else {
		header = sizeof(compact);
		id = compact.id;
		tid = compact.tid;
		time = queue->read_time + (uint32_t)(compact.time - (uint32_t)queue->read_time);
	}
	if (length < header || wire_stride(length) > left) {
		wrong(queue, "record %llu does not end in its packet", number);
		return 0;
	}
	if (id != expected->id || tid != expected->tid || time != expected->time ||
	    (header == sizeof(extended)) != expected->extended || length - header != expected->length - 12) {
		wrong(queue, "record %llu: id %u tid %u time %llu length %u instead of %u %u %llu %u%s",
		      number, id, tid, (unsigned long long)time, length, expected->id, expected->tid,
		      (unsigned long long)expected->time, expected->length,
		      expected->extended ? " (extended)" : "");
		return 0;
	}
	payload_fill(payload, expected->seed, length - header);
	memset(payload + length - header, 0, 8);
	if (memcmp(payload, at + header, wire_stride(length) - header) != 0) {
		wrong(queue, "record %llu: its payload or padding is not what was written", number);
		return 0;
	}
	queue->read_time = time;
	queue->read++;
	return wire_stride(length);
}

/* A packet begins: what its header says was written before must be read or overwritten. */
static void check_header(struct queue *queue, const struct wire_packet *header, uint64_t sequence)
{
	const uint64_t known = queue->read + queue->overwritten;

	if (header->magic != WIRE_MAGIC || header->stream_instance != 5 || header->cpu != queue->ring.cpu ||
	    header->sequence != sequence)
		wrong(queue, "packet %llu has a bad header", (unsigned long long)sequence);
	if (header->events_before < known || header->events_before > queue->written) {
		wrong(queue,
		      "packet %llu says %llu records before it; %llu are accounted for, %llu were written",
		      (unsigned long long)sequence, (unsigned long long)header->events_before,
		      (unsigned long long)known, (unsigned long long)queue->written);
		return;
	}
	if (header->events_before != known && !queue->ring.overwrite)
		wrong(queue, "packet %llu: %llu records are missing in stream mode",
		      (unsigned long long)sequence, (unsigned long long)(header->events_before - known));
	if (header->lost[WIRE_LOST_FULL] > queue->discarded ||
	    header->discarded != header->lost[WIRE_LOST_FULL])
		wrong(queue, "packet %llu counts %llu records discarded, %llu were",
		      (unsigned long long)sequence, (unsigned long long)header->discarded,
		      (unsigned long long)queue->discarded);
	queue->overwritten += header->events_before - known;
	queue->read_time = header->time_begin;
	queue->read_in_packet = 0;
}

/* What a reader passes over must be gone, or be of a lap that was cut short, or of one before the last two. */
static void check_skipped(struct queue *queue, uint64_t from, uint64_t to)
{
	for (uint32_t slot = 0; slot < queue->ring.window; slot++) {
		const uint64_t sequence = queue->holds[slot] - 1;
		const bool cut = sequence < queue->lap_before ||
				 (sequence < queue->lap && queue->lap - queue->lap_before > queue->size);

		if (queue->holds[slot] && sequence >= from && sequence < to && !cut)
			wrong(queue, "packet %llu in slot %u was not read", (unsigned long long)sequence,
			      slot);
	}
}

bool queue_read(struct queue *queue)
{
	const uint64_t expected = queue->cursor.sequence;
	struct ring_piece piece;
	const int result = ring_copy(&queue->reader, &queue->cursor, queue->copy, &piece);
	uint32_t at = piece.begin;

	if (result <= 0) {
		if (result < 0)
			wrong(queue, "the reader finds the tail impossible (%d)", result);
		return false;
	}
	check_skipped(queue, expected, piece.sequence);
	if (piece.begin == sizeof(struct wire_packet))
		check_header(queue, (struct wire_packet *)queue->copy, piece.sequence);
	while (!queue->why[0] && piece.end - at >= 8) {
		uint32_t stride, id = *(uint16_t *)(queue->copy + at);

		if (id == WIRE_ID_CLOSED && piece.last)
			break;
		stride = check_record(queue, queue->copy + at, piece.end - at);
		at += stride;
		queue->read_in_packet += stride != 0;
	}
	if (!piece.last && piece.count != queue->read_in_packet)
		wrong(queue, "the tail counts %u records in packet %llu, %llu were read", piece.count,
		      (unsigned long long)piece.sequence, (unsigned long long)queue->read_in_packet);
	if (!queue->ring.overwrite) {
		ring_give_back(&queue->ring, queue->cursor.sequence);
		queue->consumed = queue->cursor.sequence;
	}
	return !queue->why[0];
}

void queue_finish(struct queue *queue)
{
	while (queue_read(queue))
		continue;
	if (queue->written != queue->read + queue->overwritten)
		wrong(queue, "%llu records written, %llu read, %llu overwritten",
		      (unsigned long long)queue->written, (unsigned long long)queue->read,
		      (unsigned long long)queue->overwritten);
	if (!queue->ring.overwrite && queue->overwritten)
		wrong(queue, "%llu records were overwritten in stream mode",
		      (unsigned long long)queue->overwritten);
}
