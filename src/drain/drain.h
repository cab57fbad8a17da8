/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a session to a trace.
 *
 * A drain goes round all rings, copies what is new, sifts it, and adds it to the trace; the trace is complete
 * after every round, and a sound one at every instant. In flight mode only the names are taken while the
 * program runs, and the rings at the end.
 *
 * The ledger. For each ring: records written = records in the trace + records lost by cause. Each packet says
 * how many records were written before it, so whatever was skipped is counted when the next packet comes.
 */
#ifndef BURIN_DRAIN_DRAIN_H
#define BURIN_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "session/clock.h"
#include "drain/metadata.h"
#include "drain/stream.h"
#include "drain/table.h"
#include "ring/copy.h"
#include "session/session.h"

/* One ring and the stream that it becomes. */
struct drain_ring {
	struct stream stream;
	struct ring_cursor cursor;
	uint64_t sequence;  /* of the last packet in the trace, if `begun` */
	uint64_t accounted; /* records written up to the cursor: kept or counted as lost */
	uint64_t written;   /* records written when the tail was last looked at */
	uint64_t kept;
	uint64_t time;			       /* of the last record */
	uint64_t corrupt, overwritten, unread; /* records lost here */
	uint64_t told[WIRE_LOST_SIZE + 1]; /* records that the writers say they lost, as far as believed */
	uint64_t said;			   /* losses that the last packet told of */
	uint32_t content;		   /* end of the last record in the last packet, bytes */
	bool begun;
	bool stale; /* the tail is not one that writers could have made: what is behind it cannot be found */
	bool damaged; /* the rest of the packet at the cursor cannot be believed */
};

struct drain {
	struct session *session;
	int directory;
	struct table table, names_table;
	struct drain_ring *rings;
	char *buffer; /* of the largest packet */
	struct trace_clock clock;
	struct clock_pair begin;
	struct recording recording;
	char trouble[256];
	int error; /* the first write that failed; after it nothing more is written */
};

struct drain_totals {
	uint64_t events;
	uint64_t bytes;
	unsigned cpus; /* rings that have records */
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t lost_late, lost_names;
};

/*
 * drain_begin - make the trace's directory and begin.
 * @path: must not exist; made with its parents' permission
 * @command: for `.burin/recording`; lives as long as the drain
 * Return: 0 or -errno; see drain_discard().
 */
int drain_begin(struct drain *drain, struct session *session, const char *path, const char *session_path,
		const char *command);

/*
 * drain_resume - go on with a trace whose recorder is gone, from the session that it left behind.
 * @clock: as `.burin/recording` has it
 * Return: 0; -errno; -EBADMSG: the trace's files are damaged.
 */
int drain_resume(struct drain *drain, struct session *session, const char *path, struct trace_clock clock,
		 const char *command);

/* drain_discard - remove a trace that holds no records: it could not be begun, or its program could not be
 * run. */
void drain_discard(const char *path);

/*
 * drain_round - take what is new.
 * @fullest: set to how full the fullest ring was found, in percent
 * Return: 0, or the first write error, -errno: from then on the session fills up.
 */
int drain_round(struct drain *drain, unsigned *fullest);

/*
 * drain_finish - the last round, the closing packets, and the files' ends.
 * @result: what became of the program
 * Return: 0 or the first error.
 */
int drain_finish(struct drain *drain, const char *result, struct drain_totals *totals);

#endif
