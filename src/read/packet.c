/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The index of a stream: the header of every packet is checked here, so all later code can trust the offsets.
 * Loading reads the bytes of one packet into a private buffer. Files are read, not mapped: truncation of a mapped
 * file would kill the reader with SIGBUS, and reading 64 KiB into a warm buffer costs no more.
 *
 * The recorder may be writing meanwhile (docs/format.md, "Trace"). It writes records, then the counts, then
 * content_size. Once the packet is final, it reduces packet_size, which announces the next packet. So a header is
 * read twice. If it was closed the first time, the second copy is final. If it is open both times, the first
 * content_size is used: all bytes that it covers had been written, and the counts of the second copy are no older.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "read/trace.h"

enum {
	HEADER_BYTES = sizeof(struct wire_packet),
	SEARCH_MAX = 2 * WIRE_PACKET_MAX, /* how far to search for the next packet */
	SEARCH_STEP = 1 << 16,
	SEARCH_FIRST = 512, /* bytes of the first step: the next packet may be near */
};

/* One file that is being indexed. */
struct indexing {
	struct burin_trace *trace;
	struct read_stream *stream;
	const char *name;
	uint32_t file_index;
	int file;
	uint64_t size;
	bool holes; /* the file has holes */
	uint64_t skipped;
};

static bool reaches_end(const struct wire_packet *header, uint64_t rest)
{
	return header->packet_bits / 8 >= rest;
}

/* Reads a header, twice (see above). Return: 0, or a negative errno (-ENODATA: the file has shrunk). */
static int packet_read_header(const struct indexing *in, uint64_t offset, struct wire_packet *header)
{
	struct wire_packet before = { .magic = 0 };
	uint64_t rest = in->size - offset;

	for (int turn = 0; turn < 3; turn++) {
		ssize_t got = read_fully(in->file, header, sizeof(*header), offset);

		if (got != (ssize_t)sizeof(*header))
			return got < 0 ? (int)got : -ENODATA;
		if (turn && !reaches_end(&before, rest))
			return 0;
		if (turn && reaches_end(header, rest)) {
			header->content_bits = before.content_bits;
			return 0;
		}
		before = *header;
	}
	return 0;
}

/* The next offset where a packet of this trace seems to begin; the end of the file if none is near. */
static uint64_t search_packet(const struct indexing *in, uint64_t offset)
{
	unsigned char bytes[SEARCH_STEP + HEADER_BYTES];
	const uint32_t magic = WIRE_MAGIC;
	size_t step = SEARCH_FIRST;

	offset = (offset + 7) & ~(uint64_t)7;
	for (uint64_t limit = offset + SEARCH_MAX; offset < limit && offset < in->size; offset += step) {
		ssize_t got;

		step = step < SEARCH_STEP ? 2 * step : SEARCH_STEP;
		got = read_fully(in->file, bytes, step + HEADER_BYTES, offset);
		for (ssize_t at = 0; at + HEADER_BYTES <= got && at < (ssize_t)step; at += 8)
			if (!memcmp(bytes + at, &magic, 4) && !memcmp(bytes + at + 4, in->trace->uuid, 16))
				return offset + (uint64_t)at;
	}
	return in->size;
}

/* Whether a header belongs to this stream; if not, that is reported. */
static bool packet_belongs(const struct indexing *in, uint64_t offset, const struct wire_packet *header)
{
	const struct read_stream *stream = in->stream;

	if (memcmp(header->uuid, in->trace->uuid, 16))
		read_fault(in->trace, BURIN_FAULT_HEADER, in->name, offset,
			   "a packet of another trace (its uuid differs)");
	else if (header->stream_id != stream->stream_id)
		read_fault(in->trace, BURIN_FAULT_HEADER, in->name, offset, "stream_id is %u, not %u",
			   header->stream_id, stream->stream_id);
	else if (header->stream_instance != stream->ring.number)
		read_fault(in->trace, BURIN_FAULT_HEADER, in->name, offset,
			   "a packet of ring %llu in a file of ring %u",
			   (unsigned long long)header->stream_instance, stream->ring.number);
	else if (header->time_begin > header->time_end)
		read_fault(in->trace, BURIN_FAULT_TIME, in->name, offset,
			   "timestamp_begin is later than timestamp_end");
	else
		return true;
	return false;
}

/* The bytes of a content before its first hole: no recorder leaves one there, and a small file may have huge holes. */
static uint32_t without_hole(const struct indexing *in, uint64_t offset, uint32_t content)
{
	const off_t hole = in->holes ? lseek(in->file, (off_t)offset, SEEK_HOLE) : -1;

	if (hole < 0 || (uint64_t)hole >= offset + content)
		return content;
	read_fault(in->trace, BURIN_FAULT_SIZE, in->name, offset,
		   "a hole begins within the content, after %llu bytes",
		   (unsigned long long)((uint64_t)hole - offset));
	return (uint64_t)hole - offset < HEADER_BYTES ? 0 : (uint32_t)((uint64_t)hole - offset);
}

/* The content's size in bytes if it is sound and within `bytes`, 0 if not. */
static uint32_t content_bytes(const struct wire_packet *header, uint64_t bytes)
{
	uint64_t content = header->content_bits / 8;

	if (header->content_bits % 8 || content < HEADER_BYTES || content > bytes ||
	    content > WIRE_PACKET_MAX)
		return 0;
	return (uint32_t)content;
}

/*
 * The packet's size and, in *content, how many bytes of it can be read (0: none). Of a packet that is longer than
 * its file, the part in the file can be read.
 */
static uint64_t packet_measure(const struct indexing *in, uint64_t offset, const struct wire_packet *header,
			       uint32_t *content)
{
	uint64_t rest = in->size - offset, bytes = header->packet_bits / 8;
	bool whole = header->packet_bits % 64 == 0 && bytes >= HEADER_BYTES;

	*content = without_hole(in, offset, content_bytes(header, whole ? bytes : rest));
	if (whole && bytes <= rest) {
		if (!*content)
			read_fault(in->trace, BURIN_FAULT_SIZE, in->name, offset,
				   "content_size of %llu bits does not fit a packet of %llu bytes",
				   (unsigned long long)header->content_bits, (unsigned long long)bytes);
		return bytes;
	}
	if (whole)
		read_fault(in->trace, BURIN_FAULT_SIZE, in->name, offset,
			   "the file ends %llu bytes before the end of this packet",
			   (unsigned long long)(bytes - rest));
	else
		read_fault(in->trace, BURIN_FAULT_SIZE, in->name, offset,
			   "packet_size of %llu bits is invalid", (unsigned long long)header->packet_bits);
	if (*content > rest)
		*content = (uint32_t)rest;
	return search_packet(in, offset + (*content ? *content : HEADER_BYTES)) - offset;
}

static int packet_add_packet(const struct indexing *in, uint64_t offset, uint64_t bytes, uint32_t content,
			     const struct wire_packet *header)
{
	struct read_stream *stream = in->stream;
	struct read_packet *packet;
	const int error =
		read_memory_reserve(in->trace, in->name, offset, &stream->packets, &stream->packet_room,
				    stream->packet_count + 1, sizeof(*packet));

	if (error)
		return error;
	packet = &stream->packets[stream->packet_count++];
	*packet = (struct read_packet){
		.offset = offset,
		.packet_bytes = bytes,
		.content_bytes = content,
		.file = in->file_index,
		.cpu = header->cpu,
		.time_begin = header->time_begin,
		.time_end = header->time_end,
		.sequence = header->sequence,
		.discarded = header->discarded,
		.events_before = header->events_before,
		.base_time = header->base_time,
		.base_offset = header->base_offset,
	};
	memcpy(packet->lost, header->lost, sizeof(packet->lost));
	in->trace->stored += content;
	return 0;
}

static int index_file(struct indexing *in)
{
	uint64_t offset = 0, bytes;

	for (; offset < in->size; offset += bytes) {
		struct wire_packet header;
		uint32_t content;
		int result;

		if (in->size - offset < HEADER_BYTES) {
			read_fault(in->trace, BURIN_FAULT_SIZE, in->name, offset,
				   "the file ends within a packet's header, %llu bytes short",
				   (unsigned long long)(HEADER_BYTES - (in->size - offset)));
			return 0;
		}
		result = packet_read_header(in, offset, &header);
		if (result) {
			read_fault(in->trace, BURIN_FAULT_CHANGED, in->name, offset,
				   "cannot read this packet's header: %s",
				   result == -ENODATA ? "the file has shrunk" : burin_fault_name(result));
			return 0;
		}
		if (header.magic != (uint32_t)WIRE_MAGIC) {
			bytes = search_packet(in, offset + 8) - offset;
			read_fault(in->trace, BURIN_FAULT_HEADER, in->name, offset,
				   "no packet begins here; skipped %llu bytes", (unsigned long long)bytes);
			in->skipped++;
			continue;
		}
		bytes = packet_measure(in, offset, &header, &content);
		if (!packet_belongs(in, offset, &header) || !content) {
			in->skipped++;
			continue;
		}
		result = packet_add_packet(in, offset, bytes, content, &header);
		if (result)
			return result;
	}
	return 0;
}

int read_stream_index(struct burin_trace *trace, struct read_stream *stream)
{
	int result = 0;

	for (unsigned n = 0; n < stream->file_count && !result; n++) {
		struct indexing in = {
			.trace = trace, .stream = stream, .name = stream->files[n].name, .file_index = n
		};

		in.file = read_directory_open(trace, in.name, &in.size);
		if (in.file < 0) {
			read_fault_file(trace, BURIN_FAULT_FILE, in.name, in.file);
			continue;
		}
		if (!in.size && trace->strict)
			read_fault(trace, BURIN_FAULT_SIZE, in.name, 0, "the file is empty");
		in.holes = read_hole(in.file, in.size) < in.size;
		result = index_file(&in);
		close(in.file);
		read_skip_packets(trace, in.skipped);
		stream->ring.skipped += in.skipped;
	}
	return result == -EDQUOT ? 0 : result; /* the rest is not read, and that is a fault */
}

void read_uuid_choose(struct burin_trace *trace)
{
	uint8_t first[16];
	bool found = false, recorded = false;
	const char *text = burin_trace_recording(trace, "uuid");

	recorded = text && read_uuid_parse(text, trace->uuid);
	for (unsigned n = 0; n <= trace->stream_count; n++) {
		const struct read_stream *stream =
			n < trace->stream_count ? &trace->streams[n] : &trace->names_stream;
		struct wire_packet header;
		uint64_t size;
		int file;

		if (!stream->file_count)
			continue;
		file = read_directory_open(trace, stream->files[0].name, &size);
		if (file < 0)
			continue;
		if (read_fully(file, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
		    header.magic == (uint32_t)WIRE_MAGIC) {
			if (!found)
				memcpy(first, header.uuid, sizeof(first));
			found = true;
			if (recorded && !memcmp(header.uuid, trace->uuid, 16)) {
				close(file);
				return;
			}
		}
		close(file);
	}
	if (!found)
		return;
	memcpy(trace->uuid, first, sizeof(first));
	if (recorded)
		read_fault(trace, BURIN_FAULT_RECORDING, ".burin/recording", 0, "no packet has its uuid");
}

static int loader_open(struct read_loader *loader, const struct burin_trace *trace,
		       const struct read_stream *stream, unsigned file_index)
{
	uint64_t size;

	if (loader->file >= 0 && loader->stream == stream && loader->file_index == file_index)
		return 0;
	if (loader->file >= 0)
		close(loader->file);
	loader->file = read_directory_open(trace, stream->files[file_index].name, &size);
	loader->file_index = file_index;
	loader->stream = stream;
	return loader->file < 0 ? loader->file : 0;
}

int read_packet_load(struct read_loader *loader, const struct burin_trace *trace,
		     const struct read_stream *stream, struct read_packet *packet)
{
	const char *name = stream->files[packet->file].name;
	const char *reason = "the file has shrunk";
	int result = loader_open(loader, trace, stream, packet->file);
	ssize_t got;

	if (!array_reserve(loader->bytes, loader->room, packet->content_bytes + (size_t)READ_BEHIND))
		return -ENOMEM;
	if (!result) {
		got = read_fully(loader->file, loader->bytes, packet->content_bytes, packet->offset);
		if (got == (ssize_t)packet->content_bytes) {
			const struct wire_packet *header = (const struct wire_packet *)loader->bytes;

			memset(loader->bytes + got, 0, READ_BEHIND);
			if (header->magic == (uint32_t)WIRE_MAGIC && header->sequence == packet->sequence &&
			    header->time_begin == packet->time_begin)
				return 0;
			reason = "another packet is there now";
		} else if (got < 0) {
			reason = burin_fault_name((int)got);
		}
	} else {
		reason = burin_fault_name(result);
	}
	read_fault(trace, BURIN_FAULT_CHANGED, name, packet->offset, "cannot read this packet any more: %s",
		   reason);
	read_skip_packet(trace, packet);
	return BURIN_FAULT_CHANGED;
}

void read_loader_close(struct read_loader *loader)
{
	if (loader->file >= 0)
		close(loader->file);
	free(loader->bytes);
	*loader = (struct read_loader){ .file = -1 };
}
