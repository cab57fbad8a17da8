/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a session to a trace.
 *
 * A drain goes round all rings, copies what is new, sifts it, and adds it to the trace; the trace is complete
 * after every round, and a sound one at every instant. In flight mode only the names are taken while the
 * program runs, and the rings at the end; unless the drain has come to a session that belongs to its program
 * (`attach`): then it takes what comes from that moment on, as it comes, and what was overwritten between two
 * rounds is lost.
 *
 * Who owns what. The recorder of a session in stream mode gives packets back as it goes. Nobody gives back what
 * is in a session in flight mode. A snapshot stores nothing into the session, whatever its mode, so that there
 * may be any number of them at once, beside a recorder as well.
 *
 * Each part in a file of its own:
 *
 *	table.h    the events that are known     sift.h     what is a record, and was asked for
 *	intake.h   what is known of a ring       hold.h     what a snapshot copies beforehand
 *	output.h   the trace as a whole          stream.h   one stream of it
 *	chunks.h   a recording that is split     known.h    names that each chunk says again
 *
 * Beside it: lookout.h, which writes nothing; samples.h and interned.h, the streams and tables of samples.
 */
#ifndef BURIN_DRAIN_DRAIN_H
#define BURIN_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/chunks.h"
#include "drain/discard.h"
#include "drain/hold.h"
#include "drain/intake.h"
#include "drain/output.h"
#include "drain/table.h"
#include "session/clock.h"
#include "session/session.h"

struct drain_options {
	const char *session_path; /* where a recorder that is killed leaves the session; NULL: not ours */
	const char *command;	  /* for `.burin/recording`; lives as long as the drain */
	uint64_t since;		  /* snapshot: ticks; what is earlier was not asked for */
	bool attach; /* recording: of a session in flight mode, from the call of drain_begin() on */
	struct chunk_limits split; /* recording: all zero: one trace */
};

struct drain_totals {
	uint64_t events;
	uint64_t bytes;
	unsigned cpus; /* rings that have records */
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t lost_late, lost_names;
	unsigned chunks, removed; /* of a recording that is split */
	uint64_t until;		  /* of a snapshot: the moment at which it ends, ticks */
};

struct drain {
	struct session *session;
	struct table table, names_table;
	struct intake *intakes; /* of each ring */
	struct output output;
	struct chunks chunks;
	struct hold *hold; /* a snapshot's; NULL: the rings themselves are read */
	struct window window;
	char *buffer; /* of the largest packet */
	struct clock_pair begin;
	uint64_t round; /* when the last round began, ticks */
	uint64_t
		round_before; /* and the one before: it took all that was there, so no record to come is earlier */
	struct drain_totals totals;
	bool *recorded;	 /* of each ring: whether it has records in any chunk */
	uint64_t beside; /* bytes in the chunk at hand that somebody else writes, and tells */
	bool attached;	 /* to a session that belongs to its program */
	bool ended;	 /* the trace ends where the next chunk begins: nothing more is taken */
};

/*
 * drain_begin - make the trace's directory and begin.
 * @path: must not exist; made with its parents' permission
 * Return: 0 or -errno; see chunks_discard().
 */
int drain_begin(struct drain *drain, struct session *session, const char *path,
		const struct drain_options *options);

/*
 * drain_resume - go on with a trace whose recorder is gone, from the session that it left behind.
 * @clock: as `.burin/recording` has it
 * @next: the path of the chunk after it, which begins where this one ends; NULL: it goes on to the end
 * Return: 0; -errno; -EBADMSG: the trace's files are damaged.
 */
int drain_resume(struct drain *drain, struct session *session, const char *path, struct trace_clock clock,
		 const char *command, const char *next);

/*
 * drain_round - take what is new.
 * @fullest: set to how full the fullest ring was found, in percent
 * Return: 0, or the first write error, -errno: from then on the session fills up.
 */
int drain_round(struct drain *drain, unsigned *fullest);

/* drain_so_far - records in the trace, or, in flight mode, in memory; and what was lost, as far as it is known. */
void drain_so_far(struct drain *drain, uint64_t *events, uint64_t *lost);

/*
 * drain_finish - the last round, the closing packets, and the files' ends. Of a session that belongs to its
 * program, records that are later than the call are not asked for.
 * @result: what became of the program
 * Return: 0 or the first error; ->output.trouble tells.
 */
int drain_finish(struct drain *drain, const char *result, struct drain_totals *totals);

/*
 * drain_snapshot - a trace of what is in a session now, which others go on writing to.
 *
 * Its rings all end at one moment, that of the call. They are copied into memory first, and written to disk
 * then.
 * @session: may be mapped for reading only (session_look())
 * @path: as for drain_begin()
 * Return: 0 or -errno; then chunks_discard(), unless it was there already.
 */
int drain_snapshot(struct session *session, const char *path, const struct drain_options *options,
		   struct drain_totals *totals);

#endif
