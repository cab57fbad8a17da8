/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One stream of a trace. Its files are valid at every instant (docs/format.md, "Trace").
 *
 * Uncommitted bytes lie where readers see padding. There are two commits, each one aligned 8-byte write: content_bits of
 * the last packet adds records to it; packet_bits of the packet before adds a new packet. A new file appears by rename,
 * and so does the last file's shorter copy at the end. A failed write (disk full) leaves committed bytes as they are.
 */
#ifndef BURIN_WRITER_STREAM_OUTPUT_H
#define BURIN_WRITER_STREAM_OUTPUT_H

#include <stdint.h>

#include "wire/wire_packet.h"

struct stream {
	int directory;	/* of the trace; owned by the caller */
	char name[32];	/* of the first file */
	uint32_t room;	/* size of the largest packet */
	unsigned files; /* made so far */
	int fd;		/* the last file, -1: none yet */
	uint64_t file_bytes;
	uint64_t packet_at;   /* offset of the last packet in it */
	uint32_t content;     /* committed bytes of that packet */
	uint64_t total_bytes; /* of all files before the last */
};

/* stream_init - begin a stream. Nothing is written before the first packet. @directory: stays open until the end. */
void stream_init(struct stream *stream, int directory, const char *name, uint32_t room);

/*
 * stream_reopen - continue a stream whose writer has died.
 * @packet: `room` bytes; filled with the last packet, up to its committed content
 * Return: 1: there is a packet; 0: the stream has no file; -errno; -EBADMSG: the files are damaged.
 */
int stream_reopen(struct stream *stream, struct wire_packet *packet);

/*
 * stream_packet - add a packet.
 * @packet: header and records; content_bits and packet_bits are set here
 * @content: size of header and records, without the last record's padding
 * Return: 0, or -errno: nothing was added.
 */
int stream_packet(struct stream *stream, struct wire_packet *packet, uint32_t content);

/*
 * stream_extend - add records to the last packet, which has room for them.
 * @bytes: their size, without the last one's padding
 * Return: 0, or -errno: nothing was added.
 */
int stream_extend(struct stream *stream, const void *records, uint32_t bytes, uint64_t time_end);

/*
 * stream_recover - finish a stream whose writer has died, if it has a file. Can be repeated. @room: bytes of its largest packet
 * Return: 0; -errno; -EBADMSG: the files are damaged.
 */
int stream_recover(int directory, const char *name, uint32_t room);

/* stream_finish - cut off the unused end and close. Return: 0; -errno: the end stays as padding. */
int stream_finish(struct stream *stream);

/* stream_close - close the last file as it is. */
void stream_close(struct stream *stream);

/* stream_bytes - the used size of the stream's files. */
uint64_t stream_bytes(const struct stream *stream);

#endif
