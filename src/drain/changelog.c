/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The history in a trace; see changelog.h.
 *
 * Commands write entries into the session's history under a lock that the drain does not take: it must not
 * wait for a command, and a snapshot stores nothing. So every read may meet a writer:
 *
 *	an entry	its number is 0 while it is rewritten; it is copied between two loads of the number
 *	the states	a counter of changes, odd during one; they are read between two equal, even values
 *	the last number	published with release, behind the entry; history_last() acquires it
 *
 * The slots behind the last entry may be under preparation, so only CHANGELOG_READABLE of WIRE_CHANGES are
 * read. An entry that was overwritten, or is not plausible, is counted in ->dropped, and each record carries
 * that count.
 *
 * ->seen counts events whose state is known here, ->stated those whose state is in the file, and ->taken is
 * the number of the last entry that was read. The file begins late (->begun), with the first change. Until
 * then the states cost nothing but two bitmaps.
 *
 * A history without end would fill the disk: behind CHANGELOG_RECORDS_MAX records changes are only counted.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/nolibc.h"
#include "drain/changelog.h"
#include "drain/validate.h"
#include "ring/ring_deps.h"
#include "session/events/event_condition.h"
#include "wire/wire_head.h"
#include "wire/wire_names.h"
#include "wire/wire_terms.h"

enum {
	CHANGELOG_PACKET = 128 << 10, /* the largest record is 64 KiB */
	CHANGELOG_RECORDS_MAX = 10000,
	CHANGELOG_READABLE = WIRE_CHANGES - WIRE_CHANGES_AT_ONCE, /* slots that no writer is preparing */
	CHANGELOG_TRIES = 100,
	CHANGELOG_LIST_MAX = 60000, /* bytes of a list of events; the rest goes to another record */
	CHANGELOG_RANGE_MAX = 12,   /* of one range: " 65532-65533" */
	CHANGELOG_WHERE_MAX = 60,   /* bytes of a filter, so that the reason has room behind it */
};

/* A change with its bitmap, copied from the session. */
union entry {
	struct wire_change change;
	char bytes[sizeof(struct wire_change) + (WIRE_ID_MAX + 7) / 8 + 64];
};

static uint64_t history_last(const struct session *session)
{
	/* Acquire: the entries are complete. Pairs with the release in history_publish(). */
	return __atomic_load_n(&session->shared->history, __ATOMIC_ACQUIRE);
}

static uint64_t history_lost(const struct session *session)
{
	return __atomic_load_n(&session->shared->history_lost, __ATOMIC_RELAXED);
}

/* ---- One record */

struct record {
	char *bytes;
	uint32_t length;
};

static void put_u32(struct record *record, uint32_t value)
{
	memcpy(record->bytes + record->length, &value, sizeof(value));
	record->length += (uint32_t)sizeof(value);
}

static void put_u64(struct record *record, uint64_t value)
{
	memcpy(record->bytes + record->length, &value, sizeof(value));
	record->length += (uint32_t)sizeof(value);
}

/* Put a text that another process has written. It may lack its final zero, and then ends after @room - 1 bytes. */
static void changelog_put_text(struct record *record, const char *text, size_t room)
{
	const size_t bytes = strnlen(text, room - 1);

	memcpy(record->bytes + record->length, text, bytes);
	record->bytes[record->length + bytes] = 0;
	record->length += (uint32_t)bytes + 1;
}

/* Put the events of a bitmap, @first to @last, as "3-17 20", as far as there is room. Return: the last event examined. */
static uint32_t changelog_put_events(struct record *record, const char *bits, uint32_t first, uint32_t last)
{
	struct nolibc_string out = { record->bytes + record->length, CHANGELOG_LIST_MAX, 0, false };
	uint32_t id = first;

	out.out[0] = 0;
	for (; id <= last; id++) {
		uint32_t end = id;

		if (!(bits[(id - 1) / 8] & 1 << (id - 1) % 8))
			continue;
		/* The rest goes to another record, which begins with this event. */
		if (out.size - out.used <= CHANGELOG_RANGE_MAX)
			break;
		while (end < last && bits[end / 8] & 1 << end % 8)
			end++;
		if (out.used)
			nolibc_text(&out, " ");
		nolibc_decimal(&out, id);
		if (end > id) {
			nolibc_text(&out, "-");
			nolibc_decimal(&out, end);
		}
		id = end;
	}
	record->length += (uint32_t)out.used + 1;
	return id - 1;
}

static void add_header(struct changelog *log, struct wire_packet *packet)
{
	*packet = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = WIRE_STREAM_NAMES,
		.stream_instance = WIRE_CHANGES_INSTANCE,
		.events_before = log->records,
		.base_time = log->time,
		.time_begin = log->time,
		.time_end = log->time,
		.sequence = log->packets,
	};
	memcpy(packet->uuid, log->session->geometry.uuid, sizeof(packet->uuid));
}

/* Append the record in the buffer; the room in front of it is for a packet's header. */
static int changelog_append(struct changelog *log, const struct record *record)
{
	int error;

	if (log->packets && wire_stride(log->stream.content) + record->length <= CHANGELOG_PACKET) {
		error = stream_extend(&log->stream, record->bytes, record->length, log->time);
	} else {
		add_header(log, (struct wire_packet *)log->buffer);
		error = stream_packet(&log->stream, (struct wire_packet *)log->buffer,
				      (uint32_t)sizeof(struct wire_packet) + record->length);
		log->packets += !error;
	}
	log->records += !error;
	return error;
}

/* Write a record of a change, with as many events as fit. *@last: set to the last of them. */
static int write_part(struct changelog *log, const struct wire_change *change, const char *bits,
		      uint32_t first, uint32_t *last)
{
	struct record record = { log->buffer + sizeof(struct wire_packet), sizeof(struct wire_extended) };
	const uint64_t now = ring_clock(), time = change->time < now ? change->time : now;
	struct wire_extended header = { .tag = WIRE_ID_EXTENDED, .id = WIRE_NAME_CHANGE, .tid = change->tid };
	uint32_t last_at;

	/* The time is from shared memory. A stream has no times that are in the future or go back. */
	log->time = time > log->time ? time : log->time;
	put_u64(&record, change->number);
	changelog_put_text(&record, wire_change_keys[change->kind], 16);
	put_u32(&record, change->pid);
	put_u32(&record, change->uid);
	changelog_put_text(&record, change->program, sizeof(change->program));
	changelog_put_text(&record, change->command, sizeof(change->command));
	changelog_put_text(&record, change->text, sizeof(change->text));
	put_u64(&record, change->value);
	put_u32(&record, first);
	/* The last event is known when the list is made, which is the last field. So its place is kept. */
	last_at = record.length;
	put_u32(&record, *last);
	put_u64(&record, log->dropped);
	*last = changelog_put_events(&record, bits, first, *last);
	memcpy(record.bytes + last_at, last, sizeof(*last));
	header.length = (uint16_t)record.length;
	header.time_low = (uint32_t)log->time;
	header.time_high = (uint32_t)(log->time >> 32);
	memcpy(record.bytes, &header, sizeof(header));
	/* Padding is zero, or validation refuses the record. */
	memset(record.bytes + record.length, 0, wire_stride(record.length) - record.length);
	return changelog_append(log, &record);
}

/* Write a change or a state, of the events of @first to @last that are in the bitmap. */
static int write_change(struct changelog *log, const struct wire_change *change, const char *bits,
			uint32_t first, uint32_t last)
{
	uint32_t end;
	int error;

	do {
		end = last;
		error = write_part(log, change, bits, first, &end);
		first = end + 1;
	} while (!error && end < last);
	return error;
}

/* ---- States */

/* Add the states of newly registered events. They have had these states since they were registered. */
static void add_new_events(struct changelog *log)
{
	const uint32_t count = session_event_count(log->session);

	for (; log->seen < count; log->seen++) {
		if (wire_is_on(log->session->desired[log->seen])) {
			log->on[log->seen / 8] |= (uint8_t)(1 << log->seen % 8);
		} else if (log->session->desired[log->seen] == WIRE_UNFIT) {
			log->unfit[log->seen / 8] |= (uint8_t)(1 << log->seen % 8);
			log->unfit_first = log->unfit_first ? log->unfit_first : log->seen + 1;
		}
	}
}

/* Read the desired states of all events, and the number of the last change before them. */
static void read_states(struct changelog *log)
{
	const uint32_t *changes = &log->session->shared->changes;

	for (unsigned tries = 0; tries < CHANGELOG_TRIES; tries++) {
		const uint32_t before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);

		memset(log->on, 0, (log->session->geometry.events_max + 7) / 8);
		log->seen = 0;
		log->taken = history_last(log->session);
		log->paused = log->session->shared->paused != 0;
		add_new_events(log);
		/* The copy is finished before the counter is read again, as in listing_read(). */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(changes, __ATOMIC_RELAXED) == before)
			return;
		sched_yield();
	}
}

static struct wire_change state_now(const struct changelog *log, enum wire_change_kind kind, uint64_t time)
{
	return (struct wire_change){ .number = log->taken,
				     .kind = kind,
				     .time = time,
				     .pid = nolibc_pid(),
				     .tid = nolibc_tid(),
				     .uid = nolibc_user(),
				     .program = "burin",
				     .value = log->paused };
}

static int write_state(struct changelog *log, uint64_t time, uint32_t first)
{
	const struct wire_change state = state_now(log, WIRE_CHANGE_STATE, time);

	if (first > log->seen && log->seen)
		return 0;
	log->stated = log->seen;
	return write_change(log, &state, (const char *)log->on, first, log->seen);
}

/* Make the file, and write the states of all events at the trace's beginning, or only those of new events. */
static int changelog_begin_file(struct changelog *log)
{
	if (log->begun)
		return log->stated < log->seen ? write_state(log, 0, log->stated + 1) : 0;
	log->begun = true;
	log->stated = log->seen;
	return log->past ? 0 : write_state(log, log->begin, 1);
}

/* Write which new events a rule did not fit, with the reason of one of them. */
static int write_unfit(struct changelog *log)
{
	const size_t bytes = (log->session->geometry.events_max + 7) / 8;
	struct wire_change change = state_now(log, WIRE_CHANGE_UNFIT, ring_clock());
	struct nolibc_string text = { change.text, sizeof(change.text), 0, false };
	struct event_unfit unfit;
	int error = changelog_begin_file(log);

	event_unfit_explain(log->session, log->unfit_first - 1, &unfit);
	nolibc_text(&text, "--where ");
	nolibc_bytes(&text, unfit.where, strnlen(unfit.where, CHANGELOG_WHERE_MAX));
	nolibc_text(&text, ": ");
	nolibc_text(&text, unfit.why);
	if (!error)
		error = write_change(log, &change, (const char *)log->unfit, 1, log->seen);
	memset(log->unfit, 0, bytes);
	log->unfit_first = 0;
	return error;
}

/* ---- Changes */

/* Copy an entry from the session. Return: whether it is complete and plausible. */
static bool changelog_copy_entry(const struct changelog *log, uint64_t number, union entry *entry)
{
	const struct session *session = log->session;
	const uint64_t bytes = wire_change_bytes(session->geometry.events_max);
	const char *slot = session->history + number % WIRE_CHANGES * bytes;

	if (__atomic_load_n((const uint64_t *)slot, __ATOMIC_ACQUIRE) != number)
		return false;
	memcpy(entry, slot, bytes);
	/* The copy comes before the second load. Pairs with the fence of the writer that has begun to overwrite it. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n((const uint64_t *)slot, __ATOMIC_RELAXED) == number &&
	       entry->change.number == number && entry->change.kind < WIRE_CHANGE_KINDS &&
	       entry->change.kind != WIRE_CHANGE_STATE && entry->change.kind != WIRE_CHANGE_UNFIT;
}

static int changelog_take(struct changelog *log, uint64_t number)
{
	static union entry entry;
	int error = 0;

	log->taken = number;
	if (log->records >= CHANGELOG_RECORDS_MAX || !changelog_copy_entry(log, number, &entry)) {
		log->dropped++;
		return 0;
	}
	log->others += entry.change.pid != nolibc_pid();
	if (!log->packets)
		error = changelog_begin_file(log);
	return error ? error
		     : write_change(log, &entry.change, entry.bytes + sizeof(entry.change), 1, log->seen);
}

int changelog_round(struct changelog *log)
{
	const uint64_t last = history_last(log->session);
	int error = 0;

	add_new_events(log);
	if (log->begun && log->stated < log->seen && log->records < CHANGELOG_RECORDS_MAX)
		error = changelog_begin_file(log);
	if (!error && log->unfit_first && log->records < CHANGELOG_RECORDS_MAX)
		error = write_unfit(log);
	if (last < log->taken) /* the session was damaged */
		log->taken = last;
	if (last - log->taken > CHANGELOG_READABLE) {
		log->dropped += last - log->taken - CHANGELOG_READABLE;
		log->taken = last - CHANGELOG_READABLE;
	}
	while (!error && log->taken < last)
		error = changelog_take(log, log->taken + 1);
	return error;
}

int changelog_finish(struct changelog *log)
{
	int error = changelog_round(log);

	/* Before read_states(), which moves ->taken: what comes in between has no record in this file. */
	log->written = log->taken;
	log->dropped += history_lost(log->session) - log->lost_before;
	log->lost_before = history_lost(log->session);
	if (!error && (log->paused || log->dropped) && !log->begun)
		error = changelog_begin_file(log);
	if (!error && log->begun) {
		read_states(log);
		error = write_state(log, ring_clock(), 1);
	}
	if (!error)
		error = stream_finish(&log->stream);
	stream_close(&log->stream);
	return error;
}

static int changelog_prepare(struct changelog *log, const struct session *session, int directory)
{
	*log = (struct changelog){ .session = session,
				   .lost_before = history_lost(session),
				   .begin = ring_clock(),
				   .buffer = aligned_alloc(8, CHANGELOG_PACKET),
				   .on = calloc((session->geometry.events_max + 7) / 8, 1),
				   .unfit = calloc((session->geometry.events_max + 7) / 8, 1) };
	stream_init(&log->stream, directory, wire_file_keys[WIRE_FILE_CHANGES], CHANGELOG_PACKET);
	return log->buffer && log->on && log->unfit ? 0 : -ENOMEM;
}

int changelog_begin(struct changelog *log, const struct session *session, int directory, bool past)
{
	int error = changelog_prepare(log, session, directory);

	if (error)
		return error;
	read_states(log);
	log->past = past;
	/* A snapshot takes the entries that are still there; the others count as dropped. */
	if (past)
		log->taken = log->dropped =
			log->taken > CHANGELOG_READABLE ? log->taken - CHANGELOG_READABLE : 0;
	return 0;
}

int changelog_next(struct changelog *log, int directory)
{
	const struct changelog before = *log;
	int error;

	changelog_free(log);
	error = changelog_begin(log, before.session, directory, false);
	if (error)
		return error;
	/* The states at the end of the file before may have had later changes in them already; no record of these is there. */
	log->taken = before.written;
	log->lost_before = before.lost_before;
	return 0;
}

/* Find out from the last packet where the last writer stopped. */
/* The number of the last change that is in the file is the first field of its last record. */
static int read_last(struct changelog *log, const struct wire_packet *packet)
{
	static const struct window always = { 0, UINT64_MAX };
	struct event_table table;
	struct validated validated = { .sound = false };
	struct wire_walk walk;
	const char *at;
	int error = event_table_init_names(&table, true);

	if (!error) {
		validated = validate_records(&table, log->buffer, sizeof(*packet),
					     wire_stride(log->stream.content), packet->time_begin,
					     packet->time_begin, ring_clock(), always);
		error = validated.sound ? 0 : -EBADMSG;
	}
	event_table_free(&table);
	walk = (struct wire_walk){ log->buffer + validated.begin,
				   log->buffer + validated.content,
				   0,
				   { .time = packet->time_begin } };
	while (!error && (at = wire_walk_next(&walk)))
		log->taken = number_load64(at + walk.head.bytes);
	log->packets = packet->sequence + 1;
	log->records = packet->events_before + validated.count;
	log->time = validated.time;
	log->begun = true;
	return error;
}

int changelog_resume(struct changelog *log, const struct session *session, int directory)
{
	int error = changelog_prepare(log, session, directory), found;

	if (error)
		return error;
	read_states(log);
	log->stated = log->seen;
	/* The states of now are not those at the beginning, which only the recorder that died could know. */
	log->past = true;
	log->taken = 0;
	found = stream_reopen(&log->stream, (struct wire_packet *)log->buffer);
	return found > 0 ? read_last(log, (const struct wire_packet *)log->buffer) : found;
}

uint64_t changelog_bytes(const struct changelog *log)
{
	return stream_bytes(&log->stream);
}

void changelog_free(struct changelog *log)
{
	stream_close(&log->stream);
	free(log->buffer);
	free(log->on);
	free(log->unfit);
	*log = (struct changelog){ .stream = { .fd = -1 } };
}
