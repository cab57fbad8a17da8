/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One stream of a trace, written so that its files are whole at every instant (docs/format.md, "Trace").
 *
 * What is not committed yet lies where readers see padding. There are two commits, each one aligned 8-byte
 * write: content_bits of the last packet makes more of its records exist; packet_bits of the packet before
 * makes a new packet exist. A new file comes by rename, and so does the last file's shorter copy at the end.
 * A write that fails (disk full) leaves what is committed as it is.
 */
#ifndef BURIN_DRAIN_STREAM_H
#define BURIN_DRAIN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/packet.h"

struct stream {
	int directory;	/* of the trace; the caller's */
	char name[32];	/* of the first file */
	uint32_t room;	/* the largest packet */
	unsigned files; /* made so far */
	int fd;		/* the last file, -1: none yet */
	uint64_t file_bytes;
	uint64_t packet_at;   /* where in it the last packet begins */
	uint32_t content;     /* bytes of that packet, committed */
	uint64_t total_bytes; /* of all files before the last */
};

/* stream_init - begin a stream. Nothing is written before the first packet. @directory: stays open all the
 * while. */
void stream_init(struct stream *stream, int directory, const char *name, uint32_t room);

/*
 * stream_reopen - go on with a stream whose writer is gone.
 * @packet: filled in with the last packet, of room bytes; its content_bits are those committed
 * Return: 1: there is a packet; 0: the stream has no file; -errno; -EBADMSG: the files are not as we write
 * them.
 */
int stream_reopen(struct stream *stream, struct wire_packet *packet);

/*
 * stream_packet - add a packet.
 * @packet: header, of which content_bits and packet_bits are set here, and records
 * @content: bytes from the header's first to the last record's last
 * Return: 0, or -errno: nothing was added.
 */
int stream_packet(struct stream *stream, struct wire_packet *packet, uint32_t content);

/*
 * stream_extend - add records to the last packet, which has room for them.
 * @bytes: from the first record's first to the last one's last
 * Return: 0, or -errno: nothing was added.
 */
int stream_extend(struct stream *stream, const void *records, uint32_t bytes, uint64_t time_end);

/* stream_finish - cut off the unused end and close. Return: 0 or -errno (then the end stays as padding). */
int stream_finish(struct stream *stream);

/* stream_close - let go of the last file as it is. */
void stream_close(struct stream *stream);

/* stream_bytes - how much of the stream's files is in use. */
uint64_t stream_bytes(const struct stream *stream);

#endif
