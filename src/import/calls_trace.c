/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace of calls from elsewhere; see calls_trace.h.
 *
 * It has the files of a recording, by the same writers, but no session, rings or recorder. The few things
 * that the writers take from a session are in a made-up one (calls_trace_describe()). The only event is that
 * of a call, with id 1.
 *
 * Records are collected in a packet in memory and written when it is full, since no reader waits for them.
 * Tables need no order here: the trace is of use only when calls_trace_finish() has written its metadata and
 * recording file, at the end.
 *
 * Times that go back are raised to the one before, as writers of tracepoints do it: streams must be in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "file/create.h"
#include "import/calls_trace.h"
#include "wire/wire_call.h"
#include "wire/wire_name_record.h"
#include "wire/wire_packet.h"
#include "wire/wire_record.h"

enum {
	PACKET = 64 << 10,
	CALL_EVENT = 1, /* the only event's id */
};

static const uint64_t names_instance = 0xffffffff;
static const char *const table_names[] = { ".burin/calls.images", ".burin/calls.functions",
					   ".burin/calls.symbols", ".burin/calls.open" };

static void calls_trace_fail(struct calls_trace *trace, int error)
{
	if (!trace->error)
		trace->error = error;
}

static int calls_trace_begin_stream(struct calls_trace_stream *out, int directory, const char *name,
				    uint32_t stream_id)
{
	stream_init(&out->stream, directory, name, PACKET);
	out->stream_id = stream_id;
	out->used = out->content = sizeof(*out->packet);
	out->packet = aligned_alloc(8, PACKET);
	return out->packet ? 0 : -ENOMEM;
}

int calls_trace_begin(struct calls_trace *trace, int directory)
{
	static const uint32_t magics[] = { WIRE_TABLE_IMAGES, WIRE_TABLE_STACKS, WIRE_TABLE_SYMBOLS,
					   WIRE_TABLE_OPEN };
	struct table_writer *const tables[] = { &trace->images, &trace->functions, &trace->symbols,
						&trace->open };
	int own;

	*trace = (struct calls_trace){ .directory = directory };
	for (unsigned n = 0; n < 4; n++)
		tables[n]->fd = -1;
	trace->records.stream.fd = trace->names.stream.fd = -1;
	if (getrandom(trace->uuid, sizeof(trace->uuid), 0) != sizeof(trace->uuid))
		calls_trace_fail(trace, -errno);
	own = create_directory(directory, ".burin");
	if (own < 0)
		calls_trace_fail(trace, own);
	else
		close(own);
	for (unsigned n = 0; n < 4 && !trace->error; n++)
		calls_trace_fail(trace, table_writer_begin(tables[n], directory, table_names[n], magics[n]));
	if (!trace->error)
		calls_trace_fail(trace, calls_trace_begin_stream(&trace->records, directory, "cpu0",
								 WIRE_STREAM_RECORDS));
	if (!trace->error)
		calls_trace_fail(trace, calls_trace_begin_stream(&trace->names, directory, "names",
								 WIRE_STREAM_NAMES));
	return trace->error;
}

/* ---- Tables */

uint32_t calls_trace_image(struct calls_trace *trace, const char *path, const void *build_id,
			   size_t build_id_bytes)
{
	const size_t bytes = strlen(path);
	uint32_t number;

	table_writer_number(&trace->images, bytes ? WIRE_IMAGE_FILE : WIRE_IMAGE_ANONYMOUS);
	table_writer_number(&trace->images, 0);
	table_writer_text(&trace->images, build_id, build_id_bytes);
	table_writer_text(&trace->images, path, bytes);
	number = table_writer_end(&trace->images);
	calls_trace_fail(trace, trace->images.error);
	table_writer_number(&trace->symbols, WIRE_SYMBOLS_IMAGE);
	table_writer_number(&trace->symbols, number);
	table_writer_number(&trace->symbols, WIRE_SYMBOLS_TABLE);
	table_writer_text(&trace->symbols, "", 0);
	table_writer_end(&trace->symbols);
	return number;
}

uint32_t calls_trace_function(struct calls_trace *trace, uint32_t image, uint64_t offset, uint64_t size,
			      const char *name)
{
	table_writer_number(&trace->functions, trace->functions.count + 1); /* it has no caller */
	table_writer_number(&trace->functions, image);
	table_writer_number(&trace->functions, offset);
	table_writer_end(&trace->functions);
	calls_trace_fail(trace, trace->functions.error);
	if (name) {
		table_writer_number(&trace->symbols, WIRE_SYMBOLS_TEXT);
		table_writer_text(&trace->symbols, name, strlen(name));
		table_writer_end(&trace->symbols);
		table_writer_number(&trace->symbols, WIRE_SYMBOLS_FUNCTION);
		table_writer_number(&trace->symbols, image);
		table_writer_number(&trace->symbols, offset);
		table_writer_number(&trace->symbols, size ? size : 1);
		table_writer_number(&trace->symbols, ++trace->texts);
		table_writer_end(&trace->symbols);
	}
	return trace->functions.error ? 0 : trace->functions.count;
}

void calls_trace_open(struct calls_trace *trace, uint32_t stack, uint32_t tid, uint32_t pid, uint32_t depth,
		      uint32_t function, uint64_t start)
{
	/* A begin of 0 would be no begin. */
	const uint64_t fields[] = { stack, tid, pid, depth, function, start ? start : 1, 0 };

	for (unsigned n = 0; n < sizeof(fields) / sizeof(*fields); n++)
		table_writer_number(&trace->open, fields[n]);
	table_writer_end(&trace->open);
	calls_trace_fail(trace, trace->open.error);
}

/* ---- Streams */

static void write_packet(struct calls_trace *trace, struct calls_trace_stream *out)
{
	const bool names = out->stream_id == WIRE_STREAM_NAMES;

	if (trace->error)
		return;
	*out->packet = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = out->stream_id,
		.stream_instance = names ? names_instance : 0,
		.events_before = out->kept,
		.base_time = out->first,
		.time_begin = out->first,
		.time_end = out->last,
		.sequence = out->sequence++,
	};
	memcpy(out->packet->uuid, trace->uuid, sizeof(trace->uuid));
	if (!names && out->sequence > 1) /* readers see losses between packets only */
		out->packet->lost[WIRE_LOST_FULL] = out->packet->discarded = trace->lost;
	calls_trace_fail(trace, stream_packet(&out->stream, out->packet, out->content));
	out->kept += out->count;
	out->count = 0;
	out->used = out->content = sizeof(*out->packet);
}

/* The header of a record. The first one of a packet, and those near it, are compact. Return: where the payload goes. */
static char *add_record(struct calls_trace *trace, struct calls_trace_stream *out, uint16_t id, uint32_t tid,
			uint64_t time, uint32_t payload)
{
	const uint32_t length = (uint32_t)sizeof(struct wire_compact) + payload;
	struct wire_extended extended = { .tag = WIRE_ID_EXTENDED,
					  .length = (uint16_t)(sizeof(extended) + payload),
					  .id = id,
					  .tid = tid };
	char *at;

	if (time < out->last)
		time = out->last;
	if (out->used + wire_stride(length + WIRE_ALIGN) > PACKET)
		write_packet(trace, out);
	if (!out->count)
		out->first = out->base = time;
	at = (char *)out->packet + out->used;
	memset(at, 0, wire_stride(length + WIRE_ALIGN));
	extended.time_low = (uint32_t)time;
	extended.time_high = (uint32_t)(time >> 32);
	if (out->count && (out->stream_id == WIRE_STREAM_NAMES || time - out->base >= UINT64_C(1) << 32)) {
		memcpy(at, &extended, sizeof(extended));
		out->content = out->used + extended.length;
		out->base = time;
	} else {
		memcpy(at, &(struct wire_compact){ id, (uint16_t)length, (uint32_t)time, tid },
		       sizeof(struct wire_compact));
		out->content = out->used + length;
	}
	out->used += wire_stride(out->content - out->used);
	out->last = time;
	out->count++;
	return (char *)out->packet + out->content - payload;
}

void calls_trace_call(struct calls_trace *trace, uint32_t tid, uint64_t begin, uint64_t end,
		      uint32_t function, uint32_t depth)
{
	const uint32_t low = (uint32_t)begin;
	const uint16_t rest[] = { (uint16_t)(begin >> 32), (uint16_t)depth };
	char *at = add_record(trace, &trace->records, CALL_EVENT, tid, end, 12);

	memcpy(at, &function, 4);
	memcpy(at + 4, &low, 4);
	memcpy(at + 8, rest, 4);
}

void calls_trace_lost(struct calls_trace *trace, uint64_t count)
{
	struct calls_trace_stream *out = &trace->records;

	if (out->count || !out->sequence)
		write_packet(trace, out);
	trace->lost += count;
}

/* @buffer: the content of a record, behind the room for a header; @end: of it, in the buffer */
static void add_name(struct calls_trace *trace, uint16_t id, uint32_t tid, uint64_t time, const char *buffer,
		     uint32_t end)
{
	const uint32_t bytes = end - WIRE_HEADROOM;

	memcpy(add_record(trace, &trace->names, id, tid, time, bytes), buffer + WIRE_HEADROOM, bytes);
}

void calls_trace_process(struct calls_trace *trace, uint64_t time, uint32_t pid, uint32_t parent,
			 const char *exe, const char *command)
{
	char buffer[WIRE_NAME_ROOM(WIRE_NAME_TEXT_MAX)];

	add_name(trace, WIRE_NAME_PROCESS, pid, time, buffer,
		 wire_name_process(buffer, WIRE_NAME_TEXT_MAX, pid, parent, exe, command, 0));
}

void calls_trace_thread(struct calls_trace *trace, uint64_t time, uint32_t tid, uint32_t pid,
			const char *name)
{
	char buffer[WIRE_NAME_ROOM(WIRE_NAME_TEXT_MAX)];

	add_name(trace, WIRE_NAME_THREAD, tid, time, buffer,
		 wire_name_thread(buffer, WIRE_NAME_TEXT_MAX, pid, name, 0));
}

/* ---- The end */

static void finish_stream(struct calls_trace *trace, struct calls_trace_stream *out)
{
	if (out->count || (out == &trace->records && trace->lost))
		write_packet(trace, out);
	if (!trace->error)
		calls_trace_fail(trace, stream_finish(&out->stream));
}

/* The descriptions take uuid, clock and ring sizes from a session; this one has nothing else. */
static int calls_trace_describe(struct calls_trace *trace, const struct recording *recording)
{
	struct wire_ring control = { .size = WIRE_RING_PACKETS_MIN };
	struct ring ring = { .control = &control, .window = WIRE_RING_PACKETS_MIN };
	struct session session = {
		.geometry = { .clock = WIRE_CLOCK_MONOTONIC, .packet_bytes = PACKET, .cpus = 1 },
		.rings = &ring
	};
	struct event_table table;
	int error = event_table_init_calls(&table);

	memcpy(session.geometry.uuid, trace->uuid, sizeof(trace->uuid));
	memcpy(session.geometry.boot_id, trace->uuid, sizeof(trace->uuid)); /* of no boot of this machine */
	if (!error)
		error = metadata_write(trace->directory, &session, &table, recording->clock, NULL);
	event_table_free(&table);
	return error ? error : recording_write(trace->directory, &session, recording);
}

int calls_trace_finish(struct calls_trace *trace, struct recording recording)
{
	struct table_writer *const tables[] = { &trace->images, &trace->functions, &trace->symbols,
						&trace->open };

	recording.state = "finished";
	for (unsigned n = 0; n < 4 && !trace->error; n++)
		calls_trace_fail(trace, table_writer_flush(tables[n]));
	for (unsigned n = 0; n < 4 && !trace->error; n++)
		table_writer_finish(tables[n], trace->directory, table_names[n], 0);
	finish_stream(trace, &trace->names);
	finish_stream(trace, &trace->records);
	if (!trace->error)
		calls_trace_fail(trace, calls_trace_describe(trace, &recording));
	return trace->error;
}

void calls_trace_free(struct calls_trace *trace)
{
	table_writer_close(&trace->images);
	table_writer_close(&trace->functions);
	table_writer_close(&trace->symbols);
	table_writer_close(&trace->open);
	stream_close(&trace->records.stream);
	stream_close(&trace->names.stream);
	free(trace->records.packet);
	free(trace->names.packet);
}
