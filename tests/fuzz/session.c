/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A session that others scribble upon, as ls, events and snapshot look at it. An input is a list of stores into a sound
 * session: where (u32), how many bytes (u8), the bytes. A store of no bytes changes what the first byte behind it says: the
 * size of the file.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burin/read.h"
#include "control/call_listing.h"
#include "control/listing.h"
#include "control/target.h"
#include "drain/drain.h"
#include "fuzz.h"
#include "session/call_known.h"
#include "session/session_calls.h"
#include "session/layout.h"
#include "session/layout_place.h"

enum {
	PACKET = 4096,
	RINGS = 2,
	SLOTS = 4, /* of each ring */
	EVENTS_MAX = 64,
	STORES_MAX = 64,
};

static struct session sound;
static char session_path[300], trace_path[300];

static void geometry_make(struct wire_geometry *geometry)
{
	*geometry = (struct wire_geometry){
		.version = WIRE_SESSION_VERSION,
		.header_bytes = sizeof(struct wire_session),
		.mode = WIRE_MODE_FLIGHT,
		.clock = WIRE_CLOCK_MONOTONIC,
		.clock_hz = 1000000000,
		.packet_bytes = PACKET,
		.ring_packets = SLOTS,
		.cpus = 1,
		.locked = RINGS - 1,
		.names_packet_bytes = PACKET,
		.names_packets = SLOTS,
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

static void write_records(unsigned index, uint16_t id)
{
	static _Alignas(8) char buffer[WIRE_LENGTH_MAX + 64];
	struct ring *ring = session_ring_use(&sound, index);

	ring->locked = true;
	for (unsigned n = 0; n < 300; n++) {
		struct ring_record record = { buffer, 12 + 16 + n % 7 + 1 };
		char *at = buffer + WIRE_HEADROOM;

		memset(buffer, 0, sizeof(buffer));
		memset(at, 0x20 + (int)n % 64, 16 + n % 7);
		ring_prepare(buffer, id, record.length, 4242);
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

/* Small, so that an input reaches all of it, with events, records and names. */
static void make_sound(void)
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
	};
	uint16_t ids[5];

	geometry_make(&sound.geometry);
	sound.base = mmap(NULL, sound.geometry.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	FUZZ_HOLDS(sound.base != MAP_FAILED);
	memcpy(sound.base, &sound.geometry, sizeof(sound.geometry));
	FUZZ_HOLDS(layout_attach(&sound) == 0);
	*sound.events = (struct wire_events){ .magic = WIRE_EVENTS_MAGIC, .text_bytes = 1 };
	sound.shared->filters_used = WIRE_FILTERS_FIRST;
	FUZZ_HOLDS(session_event_register(&sound, events, 5, ids) == 0 && ids[0] && ids[1] && ids[2] &&
		   ids[3] && ids[4]);
	write_records(0, ids[0]);
	write_call(ids[3]);
	make_calls(ids[4]);
	write_records(1, ids[0]);
	session_ring_use(&sound, session_names_index(&sound));
	session_announce_process(&sound, 4242, 4242);
	session_announce_thread(&sound, 4242, 4243, 4243, "other", 0);
	snprintf(session_path, sizeof(session_path), "%s/session", archive_directory());
	snprintf(trace_path, sizeof(trace_path), "%s/trace", archive_directory());
}

/* The session's file, with the input's stores. */
static void scribble(struct fuzz_input input)
{
	static const char zero[PACKET];
	const int file = open(session_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t bytes = sound.geometry.file_bytes;
	char *base;

	FUZZ_HOLDS(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	FUZZ_HOLDS(base != MAP_FAILED);
	/* The file is zero, and so is most of the session: the tables of calls. */
	for (uint64_t at = 0; at < bytes; at += PACKET)
		if (memcmp(sound.base + at, zero, PACKET) != 0)
			memcpy(base + at, sound.base + at, PACKET);
	for (unsigned n = 0; n < STORES_MAX && input.left; n++) {
		const uint64_t at = fuzz_take(&input, 4) % bytes;
		size_t count = (size_t)fuzz_take(&input, 1);

		count = count < input.left ? count : input.left;
		count = count < bytes - at ? count : bytes - at;
		memcpy(base + at, input.at, count);
		input.at += count;
		input.left -= count;
	}
	munmap(base, bytes);
	close(file);
}

static void list(struct session *session)
{
	struct listing listing;
	size_t sum = 0;

	if (listing_read(&listing, session))
		return;
	for (unsigned n = 0; n < listing.count; n++)
		sum += strlen(listing.events[n].name) + strlen(listing.events[n].format) +
		       strlen(listing.events[n].file) + strlen(listing.events[n].refused_file) +
		       strlen(listing.events[n].where);
	listing_free(&listing);
	fuzz_use(sum);
}

static size_t known_bytes(struct call_known known)
{
	return strlen(known.spec ?: "") + strlen(known.file ?: "");
}

static void list_calls(struct session *session)
{
	struct call_listing listing;
	size_t sum = 0;

	if (!session->calls.header || call_listing_read(&listing, session))
		return;
	for (size_t n = 0; n < listing.count; n++)
		sum += strlen(call_listing_image(&listing, &listing.functions[n])) +
		       listing.functions[n].count +
		       known_bytes(call_known_find(session, listing.functions[n].image,
						   listing.functions[n].offset));
	call_listing_free(&listing);
	fuzz_use(sum);
}

/* But names that were erased are gone, and nothing is left that says that they were there. */
static void on_fault(void *data, const struct burin_diagnosis *fault)
{
	(void)data;
	if (fault->code == BURIN_FAULT_FILE && strcmp(fault->file, "names") == 0)
		return;
	fprintf(stderr, "%s: byte %llu: %s\n", fault->file, (unsigned long long)fault->offset, fault->reason);
	FUZZ_HOLDS(!"a trace that check finds sound");
}

static void snapshot(struct session *session)
{
	const struct burin_check_options check = { .size = sizeof(check), .on_fault = on_fault };
	struct drain_options options = { 0 };
	struct burin_check_result result;
	struct burin_diagnosis why;
	struct drain_totals totals;
	int directory, error;

	FUZZ_HOLDS(mkdir(trace_path, 0700) == 0);
	directory = open(trace_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0);
	error = drain_snapshot(session, directory, &options, &totals);
	close(directory);

	/* Whatever a session holds, the trace of it is sound: what no writer can have written is not in it. */
	if (!error)
		FUZZ_HOLDS(burin_trace_check(trace_path, &check, &result, &why) == 0);
	archive_remove(trace_path);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t state = seed;
	const struct wire_geometry *geometry = &sound.geometry;
	const uint64_t slot = geometry->rings_offset + fuzz_random(&state) % (RINGS * SLOTS) * PACKET;
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
				   geometry->names_offset + fuzz_random(&state) % SLOTS * PACKET,
				   geometry->calls_offset,
				   (uint64_t)((char *)sound.calls.images - sound.base),
				   (uint64_t)((char *)sound.calls.functions - sound.base),
				   (uint64_t)(sound.calls.segments - sound.base) };
	uint64_t at, value = fuzz_random(&state);
	uint32_t where;

	if (fuzz_random(&state) % 3 || size + 13 > max)
		return LLVMFuzzerMutate(data, size, max);
	/* one store more, where a number stands */
	at = parts[fuzz_random(&state) % (sizeof(parts) / sizeof(*parts))];
	at += fuzz_random(&state) % 2 ? fuzz_random(&state) % 64 * 4
				      : fuzz_random(&state) % PACKET & ~UINT64_C(3);
	where = (uint32_t)at;
	memcpy(data + size, &where, 4);
	data[size + 4] = (uint8_t)(1 << fuzz_random(&state) % 4);
	if (fuzz_random(&state) % 2)
		value &= 0xff;
	else if (fuzz_random(&state) % 2)
		value = UINT64_MAX >> fuzz_random(&state) % 64;
	memcpy(data + size + 5, &value, data[size + 4]);
	return size + 5 + data[size + 4];
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	make_sound();
	return 0;
}

static int map(struct session *session, bool write)
{
	const char *why = "";
	const int file = session_file(AT_FDCWD, session_path, write, &why);
	const int error = file < 0 ? file
			  : write  ? session_open(session, file, &why)
				   : session_look(session, file, &why);

	if (file >= 0)
		close(file);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target_list targets;
	struct session session;
	const char *why = "";

	scribble((struct fuzz_input){ data, size });
	if (target_list_matching(&targets, session_path, &why) == 0) {
		for (unsigned n = 0; n < targets.count; n++)
			target_describe(&targets.targets[n], true);
	}
	target_list_free(&targets);
	/* For each as the commands do it: of these, a snapshot may not store anything. */
	if (map(&session, false) == 0) {
		snapshot(&session);
		session_leave(&session);
	}
	if (map(&session, true) == 0) {
		list(&session);
		list_calls(&session);
		session_leave(&session);
	}
	return 0;
}
