/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A small session; see sound_session.h. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "session/calls/call_known.h"
#include "session/layout.h"
#include "session/layout_place.h"
#include "session/calls/session_calls.h"
#include "sound_session.h"

enum {
	EVENTS_MAX = 64,
};

static struct session sound;
static uint16_t record_id; /* of the event whose records are written */

static void geometry_make(struct wire_geometry *geometry, enum wire_mode mode)
{
	*geometry = (struct wire_geometry){
		.version = WIRE_SESSION_VERSION,
		.header_bytes = sizeof(struct wire_session),
		.mode = mode,
		.clock = WIRE_CLOCK_MONOTONIC,
		.clock_hz = 1000000000,
		.packet_bytes = SOUND_PACKET,
		.ring_packets = SOUND_SLOTS,
		.cpus = 1,
		.locked = SOUND_RINGS - 1,
		.names_packet_bytes = SOUND_PACKET,
		.names_packets = SOUND_SLOTS,
		.string_max = 100,
		.events_max = EVENTS_MAX,
		.filters_bytes = 4096,
		.text_bytes = 4096,
		.functions_max = 64,
		.call_segments = 2,
		.owner_kind = WIRE_OWNER_PROGRAM,
		.program = "fuzz",
	};
	memcpy(geometry->magic, WIRE_SESSION_MAGIC, sizeof(geometry->magic));
	memset(geometry->uuid, 0x5a, sizeof(geometry->uuid));
	layout_decide(geometry);
}

void sound_session_records(unsigned index)
{
	static _Alignas(8) char buffer[WIRE_LENGTH_MAX + 64];
	struct ring *ring = session_ring_use(&sound, index);

	ring->locked = true;
	for (unsigned n = 0; n < 300; n++) {
		struct ring_record record = { buffer, 12 + 16 + n % 7 + 1 };
		char *at = buffer + WIRE_HEADROOM;

		memset(buffer, 0, sizeof(buffer));
		memset(at, 0x20 + (int)n % 64, 16 + n % 7);
		ring_prepare(buffer, record_id, record.length, 4242);
		ring_append_locked(ring, record, 4242);
	}
}

/* A call of the first function. */
static void write_call(uint16_t id)
{
	static _Alignas(8) char buffer[WIRE_HEADROOM + 64];
	const uint32_t words[] = { 1, 300, 0 };
	struct ring *ring = session_ring_use(&sound, 0);
	struct ring_record record = { buffer, 12 + sizeof(words) };

	memcpy(buffer + WIRE_HEADROOM, words, sizeof(words));
	ring_prepare(buffer, id, record.length, 4242);
	ring_append_locked(ring, record, 4242);
}

/* Functions of two images, a stack with three open calls. @with_values: the event of calls with arguments */
static void make_calls(uint16_t with_values)
{
	const uint8_t build_id[20] = { 1, 2, 3 };
	const struct session_call_image images[] = { { "/usr/bin/fuzz", build_id, sizeof(build_id), 1, 2 },
						     { "", build_id, 0, 0, 0 } };
	struct wire_call_frame *frames;
	struct wire_call_values *blocks;

	for (unsigned n = 0; n < 2; n++) {
		const uint32_t image = session_call_image(&sound, &images[n], 4242);

		for (unsigned offset = 0; offset < 3; offset++)
			FUZZ_HOLDS(session_call_function(&sound, image, 0x1000 + 16 * offset, 16,
							 WIRE_CALL_ON, 4242));
	}
	sound.calls.counts[2] = 7;
	sound.calls.header->described = 1;
	sound.calls.header->described_files[0] = (struct wire_call_described){ 1, 2, 0, 2 };
	sound.calls.specs[0] = (struct wire_call_spec){ .offset = 0x1000, .text = 1 };
	sound.calls.specs[1] = (struct wire_call_spec){ .offset = 0x1010, .text = 5, .source = 9 };
	memcpy(sound.calls.spec_text, "\0a/i\0b/s\0x.c", 13);
	FUZZ_HOLDS(session_call_segment(&sound, 4242, 4242, 0, 0, 0) == 1);
	frames = (struct wire_call_frame *)session_call_segment_at(&sound, 1);
	frames[1] = (struct wire_call_frame){ .start = 100, .function = 1 };
	frames[2] = (struct wire_call_frame){ .start = 200, .function = 4, .flags = WIRE_CALL_ENDING };
	frames[3] = (struct wire_call_frame){ .start = 300, .function = 2, .flags = WIRE_CALL_WITH_VALUES };
	FUZZ_HOLDS(session_call_segment(&sound, 4242, 4242, WIRE_CALL_VALUES_STACK, 0, 0) == 2);
	blocks = (struct wire_call_values *)((struct wire_call_segment *)session_call_segment_at(&sound, 2) +
					     1);
	blocks[0] = (struct wire_call_values){ .start = 300,
					       .segment = 1,
					       .slot = 3,
					       .event = with_values,
					       .bytes = 6,
					       .payload = "\1\0\0\0a" };
}

struct session *sound_session(enum wire_mode mode)
{
	const struct session_event events[] = {
		{ .name = "fuzz.text",
		  .format = "number=%llu sum=%llx text=%s",
		  .file = "x.c",
		  .types = WIRE_U64 | WIRE_U64 << 4 | WIRE_STR << 8 },
		{ .name = "fuzz.plain", .format = "number=%d", .file = "x.c", .types = WIRE_I32 },
		{ .name = "fuzz.array",
		  .format = "list=%d{states}",
		  .file = "x.c",
		  .enums = "states ON=1 OFF=0\n",
		  .types = WIRE_I32 << 4 },
		{ .name = WIRE_CALL_EVENT,
		  .format = WIRE_CALL_FORMAT,
		  .file = "x.c",
		  .types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U16 << 8 | WIRE_U16 << 12 },
		{ .name = WIRE_CALL_PREFIX "fuzz",
		  .format = WIRE_CALL_FORMAT " n=%d text=%s",
		  .file = "x.c",
		  .types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U16 << 8 | WIRE_U16 << 12 | WIRE_I32 << 16 |
			   WIRE_STR << 20 },
		{ .name = "fuzz.span.begin",
		  .format = "span_id_high=%llx span_id=%llx",
		  .file = "x.c",
		  .kind = WIRE_KIND_SPAN_BEGIN,
		  .types = WIRE_U64 | WIRE_U64 << 4 },
	};
	uint16_t ids[6];

	geometry_make(&sound.geometry, mode);
	sound.base = mmap(NULL, sound.geometry.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	FUZZ_HOLDS(sound.base != MAP_FAILED);
	memcpy(sound.base, &sound.geometry, sizeof(sound.geometry));
	FUZZ_HOLDS(layout_attach(&sound) == 0);
	*sound.events = (struct wire_events){ .magic = WIRE_EVENTS_MAGIC, .text_bytes = 1 };
	sound.shared->filters_used = WIRE_FILTERS_FIRST;
	FUZZ_HOLDS(session_event_register(&sound, events, 6, ids) == 0 && ids[0] && ids[1] && ids[2] &&
		   ids[3] && ids[4] && ids[5]);
	record_id = ids[0];
	sound_session_records(0);
	write_call(ids[3]);
	make_calls(ids[4]);
	sound_session_records(1);
	session_ring_use(&sound, session_names_index(&sound));
	session_announce_process(&sound, 4242, 4242);
	session_announce_thread(&sound, 4242, 4243, 4243, "other", 0);
	return &sound;
}

int sound_session_file(const char *path)
{
	static const char zero[SOUND_PACKET];
	const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const uint64_t bytes = sound.geometry.file_bytes;

	FUZZ_HOLDS(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
	/* The file is zero, and so is most of the session: the tables of calls. */
	for (uint64_t at = 0; at < bytes; at += SOUND_PACKET)
		if (memcmp(sound.base + at, zero, SOUND_PACKET) != 0)
			FUZZ_HOLDS(pwrite(file, sound.base + at, SOUND_PACKET, (off_t)at) == SOUND_PACKET);
	return file;
}

uint64_t sound_session_place(uint64_t number)
{
	const struct wire_geometry *geometry = &sound.geometry;
	const uint64_t slot =
		geometry->rings_offset + number / 16 % (SOUND_RINGS * SOUND_SLOTS) * SOUND_PACKET;
	const uint64_t parts[] = { 0,
				   offsetof(struct wire_session, over),
				   geometry->desired_offset,
				   geometry->conditions_offset,
				   geometry->filters_offset + 64,
				   geometry->journal_offset,
				   geometry->events_offset,
				   geometry->text_offset,
				   geometry->controls_offset,
				   slot,
				   slot + WIRE_CONTEXT_OFFSET,
				   geometry->names_offset + number / 16 % SOUND_SLOTS * SOUND_PACKET,
				   geometry->calls_offset,
				   (uint64_t)((char *)sound.calls.images - sound.base),
				   (uint64_t)((char *)sound.calls.functions - sound.base),
				   (uint64_t)(sound.calls.segments - sound.base) };

	return parts[number % 16];
}
