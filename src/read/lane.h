/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A lane walks the records of one stream in order: packet after packet, record after record. A cursor merges
 * lanes.
 */
#ifndef BURIN_READ_LANE_H
#define BURIN_READ_LANE_H

#include "read/trace.h"

struct read_lane {
	const struct burin_trace *trace;
	struct read_stream *stream;
	struct read_loader loader;
	size_t next; /* packet to load when this one is through */
	struct read_packet *packet;
	const unsigned char *at, *end; /* the next record and the end of the content, in the loader's bytes */
	uint32_t context_bytes;	       /* between a record's header and its payload */
	uint64_t time;		       /* of the record before */
	uint64_t from, to;	       /* from inclusive, to exclusive, 0: no end */
	struct burin_record record;    /* the last one handed out */
	uint32_t offsets[WIRE_ARGS_MAX + 1]; /* of its fields, if its event is of variable size */
};

/* A lane into a stream, from its first record at `from` or later on; to be stopped. */
void read_lane_start(struct read_lane *lane, const struct burin_trace *trace, struct read_stream *stream,
		     uint64_t from, uint64_t to);
/* Moves so that the next record is the first of the stream that is not before a time. */
void read_lane_seek(struct read_lane *lane, uint64_t time);
/* Moves on. Return: 1 with lane->record; 0 at the end; -ENOMEM. */
int read_lane_next(struct read_lane *lane);
void read_lane_stop(struct read_lane *lane);

#endif
