/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading a case's session and balancing the books; see ledger.h. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "ledger.h"
#include "ring/ring_deps.h"
#include "wire/wire_names.h"

__attribute__((format(printf, 2, 3))) static bool wrong(struct ledger *ledger, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!ledger->why[0])
		vsnprintf(ledger->why, sizeof(ledger->why), format, args);
	va_end(args);
	return false;
}

static uint16_t find_event(const struct session *view, const char *name)
{
	for (uint32_t n = 0; n < view->events->count; n++)
		if (strcmp(view->text + view->entries[n].name, name) == 0)
			return (uint16_t)(n + 1);
	harness_die("the session has no event %s", name);
}

void ledger_open(struct ledger *ledger, const char *path)
{
	const char *why = "";
	const int file = session_file(AT_FDCWD, path, true, &why);

	*ledger = (struct ledger){ 0 };
	if (file < 0 || session_open(&ledger->view, file, &why) != 0)
		harness_die("the session cannot be read: %s", why);
	close(file);
	ledger->rings = calloc(ledger->view.ring_count, sizeof(*ledger->rings));
	ledger->copy = aligned_alloc(4096, WIRE_PACKET_MAX);
	ledger->seen = calloc(TRACED_WRITERS, sizeof(*ledger->seen));
	ledger->room = calloc(TRACED_WRITERS, sizeof(*ledger->room));
	ledger->threads = calloc(LEDGER_THREADS, sizeof(*ledger->threads));
	ledger->recorders = calloc(LEDGER_THREADS, sizeof(*ledger->recorders));
	if (!ledger->rings || !ledger->copy || !ledger->seen || !ledger->room || !ledger->threads ||
	    !ledger->recorders)
		harness_die("no memory");
	ledger->id_plain = find_event(&ledger->view, "test.plain");
	ledger->id_data = find_event(&ledger->view, "test.data");
}

void ledger_close(struct ledger *ledger)
{
	for (unsigned n = 0; n < TRACED_WRITERS; n++)
		free(ledger->seen[n]);
	free(ledger->seen);
	free(ledger->room);
	free(ledger->threads);
	free(ledger->recorders);
	free(ledger->rings);
	free(ledger->copy);
	session_leave(&ledger->view);
}

/* Note that a record was read; false if it was before. */
static bool note(struct ledger *ledger, uint32_t writer, uint64_t number)
{
	unsigned char *byte, bit = (unsigned char)(1 << number % 8);

	if (number >= ledger->room[writer]) {
		uint64_t room = ledger->room[writer] ? ledger->room[writer] : 4096;

		while (room <= number)
			room *= 2;
		ledger->seen[writer] = realloc(ledger->seen[writer], room / 8);
		if (!ledger->seen[writer])
			harness_die("no memory");
		memset(ledger->seen[writer] + ledger->room[writer] / 8, 0, (room - ledger->room[writer]) / 8);
		ledger->room[writer] = room;
	}
	byte = &ledger->seen[writer][number / 8];
	if (*byte & bit)
		return false;
	*byte |= bit;
	return true;
}

static bool is_among(const uint32_t *threads, unsigned count, uint32_t tid)
{
	for (unsigned n = count; n > 0; n--)
		if (threads[n - 1] == tid)
			return true;
	return false;
}

static void remember(uint32_t *threads, unsigned *count, uint32_t tid)
{
	if (*count < LEDGER_THREADS && !is_among(threads, *count, tid))
		threads[(*count)++] = tid;
}

struct __attribute__((packed)) payload {
	uint32_t writer, epoch;
	uint64_t number, clock, sum;
	uint16_t data_bytes;
	unsigned char data[TRACED_DATA_MAX];
};

enum {
	PAYLOAD_PLAIN = 32,
	LEDGER_PIECES = 2, /* of a ring, at a time */
};

static bool check_time(struct ledger *ledger, struct ledger_ring *ring, const struct payload *payload,
		       bool first)
{
	const uint64_t now = ring_clock();

	if (ledger->times_loose)
		return true;
	if (first) {
		ring->epoch = payload->epoch;
		ring->shift = ledger->age && payload->clock > ring->time ? ledger->age : 0;
	}
	if (ring->shift && payload->epoch == ring->epoch) {
		if (ring->time + ring->shift < payload->clock || ring->time + ring->shift > now)
			return wrong(ledger,
				     "writer %u record %llu: time %llu in an aged packet, recorded at %llu",
				     payload->writer, (unsigned long long)payload->number,
				     (unsigned long long)ring->time, (unsigned long long)payload->clock);
		return true;
	}
	if (ring->time < payload->clock || ring->time > now)
		return wrong(ledger, "writer %u record %llu: time %llu, but recorded at %llu",
			     payload->writer, (unsigned long long)payload->number,
			     (unsigned long long)ring->time, (unsigned long long)payload->clock);
	return true;
}

static bool check_payload(struct ledger *ledger, struct ledger_ring *ring, uint32_t id, const char *at,
			  uint32_t bytes, bool first)
{
	unsigned char data[TRACED_DATA_MAX];
	struct payload payload = { 0 };
	uint32_t want;

	if (bytes < PAYLOAD_PLAIN || bytes > sizeof(payload))
		return wrong(ledger, "event %u has %u bytes of payload", id, bytes);
	memcpy(&payload, at, bytes);
	if (payload.writer >= board->used ||
	    payload.sum != traced_sum(payload.writer, payload.number, payload.clock, payload.epoch))
		return wrong(ledger, "a record with a wrong sum: writer %u number %llu", payload.writer,
			     (unsigned long long)payload.number);
	want = board->small ? 0 : traced_data_bytes(payload.writer, payload.number);
	if (id != (want ? ledger->id_data : ledger->id_plain) ||
	    bytes != PAYLOAD_PLAIN + (want ? 2 + want : 0) || (want && payload.data_bytes != want))
		return wrong(ledger, "writer %u record %llu: event %u of %u bytes", payload.writer,
			     (unsigned long long)payload.number, id, bytes);
	traced_data(payload.writer, payload.number, data, want);
	if (memcmp(data, payload.data, want) != 0)
		return wrong(ledger, "writer %u record %llu is torn", payload.writer,
			     (unsigned long long)payload.number);
	if (payload.number >= __atomic_load_n(&board->writers[payload.writer].started, __ATOMIC_SEQ_CST))
		return wrong(ledger, "writer %u record %llu was never written", payload.writer,
			     (unsigned long long)payload.number);
	if (!note(ledger, payload.writer, payload.number))
		return wrong(ledger, "writer %u record %llu was read twice", payload.writer,
			     (unsigned long long)payload.number);
	return check_time(ledger, ring, &payload, first);
}

static bool check_name(struct ledger *ledger, uint32_t id, uint32_t tid, uint32_t bytes)
{
	if (id == 0 || id >= WIRE_NAME_IDS || bytes < 5)
		return wrong(ledger, "a name of kind %u", id);
	ledger->names_read++;
	if (id == WIRE_NAME_THREAD)
		remember(ledger->threads, &ledger->thread_count, tid);
	return true;
}

/* One record. Return: its stride, 0 if it is wrong. */
static uint32_t check_record(struct ledger *ledger, unsigned index, const char *at, uint32_t left, bool first)
{
	struct ledger_ring *ring = &ledger->rings[index];
	struct wire_extended extended = { 0 };
	struct wire_compact compact = { 0 };
	uint32_t header = sizeof(compact), id, tid;
	uint64_t time;

	memcpy(&compact, at, left < sizeof(compact) ? left : sizeof(compact));
	memcpy(&extended, at, left < sizeof(extended) ? left : sizeof(extended));
	id = compact.id;
	tid = compact.tid;
	time = ring->time + (uint32_t)(compact.time - (uint32_t)ring->time);
	if (compact.id == WIRE_ID_EXTENDED) {
		header = sizeof(extended);
		id = extended.id;
		tid = extended.tid;
		time = (uint64_t)extended.time_high << 32 | extended.time_low;
		ledger->extended++;
	}
	if (compact.length < header || wire_stride(compact.length) > left) {
		wrong(ledger, "ring %u: no record: id %u, length %u, %u bytes left", index, id,
		      compact.length, left);
		return 0;
	}
	for (uint32_t n = compact.length; n < wire_stride(compact.length); n++)
		if (at[n])
			wrong(ledger, "ring %u: padding is not zero", index);
	if (time < ring->time)
		wrong(ledger, "ring %u: time goes back by %llu", index,
		      (unsigned long long)(ring->time - time));
	ring->time = time;
	if (index == session_names_index(&ledger->view)) {
		if (!check_name(ledger, id, tid, compact.length - header))
			return 0;
	} else {
		if (!check_payload(ledger, ring, id, at + header, compact.length - header, first))
			return 0;
		ledger->read++;
		if (tid != ledger->last_recorder)
			remember(ledger->recorders, &ledger->recorder_count, tid);
		ledger->last_recorder = tid;
	}
	ring->known++;
	return wire_stride(compact.length);
}

static bool check_header(struct ledger *ledger, unsigned index, uint64_t sequence)
{
	const struct wire_packet *header = (const struct wire_packet *)ledger->copy;
	struct ledger_ring *ring = &ledger->rings[index];

	if (header->magic != WIRE_MAGIC || header->sequence != sequence)
		return wrong(ledger, "ring %u: packet %llu has the header of %llu", index,
			     (unsigned long long)sequence, (unsigned long long)header->sequence);
	if (header->events_before < ring->known ||
	    (header->events_before != ring->known && !ledger->view.rings[index].overwrite))
		return wrong(ledger, "ring %u packet %llu: %llu records before, %llu known", index,
			     (unsigned long long)sequence, (unsigned long long)header->events_before,
			     (unsigned long long)ring->known);
	if (header->time_begin < ring->time && !ledger->age)
		return wrong(ledger, "ring %u packet %llu begins before the last record", index,
			     (unsigned long long)sequence);
	ledger->overwritten += header->events_before - ring->known;
	ring->known = header->events_before;
	ring->time = header->time_begin;
	return true;
}

static uint64_t read_ring(struct ledger *ledger, unsigned index)
{
	struct ring *source = session_ring_view(&ledger->view, index);
	struct ledger_ring *ring = &ledger->rings[index];
	uint64_t before = ring->known;
	struct ring_piece piece;
	unsigned pieces = 0;
	int result;

	/* A few at a time: a writer may be as fast as we are. */
	while (source && !ledger->why[0] && pieces++ < LEDGER_PIECES &&
	       (result = ring_copy(source, &ring->cursor, ledger->copy, &piece)) != 0) {
		uint32_t at = piece.begin;

		if (result < 0) {
			wrong(ledger, "ring %u: the tail is impossible", index);
			break;
		}
		if (at == sizeof(struct wire_packet))
			check_header(ledger, index, piece.sequence);
		while (!ledger->why[0] && piece.end - at >= 8) {
			uint16_t id;

			memcpy(&id, ledger->copy + at, 2);
			if (id == WIRE_ID_CLOSED && piece.last)
				break;
			at += check_record(ledger, index, ledger->copy + at, piece.end - at,
					   at == sizeof(struct wire_packet));
		}
		if (!source->overwrite)
			ring_give_back(source, ring->cursor.sequence);
	}
	return ring->known - before;
}

uint64_t ledger_read(struct ledger *ledger)
{
	uint64_t sum = 0;

	read_ring(ledger,
		  session_names_index(&ledger->view)); /* first: threads are announced before they record */
	for (unsigned n = 0; n < session_names_index(&ledger->view); n++)
		sum += read_ring(ledger, n);
	return sum;
}

uint64_t ledger_lost(const struct ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < session_names_index(&ledger->view); n++)
		for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
			sum += __atomic_load_n(&ledger->view.rings[n].control->lost[cause], __ATOMIC_RELAXED);
	return sum;
}

static bool was_seen(const struct ledger *ledger, uint32_t writer, uint64_t number)
{
	return number < ledger->room[writer] && ledger->seen[writer][number / 8] >> number % 8 & 1;
}

const char *ledger_balance(struct ledger *ledger)
{
	uint64_t started = 0, completed = 0, lost, holes = 0;

	while (ledger_read(ledger))
		continue;
	lost = ledger_lost(ledger);
	for (uint32_t writer = 0; writer < board->used; writer++) {
		started += board->writers[writer].started;
		completed += board->writers[writer].completed;
		for (uint64_t n = 0; n < board->writers[writer].completed; n++)
			holes += !was_seen(ledger, writer, n);
	}
	ledger->unannounced_count = 0;
	for (unsigned n = 0; n < ledger->recorder_count; n++) {
		if (is_among(ledger->threads, ledger->thread_count, ledger->recorders[n]))
			continue;
		ledger->unannounced = ledger->recorders[n];
		ledger->unannounced_count++;
	}
	if (ledger->why[0])
		return ledger->why;
	if (ledger->read + ledger->overwritten + lost < completed ||
	    ledger->read + ledger->overwritten + lost > started)
		wrong(ledger, "%llu recorded (%llu begun), but %llu read + %llu overwritten + %llu lost",
		      (unsigned long long)completed, (unsigned long long)started,
		      (unsigned long long)ledger->read, (unsigned long long)ledger->overwritten,
		      (unsigned long long)lost);
	/* A record that was begun and not completed may have been lost as well, hence not `!=`. */
	else if (holes > lost + ledger->overwritten)
		wrong(ledger, "%llu records are missing, %llu counted as lost", (unsigned long long)holes,
		      (unsigned long long)(lost + ledger->overwritten));
	else if (ledger->read == 0)
		wrong(ledger, "nothing was recorded");
	return ledger->why[0] ? ledger->why : NULL;
}

const char *ledger_summary(const struct ledger *ledger)
{
	static char text[200];

	snprintf(text, sizeof(text), "%llu read, %llu overwritten, %llu lost, %llu extended, %u threads",
		 (unsigned long long)ledger->read, (unsigned long long)ledger->overwritten,
		 (unsigned long long)ledger_lost(ledger), (unsigned long long)ledger->extended,
		 ledger->thread_count);
	return text;
}
