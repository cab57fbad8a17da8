/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writing a stream's files; see stream_output.h.
 *
 * A file is whole at every instant: the recorder may be killed between any two system calls, and readers come at any
 * time. A packet has records up to content_bits, and padding up to packet_bits. The padding of a file's last packet
 * is all the rest of the file. Bytes in the padding do not exist for a reader, so all is prepared there, and one step
 * commits it:
 *
 *	stream_extend()	records behind the last one, and time_end; the commit is content_bits
 *	stream_packet()	a packet in the padding; the commit is packet_bits of the packet before, which then ends there
 *	stream_output_begin_file()	a file under another name, with its size and first packet; the commit is the rename
 *	stream_finish()	a copy without the unused end; the commit is the rename over the original
 *
 * A commit happens as a whole: it is a rename, or one aligned word (write_word()). time_end is written before: after
 * a kill it may be later than the last record, which readers permit. The promise is about the death of the recorder.
 * After a crash of the machine the file system decides which writes there were; nothing here waits for the disk.
 *
 * A write that fails (disk full) leaves what was committed, and the drain stops. A recorder that resumes clears
 * what lies in the padding, since its own records may be others. stream_output_find_last() finds the last packet by the
 * sizes of those before it, and checks each: others may have changed the files.
 *
 * A stream has one writer. `burin recover` refuses while the recorder lives.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/stream_output.h"
#include "file/create.h"
#include "file/write.h"
#include "wire/wire_record.h"

enum {
	STREAM_FILE_MIN = 1 << 20, /* size of a stream's first file; each further one is twice as large ... */
	STREAM_DOUBLINGS = 6,	   /* ... up to 64 MiB, which limits the copy at the end */
};

void stream_init(struct stream *stream, int directory, const char *name, uint32_t room)
{
	*stream = (struct stream){ .directory = directory, .fd = -1, .room = room };
	snprintf(stream->name, sizeof(stream->name), "%s", name);
}

/* An aligned word does not cross a page, so a kill cannot leave half of it. */
static int write_word(int fd, uint64_t word, uint64_t at)
{
	return write_fully(fd, &word, sizeof(word), at);
}

static void stream_output_file_name(const struct stream *stream, unsigned number, char *name, size_t bytes)
{
	if (number == 0)
		snprintf(name, bytes, "%s", stream->name);
	else
		snprintf(name, bytes, "%s.%u", stream->name, number);
}

/* Make a file that this packet covers completely. It appears under its name at once. */
static int stream_output_begin_file(struct stream *stream, struct wire_packet *packet, uint32_t content)
{
	uint64_t bytes = (uint64_t)STREAM_FILE_MIN
			 << (stream->files < STREAM_DOUBLINGS ? stream->files : STREAM_DOUBLINGS);
	char name[48];
	int error = 0, fd;

	if (bytes < 2 * (uint64_t)stream->room)
		bytes = 2 * (uint64_t)stream->room;
	fd = create_draft(stream->directory);
	if (fd < 0)
		return fd;
	packet->packet_bits = bytes * 8;
	if (ftruncate(fd, (off_t)bytes) != 0)
		error = -errno;
	if (!error)
		error = write_fully(fd, packet, content, 0);
	stream_output_file_name(stream, stream->files, name, sizeof(name));
	if (!error)
		error = create_rename(stream->directory, CREATE_DRAFT, name);
	if (error) {
		close(fd);
		create_remove(stream->directory, CREATE_DRAFT);
		return error;
	}
	if (stream->fd >= 0) {
		stream->total_bytes += stream->packet_at + wire_stride(stream->content);
		close(stream->fd);
	}
	stream->fd = fd;
	stream->files++;
	stream->file_bytes = bytes;
	stream->packet_at = 0;
	stream->content = content;
	return 0;
}

/* Find the last packet of the last file, by the sizes of those before it. */
static int stream_output_find_last(struct stream *stream, struct wire_packet *packet)
{
	uint64_t at = 0;
	ssize_t used;

	for (;;) {
		if (pread(stream->fd, packet, sizeof(*packet), (off_t)at) != (ssize_t)sizeof(*packet) ||
		    packet->magic != WIRE_MAGIC || packet->packet_bits % 64 != 0 ||
		    packet->packet_bits / 8 < sizeof(*packet) ||
		    packet->packet_bits / 8 > stream->file_bytes - at)
			return -EBADMSG;
		if (at + packet->packet_bits / 8 == stream->file_bytes)
			break;
		at += packet->packet_bits / 8;
	}
	if (packet->content_bits % 8 != 0 || packet->content_bits / 8 < sizeof(*packet) ||
	    packet->content_bits > packet->packet_bits || packet->content_bits / 8 > stream->room)
		return -EBADMSG;
	stream->packet_at = at;
	stream->content = (uint32_t)(packet->content_bits / 8);
	/* Include the padding behind the last record: validate_records() checks it. */
	used = (ssize_t)wire_stride(stream->content);
	if (pread(stream->fd, packet, (size_t)used, (off_t)at) != used)
		return -EBADMSG;
	return 1;
}

/*
 * Clear the bytes that a writer which died may have left behind the last record: they would be in the padding of later
 * records. They are those of one write, and reach no further than a packet could. Usually there are none, and a full
 * disk has no room for zeros.
 */
static int stream_output_clear_rest(const struct stream *stream)
{
	const uint64_t at = stream->packet_at + wire_stride(stream->content);
	char *rest = malloc(stream->room);
	ssize_t bytes = rest ? pread(stream->fd, rest, stream->room, (off_t)at) : -1;
	int error = bytes < 0 ? -errno : 0;

	while (bytes > 0 && !rest[bytes - 1])
		bytes--;
	if (bytes > 0) {
		memset(rest, 0, (size_t)bytes);
		error = write_fully(stream->fd, rest, (size_t)bytes, at);
	}
	free(rest);
	return error;
}

int stream_reopen(struct stream *stream, struct wire_packet *packet)
{
	struct stat status;
	char name[48];
	int fd, found;

	for (;; stream->files++) {
		stream_output_file_name(stream, stream->files, name, sizeof(name));
		fd = create_reopen(stream->directory, name);
		if (fd < 0)
			break;
		if (stream->fd >= 0) {
			stream->total_bytes += stream->file_bytes;
			close(stream->fd);
		}
		stream->fd = fd;
		if (fstat(fd, &status) != 0)
			return -errno;
		stream->file_bytes = (uint64_t)status.st_size;
	}
	if (fd != -ENOENT)
		return fd;
	found = stream->files ? stream_output_find_last(stream, packet) : 0;
	return found > 0 ? stream_output_clear_rest(stream) ?: found : found;
}

int stream_packet(struct stream *stream, struct wire_packet *packet, uint32_t content)
{
	uint64_t at = stream->packet_at + wire_stride(stream->content);
	int error;

	packet->content_bits = (uint64_t)content * 8;
	if (stream->fd < 0 || stream->file_bytes - at < stream->room)
		return stream_output_begin_file(stream, packet, content);
	packet->packet_bits = (stream->file_bytes - at) * 8;
	error = write_fully(stream->fd, packet, content, at);
	if (!error) /* the commit */
		error = write_word(stream->fd, (at - stream->packet_at) * 8,
				   stream->packet_at + offsetof(struct wire_packet, packet_bits));
	if (error)
		return error;
	stream->packet_at = at;
	stream->content = content;
	return 0;
}

int stream_extend(struct stream *stream, const void *records, uint32_t bytes, uint64_t time_end)
{
	const uint32_t begin = wire_stride(stream->content), content = begin + bytes;
	int error = write_fully(stream->fd, records, bytes, stream->packet_at + begin);

	if (!error)
		error = write_word(stream->fd, time_end,
				   stream->packet_at + offsetof(struct wire_packet, time_end));
	if (!error) /* the commit */
		error = write_word(stream->fd, (uint64_t)content * 8,
				   stream->packet_at + offsetof(struct wire_packet, content_bits));
	if (!error)
		stream->content = content;
	return error;
}

/* Copy the used part of a file. */
static int stream_output_copy_file(int from, int to, uint64_t bytes)
{
	static char buffer[1 << 16];
	uint64_t at = 0;

	while (at < bytes) {
		size_t want = bytes - at < sizeof(buffer) ? (size_t)(bytes - at) : sizeof(buffer);
		ssize_t got = pread(from, buffer, want, (off_t)at);
		int error;

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		error = write_fully(to, buffer, (size_t)got, at);
		if (error)
			return error;
		at += (uint64_t)got;
	}
	return 0;
}

int stream_finish(struct stream *stream)
{
	uint64_t used = stream->packet_at + wire_stride(stream->content);
	char name[48];
	int error, fd;

	if (stream->fd < 0)
		return 0;
	fd = create_draft(stream->directory);
	error = fd < 0 ? fd : stream_output_copy_file(stream->fd, fd, used);
	if (!error && ftruncate(fd, (off_t)used) != 0)
		error = -errno;
	if (!error)
		error = write_word(fd, (used - stream->packet_at) * 8,
				   stream->packet_at + offsetof(struct wire_packet, packet_bits));
	stream_output_file_name(stream, stream->files - 1, name, sizeof(name));
	if (!error)
		error = create_rename(stream->directory, CREATE_DRAFT, name);
	if (error && fd >= 0)
		create_remove(stream->directory, CREATE_DRAFT);
	if (fd >= 0)
		close(fd);
	stream_close(stream);
	return error;
}

void stream_close(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

uint64_t stream_bytes(const struct stream *stream)
{
	return stream->files ? stream->total_bytes + stream->packet_at + wire_stride(stream->content) : 0;
}

int stream_recover(int directory, const char *name, uint32_t room)
{
	struct wire_packet *packet = malloc(room);
	struct stream stream;
	int error;

	if (!packet)
		return -ENOMEM;
	stream_init(&stream, directory, name, room);
	error = stream_reopen(&stream, packet);
	if (error > 0)
		error = stream_finish(&stream);
	stream_close(&stream);
	free(packet);
	return error;
}
