/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace while it is written: its directory, a stream for each ring, and the files that describe them.
 *
 * Counts. The packets of a trace count from its origin. Earlier records of a ring belong to other traces or were not
 * asked for; they are not losses. Records from the middle of a ring's packet get a header of their own.
 *
 * Errors. The first failed write sets ->error and ->trouble. Later calls write nothing.
 */
#ifndef BURIN_WRITER_TRACE_OUTPUT_H
#define BURIN_WRITER_TRACE_OUTPUT_H

#include "writer/metadata.h"
#include "writer/validated.h"
#include "writer/stream_output.h"
#include "wire/wire_origin.h"

struct output_stream {
	const struct ring *ring; /* the source of the records */
	struct stream stream;
	struct wire_origin origin;
	uint64_t sequence; /* number of the ring's packet with the last written record, if `begun` */
	uint64_t kept;	   /* records written */
	uint64_t reported; /* losses that the last packet counts */
	uint64_t base;	   /* time base of the last packet: no compact record is 2^32 ticks later */
	bool begun;
	/* With an event selection (event_selection.h): packets without a selected record, since the last one with some. */
	uint64_t left_out;
	uint64_t examined_packet; /* number of the ring's packet that was examined last, if `examined` */
	bool examined, examined_kept;
};

struct output {
	const struct session *session;
	int directory;		       /* -1: there is no trace, and nothing is written */
	struct output_stream *streams; /* of each ring of the session, then of the others */
	unsigned count;
	struct recording recording;
	struct metadata_written written;
	char trouble[256];
	int error;
	bool resumed; /* after a failure the trace stays unfinished, so that it can be resumed again */
};

/*
 * output_begin - make all files but the streams.
 * @directory: empty; output_free() closes it
 * @origins: of each ring; NULL: all zero
 * @recording: its strings must live as long as the output
 * Return: 0 or -errno; the caller must call output_free() in both cases.
 */
int output_begin(struct output *output, const struct session *session, int directory,
		 const struct wire_origin *origins, const struct recording *recording,
		 const struct event_table *table);

/*
 * output_add - add streams `kernelN` for rings that are not the session's.
 * @origins: of each; NULL: all zero. They are not stored: nothing continues these streams
 * Return: 0 or -ENOMEM.
 */
int output_add(struct output *output, const struct ring *rings, unsigned count,
	       const struct wire_origin *origins);

/* output_reopen - continue a trace whose writer has died; the caller reopens the streams. @directory: as for
 * output_begin(). Return: 0 or -errno. */
int output_reopen(struct output *output, const struct session *session, int directory,
		  const struct recording *recording);

/* output_fail - record the first error. @error: -errno; 0: none */
void output_fail(struct output *output, int error, const char *what);

/* output_metadata - update the descriptions of events. */
void output_metadata(struct output *output, const struct event_table *table);

/*
 * output_records - add the records of a piece.
 * @packet: the ring's packet with this piece's bytes; it is changed
 * @sequence: its number
 * @ledger: of the ring, up to the first of these records
 */
void output_records(struct output *output, unsigned index, struct wire_packet *packet, uint64_t sequence,
		    const struct validated *validated, const struct wire_ledger *ledger);

/* output_losses - add an empty packet if there are losses that no packet counts yet. @time: of the last record */
void output_losses(struct output *output, unsigned index, const struct wire_ledger *ledger, uint64_t time);

/* output_bytes - the used size of all streams' files. */
uint64_t output_bytes(const struct output *output);

/* output_finish - finish the streams and write the final `.burin/recording`. @result: how the program ended */
void output_finish(struct output *output, const char *result);

/* output_free - close all files as they are and free the memory. */
void output_free(struct output *output);

#endif
