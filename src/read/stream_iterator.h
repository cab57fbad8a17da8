/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An iterator reads the records of one stream in order: packet after packet, record after record. A cursor
 * merges iterators.
 */
#ifndef BURIN_READ_STREAM_ITERATOR_H
#define BURIN_READ_STREAM_ITERATOR_H

#include "read/trace.h"
#include "wire/wire_head.h"

struct stream_iterator {
	const struct burin_trace *trace;
	struct read_stream *stream;
	struct read_loader loader;
	size_t next; /* the packet to load after this one */
	struct read_packet *packet;
	const unsigned char *at, *end; /* the next record and the end of the content, in the loader's bytes */
	uint32_t context_bytes;	       /* between a record's header and its payload */
	uint64_t time;		       /* of the record before */
	uint64_t from, to;	       /* from inclusive, to exclusive, 0: no end */
	uint64_t skip;		       /* earlier records of this packet are not returned */
	struct burin_record record;    /* the last one returned */
	/* Of its fields, if its event is of variable size: */
	uint32_t *layout; /* where they are put; `offsets`, unless records are to stay */
	uint32_t offsets[WIRE_ARGS_MAX + 1];
};

/* Starts at the stream's first record at `from` or later. The caller stops the iterator. */
void stream_iterator_start(struct stream_iterator *iterator, const struct burin_trace *trace,
			   struct read_stream *stream, uint64_t from, uint64_t to);
/* The next record is then the stream's first at @time or later. */
void stream_iterator_seek(struct stream_iterator *iterator, uint64_t time);
/*
 * stream_iterator_step - move on within the packet that is loaded, so that payloads of earlier records of it stay.
 * Return: false: it has no more records, or the next one is later than @before.
 */
bool stream_iterator_step(struct stream_iterator *iterator, uint64_t before);
/* Moves on. Return: 1 with iterator->record; 0 at the end; -ENOMEM. */
int stream_iterator_next(struct stream_iterator *iterator);
void stream_iterator_stop(struct stream_iterator *iterator);
/* Passes all records of a stream to a function until it fails. Return: 0; its error, but not -EDQUOT: that is a fault. */
int stream_iterator_each(struct burin_trace *trace, struct read_stream *stream,
			 int (*each)(struct burin_trace *trace, const struct burin_record *record));

/* Reports a fault that wire_head_read() returned; @offset: of the record in its file. */
void read_bad_report(const struct burin_trace *trace, const char *file, uint64_t offset, enum wire_bad bad);

#endif
