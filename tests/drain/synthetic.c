/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Synthetic sessions; see synthetic.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ftw.h>

#include "file/named.h"
#include "synthetic.h"

static uint64_t kept;

static uint64_t sum_of(unsigned ring, uint64_t number)
{
	return harness_mix(harness_mix(number + 1) ^ ring);
}

static unsigned text_bytes(unsigned ring, uint64_t number, unsigned max)
{
	return max ? (unsigned)(harness_mix(number * 3 + ring) % max) : 0;
}

static char text_byte(uint64_t number, unsigned at)
{
	return (char)('a' + (number + at) % 26);
}

void synthetic_begin(struct synthetic *synthetic, const struct session_options *options)
{
	synthetic_begin_split(synthetic, options, (struct chunk_limits){ 0 });
}

void synthetic_begin_split(struct synthetic *synthetic, const struct session_options *options,
			   struct chunk_limits split)
{
	static unsigned traces;
	struct session_event events[] = {
		{ .name = "drain.plain",
		  .format = "number=%llu sum=%llx",
		  .file = "x.c",
		  .types = WIRE_U64 | WIRE_U64 << 4 },
		{ .name = "drain.text",
		  .format = "number=%llu sum=%llx text=%s",
		  .file = "x.c",
		  .types = WIRE_U64 | WIRE_U64 << 4 | WIRE_STR << 8 },
	};
	const char *why = "", *tmp = getenv("TMPDIR");
	char refused[NAMED_WHY];
	uint16_t ids[2];
	int error;

	*synthetic = (struct synthetic){ 0 };
	error = session_create(&synthetic->session, options, synthetic->session_path,
			       sizeof(synthetic->session_path), &why);
	if (error)
		harness_die("no session: %s (%s)", why, strerror(-error));
	if (session_join(&synthetic->writer, synthetic->session_path, &why) != 0)
		harness_die("no session: %s", why);
	for (unsigned n = 0; n < synthetic->writer.ring_count; n++)
		synthetic->writer.rings[n].locked = true;
	session_event_register(&synthetic->writer, events, 2, ids);
	synthetic->id_plain = ids[0];
	synthetic->id_text = ids[1];
	if (!ids[0] || !ids[1] || synthetic->session.ring_count > SYNTHETIC_RINGS)
		harness_die("no events");
	snprintf(synthetic->trace, sizeof(synthetic->trace), "%s/burin-drain-%d-%u", tmp ? tmp : "/tmp",
		 (int)getpid(), traces++);
	synthetic->directory = named_directory(synthetic->trace, false, refused);
	error = drain_begin(&synthetic->drain, &synthetic->session, synthetic->directory,
			    &(struct drain_options){ .session_path = synthetic->session_path,
						     .command = "synthetic",
						     .split = split });
	if (error)
		harness_die("no trace: %s", strerror(-error));
}

void synthetic_write(struct synthetic *synthetic, unsigned index, unsigned records, unsigned text_max)
{
	static _Thread_local _Alignas(8) char buffer[WIRE_LENGTH_MAX + 64];
	struct ring *ring = session_ring_use(&synthetic->writer, index);

	for (; records > 0; records--) {
		const uint64_t number = synthetic->written[index], sum = sum_of(index, number);
		const unsigned text = text_bytes(index, number, text_max);
		struct ring_record record = { buffer, 12 + 16 };
		char *at = buffer + WIRE_HEADROOM;
		enum ring_result result;

		memset(buffer, 0, WIRE_HEADROOM);
		memcpy(at, &number, 8);
		memcpy(at + 8, &sum, 8);
		at += 16;
		if (text) {
			for (unsigned n = 0; n + 1 < text; n++)
				*at++ = text_byte(number, n);
			*at++ = 0;
			record.length += text;
		}
		memset(at, 0, 8);
		ring_prepare(buffer, text ? synthetic->id_text : synthetic->id_plain, record.length,
			     (uint32_t)getpid());
		result = ring_append_locked(ring, record, (uint32_t)gettid());
		if (result == RING_DONE) {
			synthetic->written[index]++;
		} else {
			ring_lose(ring, result == RING_FULL ? WIRE_LOST_FULL : WIRE_LOST_BUSY);
			synthetic->refused[index]++;
		}
	}
}

struct stream_state {
	struct synthetic *synthetic;
	unsigned ring;
	uint64_t next;
	bool holes;
	void (*visit)(void *data, uint64_t number, uint64_t time);
	void *data;
};

static const char *check_record(struct walk *walk, const struct walk_record *record)
{
	struct stream_state *state = walk->data;
	uint64_t number, sum;

	if (record->bytes < 16)
		return "a record that was never written";
	memcpy(&number, record->payload, 8);
	memcpy(&sum, record->payload + 8, 8);
	/* Equal is valid: a running writer may not have counted its last record yet. */
	if (sum != sum_of(state->ring, number) || number > state->synthetic->written[state->ring] ||
	    record->tid != (uint32_t)getpid()) {
		snprintf(walk->why, sizeof(walk->why),
			 "record %llu was never written (event %u, %u bytes, %llu were)",
			 (unsigned long long)number, record->id, record->bytes,
			 (unsigned long long)state->synthetic->written[state->ring]);
		return walk->why;
	}
	if (record->id == state->synthetic->id_text)
		for (unsigned n = 16; n + 1 < record->bytes; n++)
			if (record->payload[n] != text_byte(number, n - 16))
				return "a record with a wrong text";
	if (number < state->next)
		return "a record that was read before";
	if (number > state->next && !state->holes)
		return "a record is missing";
	state->next = number + 1;
	if (state->visit)
		state->visit(state->data, number, record->time);
	kept++;
	return NULL;
}

static void name_of(const struct synthetic *synthetic, unsigned ring, char *name, size_t bytes)
{
	unsigned cpus = synthetic->writer.geometry.cpus;

	if (ring < cpus)
		snprintf(name, bytes, "cpu%u", ring);
	else
		snprintf(name, bytes, "locked%u", ring - cpus);
}

const char *synthetic_check_stream(struct synthetic *synthetic, const char *path, unsigned ring, bool holes,
				   void (*visit)(void *data, uint64_t number, uint64_t time), void *data,
				   uint64_t *next)
{
	struct stream_state state = { synthetic, ring, *next, holes, visit, data };
	struct walk walk = { .directory = path, .record = check_record, .data = &state };
	const char *why;
	char name[32];

	name_of(synthetic, ring, name, sizeof(name));
	walk.stream = name;
	why = walk_stream(&walk);
	*next = state.next;
	if (!why)
		return NULL;
	snprintf(synthetic->why, sizeof(synthetic->why), "%s", why);
	return synthetic->why;
}

const char *synthetic_check(struct synthetic *synthetic, bool holes)
{
	kept = 0;
	for (unsigned n = 0; n < session_names_index(&synthetic->writer); n++) {
		uint64_t next = 0;
		const char *why =
			synthetic_check_stream(synthetic, synthetic->trace, n, holes, NULL, NULL, &next);

		if (why)
			return why;
	}
	return NULL;
}

uint64_t synthetic_kept(const struct synthetic *synthetic)
{
	(void)synthetic;
	return kept;
}

int synthetic_finish(struct synthetic *synthetic)
{
	int error = drain_finish(&synthetic->drain, "exit 0", &synthetic->totals);

	close(synthetic->directory);
	unlink(synthetic->session_path);
	session_leave(&synthetic->session);
	return error;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

void synthetic_remove(struct synthetic *synthetic)
{
	session_leave(&synthetic->writer);
	synthetic_remove_trace(synthetic->trace);
}

void synthetic_remove_trace(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
