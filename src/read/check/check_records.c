/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks a stream, packet by packet, record by record.
 *
 * Counts: `events_before` is the number of records in the ring before a packet: those in the trace and those
 * missing. The missing ones must have been counted as lost inside the ring (overwritten, corrupt, left unread).
 * Records that were discarded before they reached the ring do not count here.
 */
#include <errno.h>
#include <unistd.h>

#include "read/check/check_parts.h"
#include "read/stream_iterator.h"
#include "wire/wire_context.h"

enum {
	STEP = 1 << 16,
};

/* The progress of the check of one stream. */
struct progress {
	const struct burin_trace *trace;
	struct read_stream *stream;
	struct read_loader loader;
	const struct read_packet *last; /* the packet before; NULL at the beginning */
	uint64_t records;		/* in the packets before */
	bool gaps;			/* some packets could not be counted */
	bool unfinished;
};

/* The current packet. */
struct view {
	const struct progress *progress;
	const struct read_packet *packet;
	const char *file;
	const unsigned char *bytes;
};

static void fault_at(const struct view *view, int code, const unsigned char *at, const char *reason)
{
	read_fault(view->progress->trace, code, view->file,
		   view->packet->offset + (uint64_t)(at - view->bytes), "%s", reason);
}

static void fault_header(const struct view *view, int code, const char *reason, uint64_t value,
			 uint64_t other)
{
	read_fault(view->progress->trace, code, view->file, view->packet->offset, "%s (%llu, %llu)", reason,
		   (unsigned long long)value, (unsigned long long)other);
}

/* ---- Headers ---- */

static void check_losses(const struct view *view)
{
	const struct read_packet *packet = view->packet, *last = view->progress->last;
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		sum += packet->lost[cause];
		if (last && packet->lost[cause] < last->lost[cause])
			fault_header(view, BURIN_FAULT_COUNT,
				     "a count of lost records is less than in the packet before",
				     packet->lost[cause], last->lost[cause]);
	}
	if (sum != packet->discarded)
		fault_header(view, BURIN_FAULT_COUNT,
			     "events_discarded is not the sum of the counts of lost records",
			     packet->discarded, sum);
}

static void check_before(const struct view *view)
{
	const struct progress *progress = view->progress;
	const struct read_packet *packet = view->packet;
	uint64_t missing = packet->events_before - progress->records;
	uint64_t counted = packet->lost[WIRE_LOST_OVERWRITTEN] + packet->lost[WIRE_LOST_CORRUPT] +
			   packet->lost[WIRE_LOST_UNREAD];

	/* Records of packets that could not be read are missing in ->records, so any number is possible. */
	if (progress->gaps)
		return;
	if (packet->events_before < progress->records)
		fault_header(view, BURIN_FAULT_COUNT,
			     "events_before is less than the records before this packet",
			     packet->events_before, progress->records);
	else if (missing > counted)
		fault_header(view, BURIN_FAULT_COUNT,
			     "records are missing before this packet, more than were counted as lost",
			     missing, counted);
}

static bool all_zero(const unsigned char *at, const unsigned char *end)
{
	while (at < end && !*at)
		at++;
	return at >= end;
}

static void check_header(const struct view *view)
{
	const struct wire_packet *header = (const struct wire_packet *)view->bytes;
	const struct progress *progress = view->progress;
	const struct read_packet *packet = view->packet;
	const struct burin_ring *ring = &progress->stream->ring;

	check_losses(view);
	check_before(view);
	if (!progress->stream->stream_id && !ring->locked && packet->cpu != ring->cpu)
		fault_header(view, BURIN_FAULT_HEADER, "cpu_id is not the CPU of the ring", packet->cpu,
			     ring->cpu);
	if (header->lap || header->reserved2 ||
	    !all_zero((const unsigned char *)header->reserved1,
		      (const unsigned char *)(header->reserved1 + 3)))
		fault_header(view, BURIN_FAULT_PADDING, "the reserved bytes of the header are not zero",
			     header->lap, header->reserved2);
	if (packet->base_offset % WIRE_ALIGN)
		fault_header(view, BURIN_FAULT_HEADER, "base_offset is not the beginning of a record",
			     packet->base_offset, 0);
}

/* ---- Records ---- */

static void check_payload(const struct view *view, const unsigned char *at, const struct wire_head *head)
{
	const struct progress *progress = view->progress;
	const struct read_event *event =
		read_event_find(progress->trace, progress->stream->stream_id, head->id);
	const unsigned char *payload = at + head->bytes;
	uint32_t offsets[WIRE_ARGS_MAX + 1];
	const char *reason;

	if (!event) {
		read_fault(progress->trace, BURIN_FAULT_EVENT, view->file,
			   view->packet->offset + (uint64_t)(at - view->bytes),
			   "a record of event %u, which is not in the table", head->id);
		return;
	}
	reason = read_layout(event, payload, head->length - head->bytes, offsets);
	if (reason) {
		read_fault(progress->trace, BURIN_FAULT_PAYLOAD, view->file,
			   view->packet->offset + (uint64_t)(at - view->bytes), "a record of event %u is %s",
			   head->id, reason);
		return;
	}
	for (unsigned n = 0; n < event->open.fields; n++)
		if (event->fields[n].open.type == WIRE_BOOL && payload[offsets[n]] > 1)
			fault_at(view, BURIN_FAULT_PAYLOAD, payload + offsets[n],
				 "a bool that is neither 0 nor 1");
}

/* Checks times against the base: that of the packet, then that of each extended record. */
static void check_base(const struct view *view, const unsigned char *at, const struct wire_head *head,
		       uint64_t *base)
{
	const struct read_packet *packet = view->packet;

	if (packet->base_offset && (uint64_t)(at - view->bytes) == packet->base_offset &&
	    (!head->extended || head->time != packet->base_time))
		fault_at(view, BURIN_FAULT_TIME, at,
			 "base_offset and base_time of the packet do not fit this record");
	if (head->extended)
		*base = head->time;
	else if (head->time < *base || head->time - *base >= (uint64_t)1 << 32)
		fault_at(view, BURIN_FAULT_TIME, at,
			 "a compact record outside the 2^32 ticks after its time base");
}

/* Checks the records. Return: how many there are. *whole: all of them could be read. */
static uint64_t check_records_check_records(const struct view *view, bool *whole)
{
	const struct read_packet *packet = view->packet;
	const unsigned char *at = view->bytes + sizeof(struct wire_packet),
			    *end = view->bytes + packet->content_bytes;
	uint64_t time = packet->time_begin,
		 base = packet->base_offset ? packet->time_begin : packet->base_time;
	const uint32_t context =
		view->progress->stream->stream_id ? 0 : wire_context_bytes(view->progress->trace->context);
	uint64_t count = 0;

	while (at < end) {
		struct wire_head head;
		enum wire_bad bad =
			wire_head_read(at, (size_t)(end - at), context, time, packet->time_end, &head);
		const unsigned char *next;

		if (bad != WIRE_GOOD) {
			read_bad_report(view->progress->trace, view->file,
					packet->offset + (uint64_t)(at - view->bytes), bad);
			*whole = false;
			return count;
		}
		check_base(view, at, &head, &base);
		check_payload(view, at, &head);
		next = at + wire_stride(head.length);
		if (!all_zero(at + head.length, next < end ? next : end))
			fault_at(view, BURIN_FAULT_PADDING, at, "the padding after this record is not zero");
		if (next > end && at + head.length != end)
			fault_at(view, BURIN_FAULT_PADDING, at,
				 "content_size does not end with the last record");
		else if (next == end && head.length % WIRE_ALIGN)
			fault_at(view, BURIN_FAULT_PADDING, at,
				 "content_size covers the padding of the last record");
		time = head.time;
		at = next;
		count++;
	}
	return count;
}

/* Bytes after the content must be zero, except in the last packet of an unfinished file: a record may have been
 * in progress. */
static void check_rest(struct progress *progress, const struct view *view, bool last_of_file)
{
	const struct read_packet *packet = view->packet;
	uint64_t end = packet->offset + packet->packet_bytes;
	unsigned char bytes[STEP];

	if (progress->unfinished && last_of_file)
		return;
	for (uint64_t at = packet->offset + packet->content_bytes; at < end; at += sizeof(bytes)) {
		size_t want = end - at < sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		const off_t data = lseek(progress->loader.file, (off_t)at, SEEK_DATA);
		ssize_t got;

		if (data < 0 && errno == ENXIO)
			return; /* a hole up to the file's end is zero */
		if (data > 0 && (uint64_t)data >= at + want) {
			at = (uint64_t)data - sizeof(bytes); /* continue at the data */
			continue;
		}
		got = read_fully(progress->loader.file, bytes, want, at);

		for (ssize_t n = 0; n < got; n++) {
			if (bytes[n]) {
				read_fault(
					progress->trace, BURIN_FAULT_PADDING, view->file, at + (uint64_t)n,
					"not zero, after the content of the packet that begins at byte %llu",
					(unsigned long long)packet->offset);
				return;
			}
		}
	}
}

static int check_packet(struct progress *progress, size_t number, struct burin_check_result *result)
{
	struct read_stream *stream = progress->stream;
	struct read_packet *packet = &stream->packets[number];
	bool last_of_file =
		number + 1 == stream->packet_count || stream->packets[number + 1].file != packet->file;
	struct view view = { .progress = progress,
			     .packet = packet,
			     .file = stream->files[packet->file].name };
	uint64_t count;
	bool whole = true;
	int loaded = read_packet_load(&progress->loader, progress->trace, stream, packet);

	if (loaded == -ENOMEM)
		return loaded;
	if (loaded) {
		progress->gaps = true;
		return 0;
	}
	view.bytes = progress->loader.bytes;
	check_header(&view);
	count = check_records_check_records(&view, &whole);
	check_rest(progress, &view, last_of_file);
	progress->gaps |= !whole;
	progress->records += count;
	progress->last = packet;
	result->packets++;
	result->records += count;
	result->bytes += packet->packet_bytes;
	return 0;
}

int read_check_stream(const struct burin_trace *trace, struct read_stream *stream, bool unfinished,
		      struct burin_check_result *result)
{
	struct progress progress = {
		.trace = trace,
		.stream = stream,
		.loader.file = -1,
		.gaps = stream->ring.skipped > 0,
		.unfinished = unfinished,
	};
	int error = 0;

	result->files += stream->file_count;
	for (size_t n = 0; n < stream->packet_count && !error; n++)
		error = check_packet(&progress, n, result);
	read_loader_close(&progress.loader);
	return error;
}
