/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walking one stream. What cannot be read is reported and passed over: a record whose payload is wrong alone,
 * as its length still leads to the next; the rest of a packet when a record's header is wrong, as nothing
 * leads on from there.
 */
#include "read/lane.h"

#include <errno.h>

#include "read/record.h"
#include "wire/context.h"

void read_bad_report(const struct burin_trace *trace, const char *file, uint64_t offset, enum read_bad bad)
{
	static const char *const reasons[] = {
		[READ_GOOD] = "",
		[READ_BAD_CUT] = "the packet's content ends within a record's header",
		[READ_BAD_ID] = "no record begins here: this id is no event's",
		[READ_BAD_LENGTH] = "the record's length is too small or leads out of the packet",
		[READ_BAD_BACK] = "the record is earlier than the one before it",
		[READ_BAD_LATE] = "the record is later than its packet's timestamp_end",
	};

	read_fault(trace, bad >= READ_BAD_BACK ? BURIN_FAULT_TIME : BURIN_FAULT_RECORD, file, offset, "%s",
		   reasons[bad]);
}

static const char *file_name(const struct read_lane *lane)
{
	return lane->stream->files[lane->packet->file].name;
}

static uint64_t offset_of(const struct read_lane *lane, const unsigned char *at)
{
	return lane->packet->offset + (uint64_t)(at - lane->loader.bytes);
}

static void report_header(struct read_lane *lane, enum read_bad bad)
{
	read_bad_report(lane->trace, file_name(lane), offset_of(lane, lane->at), bad);
	read_skip_packet(lane->trace, lane->packet);
}

static void report_payload(struct read_lane *lane, const unsigned char *at, const struct read_head *head,
			   const char *reason)
{
	bool fresh;

	if (reason)
		fresh = read_fault(lane->trace, BURIN_FAULT_PAYLOAD, file_name(lane), offset_of(lane, at),
				   "a record of event %u is %s", head->id, reason);
	else
		fresh = read_fault(lane->trace, BURIN_FAULT_EVENT, file_name(lane), offset_of(lane, at),
				   "a record of event %u, which is not in the table", head->id);
	if (fresh)
		read_skip_record(lane->trace);
}

/* Loads the next packet that has records of the lane's time. Return: 1; 0: there is none; -ENOMEM. */
static int next_packet(struct read_lane *lane)
{
	struct read_stream *stream = lane->stream;

	while (lane->next < stream->packet_count) {
		struct read_packet *packet = &stream->packets[lane->next++];
		int result;

		if (packet->content_bytes == sizeof(struct wire_packet) || packet->time_end < lane->from)
			continue;
		if (lane->to && packet->time_begin >= lane->to) {
			lane->next = stream->packet_count;
			return 0;
		}
		result = read_packet_load(&lane->loader, lane->trace, stream, packet);
		if (result == -ENOMEM)
			return result;
		if (result)
			continue;
		lane->packet = packet;
		lane->at = lane->loader.bytes + sizeof(struct wire_packet);
		lane->end = lane->loader.bytes + packet->content_bytes;
		lane->time = packet->time_begin;
		lane->record.file = file_name(lane);
		lane->record.cpu = stream->stream_id || stream->ring.locked ? UINT32_MAX : packet->cpu;
		return 1;
	}
	return 0;
}

/* Hands out a record if its payload is what its event says. */
static bool take(struct read_lane *lane, const unsigned char *at, const struct read_head *head)
{
	const struct read_event *event = read_event_find(lane->trace, lane->stream->stream_id, head->id);
	struct burin_record *record = &lane->record;
	const char *reason = NULL;

	if (__builtin_expect(!event, 0)) {
		report_payload(lane, at, head, NULL);
		return false;
	}
	record->payload = at + head->bytes;
	record->payload_bytes = head->length - head->bytes;
	if (!event->variable) {
		record->offsets = event->offsets;
		if (__builtin_expect(record->payload_bytes != event->payload_bytes, 0))
			reason = record->payload_bytes < event->payload_bytes ? "shorter than its fields"
									      : "longer than its fields";
	} else {
		record->offsets = lane->offsets;
		reason = read_layout(event, record->payload, record->payload_bytes, lane->offsets);
	}
	if (__builtin_expect(reason != NULL, 0)) {
		report_payload(lane, at, head, reason);
		return false;
	}
	record->time = head->time;
	record->event = &event->open;
	record->tid = head->tid;
	record->offset = offset_of(lane, at);
	return true;
}

int read_lane_next(struct read_lane *lane)
{
	for (;;) {
		const unsigned char *at = lane->at;
		struct read_head head;
		enum read_bad bad;

		if (at >= lane->end) {
			int result = next_packet(lane);

			if (result <= 0)
				return result;
			continue;
		}
		bad = read_head(at, (size_t)(lane->end - at), lane->context_bytes, lane->time,
				lane->packet->time_end, &head);
		if (__builtin_expect(bad != READ_GOOD, 0)) {
			report_header(lane, bad);
			lane->at = lane->end;
			continue;
		}
		lane->at = at + wire_stride(head.length);
		lane->time = head.time;
		if (head.time < lane->from)
			continue;
		if (lane->to && head.time >= lane->to) {
			lane->at = lane->end;
			lane->next = lane->stream->packet_count;
			return 0;
		}
		if (take(lane, at, &head))
			return 1;
	}
}

void read_lane_start(struct read_lane *lane, const struct burin_trace *trace, struct read_stream *stream,
		     uint64_t from, uint64_t to)
{
	*lane = (struct read_lane){ .trace = trace, .stream = stream, .loader.file = -1, .to = to };
	lane->record.context = stream->stream_id ? 0 : trace->context;
	lane->context_bytes = wire_context_bytes(lane->record.context);
	lane->record.ring = stream->stream_id ? UINT32_MAX : stream->ring.number;
	read_lane_seek(lane, from);
}

void read_lane_seek(struct read_lane *lane, uint64_t time)
{
	const struct read_stream *stream = lane->stream;
	size_t low = 0, high = stream->packet_count;

	/* The first packet that ends at the time or later; ends never go back in the index. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stream->packets[middle].time_end < time)
			low = middle + 1;
		else
			high = middle;
	}
	lane->next = low;
	lane->from = time;
	lane->at = lane->end = NULL;
}

void read_lane_stop(struct read_lane *lane)
{
	read_loader_close(&lane->loader);
}
