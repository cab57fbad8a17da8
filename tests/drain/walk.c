/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading stream files strictly; see walk.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "walk.h"

__attribute__((format(printf, 2, 3))) static const char *wrong(struct walk *walk, const char *format, ...)
{
	size_t used = (size_t)snprintf(walk->why, sizeof(walk->why), "%s: ", walk->stream);
	va_list args;

	va_start(args, format);
	vsnprintf(walk->why + used, sizeof(walk->why) - used, format, args);
	va_end(args);
	return walk->why;
}

static const char *check_header(struct walk *walk, const struct wire_packet *packet, uint64_t left)
{
	const unsigned long long number = walk->packets;
	uint64_t lost = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		lost += packet->lost[cause];
	if (packet->magic != WIRE_MAGIC)
		return wrong(walk, "packet %llu has no magic", number);
	if (packet->packet_bits % 64 || packet->packet_bits / 8 > left || packet->content_bits % 8 ||
	    packet->content_bits > packet->packet_bits || packet->content_bits < sizeof(*packet) * 8)
		return wrong(walk, "packet %llu: sizes %llu of %llu bits, %llu bytes are left", number,
			     (unsigned long long)packet->content_bits,
			     (unsigned long long)packet->packet_bits, (unsigned long long)left);
	if (packet->time_begin > packet->time_end)
		return wrong(walk, "packet %llu ends before it begins", number);
	if (packet->discarded != lost)
		return wrong(walk, "packet %llu: %llu discarded, the causes add up to %llu", number,
			     (unsigned long long)packet->discarded, (unsigned long long)lost);
	lost = packet->lost[WIRE_LOST_OVERWRITTEN] + packet->lost[WIRE_LOST_CORRUPT] +
	       packet->lost[WIRE_LOST_UNREAD];
	if (packet->events_before < walk->records || packet->events_before - walk->records > lost)
		return wrong(walk, "packet %llu: %llu records before it, %llu were there and %llu are lost",
			     number, (unsigned long long)packet->events_before,
			     (unsigned long long)walk->records, (unsigned long long)lost);
	if (walk->packets == 0)
		return NULL;
	if (packet->time_begin < walk->last.time_end)
		return wrong(walk, "packet %llu begins before the one before it ends", number);
	if (packet->sequence <= walk->last.sequence)
		return wrong(walk, "packet %llu has sequence %llu after %llu", number,
			     (unsigned long long)packet->sequence, (unsigned long long)walk->last.sequence);
	if (packet->discarded < walk->last.discarded || packet->events_before < walk->last.events_before)
		return wrong(walk, "packet %llu: the counts go back", number);
	if (memcmp(packet->uuid, walk->last.uuid, 16) != 0 ||
	    packet->stream_instance != walk->last.stream_instance)
		return wrong(walk, "packet %llu is of another stream", number);
	return NULL;
}

static const char *walk_records(struct walk *walk, const struct wire_packet *packet)
{
	const char *base = (const char *)packet, *why = NULL;
	const uint64_t end = packet->content_bits / 8;
	uint64_t at = sizeof(*packet), time = packet->time_begin;

	while (at < end && !why) {
		struct wire_compact compact;
		struct wire_extended extended;
		struct walk_record record = { 0 };
		uint32_t header = sizeof(compact);

		if (end - at < sizeof(compact))
			return wrong(walk, "packet %llu: %llu bytes are not a record",
				     (unsigned long long)walk->packets, (unsigned long long)(end - at));
		memcpy(&compact, base + at, sizeof(compact));
		record.id = compact.id;
		record.tid = compact.tid;
		time += (uint32_t)(compact.time - (uint32_t)time);
		if (compact.id == WIRE_ID_EXTENDED && end - at >= sizeof(extended)) {
			memcpy(&extended, base + at, sizeof(extended));
			header = sizeof(extended);
			record.id = extended.id;
			record.tid = extended.tid;
			time = (uint64_t)extended.time_high << 32 | extended.time_low;
		}
		if (compact.length < header || compact.length > end - at || record.id == 0 ||
		    record.id > WIRE_ID_MAX)
			return wrong(walk, "packet %llu: at %llu a record of id %u, length %u",
				     (unsigned long long)walk->packets, (unsigned long long)at, record.id,
				     compact.length);
		if (time > packet->time_end || time < packet->time_begin)
			return wrong(walk, "packet %llu: a record outside its times",
				     (unsigned long long)walk->packets);
		record.time = time;
		record.payload = base + at + header;
		record.bytes = compact.length - header;
		if (walk->record)
			why = walk->record(walk, &record);
		walk->records++;
		at += wire_stride(compact.length);
	}
	return why;
}

static const char *walk_file(struct walk *walk, const char *data, uint64_t bytes)
{
	const char *why = NULL;
	uint64_t at = 0;

	while (at < bytes && !why) {
		const struct wire_packet *packet = (const struct wire_packet *)(data + at);

		if (bytes - at < sizeof(*packet))
			return wrong(walk, "%llu bytes at its end are not a packet",
				     (unsigned long long)(bytes - at));
		why = check_header(walk, packet, bytes - at);
		if (!why && walk->packet)
			why = walk->packet(walk, packet);
		if (!why)
			why = walk_records(walk, packet);
		memcpy(&walk->last, packet, sizeof(*packet));
		walk->packets++;
		at += packet->packet_bits / 8;
	}
	return why;
}

const char *walk_stream(struct walk *walk)
{
	const char *why = NULL;

	for (unsigned n = 0; !why; n++) {
		char path[500];
		struct stat status;
		void *data;
		int fd;

		if (n == 0)
			snprintf(path, sizeof(path), "%s/%s", walk->directory, walk->stream);
		else
			snprintf(path, sizeof(path), "%s/%s.%u", walk->directory, walk->stream, n);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		if (fstat(fd, &status) != 0 || status.st_size == 0) {
			close(fd);
			return wrong(walk, "file %u is empty", n);
		}
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		if (data == MAP_FAILED)
			return wrong(walk, "%s", strerror(errno));
		walk->files++;
		walk->bytes += (uint64_t)status.st_size;
		why = walk_file(walk, data, (uint64_t)status.st_size);
		munmap(data, (size_t)status.st_size);
	}
	return why;
}
