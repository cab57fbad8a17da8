/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads one stream. Faults are reported. A record with a wrong payload is skipped, since its length still leads to
 * the next one. After a wrong record header the rest of the packet is skipped.
 */
#include "read/stream_iterator.h"

#include <errno.h>

#include "wire/wire_context.h"

void read_bad_report(const struct burin_trace *trace, const char *file, uint64_t offset, enum wire_bad bad)
{
	static const char *const reasons[] = {
		[WIRE_GOOD] = "",
		[WIRE_BAD_TRUNCATED] = "the packet's content ends within a record's header",
		[WIRE_BAD_ID] = "no record begins here: this id is no event's",
		[WIRE_BAD_LENGTH] = "the record's length is too small or leads out of the packet",
		[WIRE_BAD_BACK] = "the record is earlier than the one before it",
		[WIRE_BAD_LATE] = "the record is later than its packet's timestamp_end",
	};

	read_fault(trace, bad >= WIRE_BAD_BACK ? BURIN_FAULT_TIME : BURIN_FAULT_RECORD, file, offset, "%s",
		   reasons[bad]);
}

static const char *stream_iterator_file_name(const struct stream_iterator *iterator)
{
	return iterator->stream->files[iterator->packet->file].name;
}

static uint64_t stream_iterator_offset_of(const struct stream_iterator *iterator, const unsigned char *at)
{
	return iterator->packet->offset + (uint64_t)(at - iterator->loader.bytes);
}

static void report_header(struct stream_iterator *iterator, enum wire_bad bad)
{
	read_bad_report(iterator->trace, stream_iterator_file_name(iterator),
			stream_iterator_offset_of(iterator, iterator->at), bad);
	read_skip_packet(iterator->trace, iterator->packet);
}

static void report_payload(struct stream_iterator *iterator, const unsigned char *at,
			   const struct wire_head *head, const char *reason)
{
	bool fresh;

	if (reason)
		fresh = read_fault(iterator->trace, BURIN_FAULT_PAYLOAD, stream_iterator_file_name(iterator),
				   stream_iterator_offset_of(iterator, at), "a record of event %u is %s",
				   head->id, reason);
	else
		fresh = read_fault(iterator->trace, BURIN_FAULT_EVENT, stream_iterator_file_name(iterator),
				   stream_iterator_offset_of(iterator, at),
				   "a record of event %u, which is not in the table", head->id);
	if (fresh)
		read_skip_record(iterator->trace);
}

/* Loads the next packet that has records of the iterator's span of time. Return: 1; 0: none; -ENOMEM. */
static int next_packet(struct stream_iterator *iterator)
{
	struct read_stream *stream = iterator->stream;

	while (iterator->next < stream->packet_count) {
		struct read_packet *packet = &stream->packets[iterator->next++];
		int result;

		if (packet->content_bytes == sizeof(struct wire_packet) || packet->time_end < iterator->from)
			continue;
		/* Packets are in order of time (order.c), so all later ones begin later. */
		if (iterator->to && packet->time_begin >= iterator->to) {
			iterator->next = stream->packet_count;
			return 0;
		}
		result = read_packet_load(&iterator->loader, iterator->trace, stream, packet);
		if (result == -ENOMEM)
			return result;
		if (result)
			continue;
		iterator->packet = packet;
		iterator->at = iterator->loader.bytes + sizeof(struct wire_packet);
		iterator->end = iterator->loader.bytes + packet->content_bytes;
		iterator->time = packet->time_begin;
		iterator->skip = packet->from > iterator->from ? packet->from : iterator->from;
		iterator->record.chunk = stream->files[packet->file].chunk;
		iterator->record.file = stream_iterator_file_name(iterator);
		iterator->record.cpu = stream->stream_id || stream->ring.locked ? UINT32_MAX : packet->cpu;
		return 1;
	}
	return 0;
}

/* Fills in iterator->record. Return: false: its payload does not fit its event. */
static bool stream_iterator_take(struct stream_iterator *iterator, const unsigned char *at,
				 const struct wire_head *head)
{
	const struct read_event *event =
		read_event_find(iterator->trace, iterator->stream->stream_id, head->id);
	struct burin_record *record = &iterator->record;
	const char *reason = NULL;

	if (__builtin_expect(!event, 0)) {
		report_payload(iterator, at, head, NULL);
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
		record->offsets = iterator->layout;
		reason = read_layout(event, record->payload, record->payload_bytes, iterator->layout);
	}
	if (__builtin_expect(reason != NULL, 0)) {
		report_payload(iterator, at, head, reason);
		return false;
	}
	record->time = head->time;
	record->event = &event->open;
	record->tid = head->tid;
	record->offset = stream_iterator_offset_of(iterator, at);
	return true;
}

bool stream_iterator_step(struct stream_iterator *iterator, uint64_t before)
{
	while (iterator->at < iterator->end) {
		const unsigned char *at = iterator->at;
		struct wire_head head;
		const enum wire_bad bad =
			wire_head_read(at, (size_t)(iterator->end - at), iterator->context_bytes,
				       iterator->time, iterator->packet->time_end, &head);

		if (__builtin_expect(bad != WIRE_GOOD, 0)) {
			report_header(iterator, bad);
			iterator->at = iterator->end;
			return false;
		}
		if (head.time > before)
			return false;
		iterator->at = at + wire_stride(head.length);
		iterator->time = head.time;
		if (head.time < iterator->skip)
			continue;
		if (iterator->to && head.time >= iterator->to) {
			iterator->at = iterator->end;
			iterator->next = iterator->stream->packet_count;
			return false;
		}
		if (stream_iterator_take(iterator, at, &head))
			return true;
	}
	return false;
}

int stream_iterator_next(struct stream_iterator *iterator)
{
	while (!stream_iterator_step(iterator, UINT64_MAX)) {
		const int result = next_packet(iterator);

		if (result <= 0)
			return result;
	}
	return 1;
}

void stream_iterator_start(struct stream_iterator *iterator, const struct burin_trace *trace,
			   struct read_stream *stream, uint64_t from, uint64_t to)
{
	*iterator = (struct stream_iterator){ .trace = trace, .stream = stream, .loader.file = -1, .to = to };
	iterator->layout = iterator->offsets;
	iterator->record.context = stream->stream_id ? 0 : trace->context;
	iterator->context_bytes = wire_context_bytes(iterator->record.context);
	iterator->record.ring = stream->stream_id ? UINT32_MAX : stream->ring.number;
	stream_iterator_seek(iterator, from);
}

void stream_iterator_seek(struct stream_iterator *iterator, uint64_t time)
{
	const struct read_stream *stream = iterator->stream;
	size_t low = 0, high = stream->packet_count;

	/* The first packet that ends at the time or later: in the index, ends never decrease. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stream->packets[middle].time_end < time)
			low = middle + 1;
		else
			high = middle;
	}
	iterator->next = low;
	iterator->from = time;
	iterator->at = iterator->end = NULL;
}

void stream_iterator_stop(struct stream_iterator *iterator)
{
	read_loader_close(&iterator->loader);
}

int stream_iterator_each(struct burin_trace *trace, struct read_stream *stream,
			 int (*each)(struct burin_trace *trace, const struct burin_record *record))
{
	struct stream_iterator iterator;
	int result;

	stream_iterator_start(&iterator, trace, stream, 0, 0);
	while ((result = stream_iterator_next(&iterator)) > 0) {
		result = each(trace, &iterator.record);
		if (result)
			break;
	}
	stream_iterator_stop(&iterator);
	return result == -EDQUOT ? 0 : result; /* the rest is not read, and that is a fault */
}
