/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace while it is written: its directory, a stream for each ring, and the files that tell of them.
 *
 * Counts. A packet in a trace counts from where the trace begins, its origin: what a ring had seen before
 * belongs to other traces, or was not asked for, and is no loss. Records that begin in the middle of a ring's
 * packet get a header of their own.
 *
 * Errors. The first write that fails ends the writing: ->error and ->trouble tell, and all else does nothing.
 */
#ifndef BURIN_DRAIN_OUTPUT_H
#define BURIN_DRAIN_OUTPUT_H

#include "drain/metadata.h"
#include "drain/sift.h"
#include "drain/stream.h"
#include "wire/origin.h"

struct outlet {
	const struct ring *ring; /* whose stream it is */
	struct stream stream;
	struct wire_origin origin;
	uint64_t sequence; /* of the ring's packet that was last written to, if `begun` */
	uint64_t kept;	   /* records */
	uint64_t said;	   /* losses that the last packet told of */
	bool begun;
};

struct output {
	const struct session *session;
	int directory;
	struct outlet *outlets; /* of each ring of the session */
	struct recording recording;
	char trouble[256];
	int error;
};

/*
 * output_begin - make the trace's directory and all that is no stream.
 * @path: must not exist; made with its parents' permission
 * @origins: of each ring; NULL: all zero
 * @recording: its strings live as long as the output
 * Return: 0 or -errno; then output_free(), and drain_discard() unless it was there already.
 */
int output_begin(struct output *output, const struct session *session, const char *path,
		 const struct wire_origin *origins, const struct recording *recording,
		 const struct table *table);

/* output_reopen - go on with a trace whose writer is gone. Return: 0 or -errno; the streams are the caller's to
 * reopen. */
int output_reopen(struct output *output, const struct session *session, const char *path,
		  const struct recording *recording);

/* output_fail - remember the first thing that went wrong; 0 is nothing. */
void output_fail(struct output *output, int error, const char *what);

/* output_metadata - bring what tells of events up to date. */
void output_metadata(struct output *output, const struct table *table);

/*
 * output_records - add the records of a piece.
 * @packet: the ring's packet with this piece's bytes; it is changed
 * @sequence: its number
 * @ledger: of the ring, up to the first of the records
 */
void output_records(struct output *output, unsigned index, struct wire_packet *packet, uint64_t sequence,
		    const struct sifted *sifted, const struct wire_ledger *ledger);

/* output_losses - tell of losses that no packet has told of yet. @time: of the last record */
void output_losses(struct output *output, unsigned index, const struct wire_ledger *ledger, uint64_t time);

/* output_bytes - how much of all streams' files is in use. */
uint64_t output_bytes(const struct output *output);

/* output_finish - the files' ends, and how it came about. @result: what became of the program */
void output_finish(struct output *output, const char *result);

/* output_free - let go of it; the files stay as they are. */
void output_free(struct output *output);

#endif
