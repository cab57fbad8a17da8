/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a session to a trace.
 *
 * In each round a drain copies the new bytes of all rings, validates them, and adds the records to the trace. The trace is
 * complete after every round and valid at every instant. In flight mode a round takes only the names, and the end takes
 * the records. An attached drain (`attach`), of a session that belongs to its program, differs: it takes in every round
 * the records since it began, and those overwritten between two rounds are lost.
 *
 * Packets. In stream mode the recorder gives packets back as it goes. In flight mode no process gives packets back. A
 * snapshot stores nothing into the session in either mode, so any number can run at once, also beside a recorder.
 *
 * The parts:
 *
 *	ring_reader.h      position in a ring, ledger     snapshot_copy.h    private copy of the rings
 *	validate.h         which bytes are records        event_selection.h  which events a trace keeps
 *	statedump.h        names at a chunk's beginning   changelog.h        changes of states and filters
 *	call_tables.h      functions and open calls
 *	event_table.h      private copy of the events     chunks.h           split recordings
 *	trace_output.h     the trace as a whole           stream_output.h    one stream of it
 */
#ifndef BURIN_DRAIN_DRAIN_H
#define BURIN_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/call_tables.h"
#include "drain/changelog.h"
#include "drain/event_selection.h"
#include "writer/chunks.h"
#include "drain/snapshot_copy.h"
#include "drain/ring_reader.h"
#include "drain/statedump.h"
#include "writer/trace_output.h"
#include "writer/event_table.h"
#include "session/clock.h"
#include "session/session.h"

/* Rings beside those of the session: the kernel's. Their streams are `kernelN`, and their times CLOCK_MONOTONIC until they are
 * translated. */
struct drain_more {
	const struct ring *rings;
	unsigned count;
	/* Called in each round, and for a snapshot, before these rings are read, and for each piece of one, whose bytes it may change before they are validated. */
	void (*round)(void *context);
	void (*translate)(void *context, unsigned ring, struct wire_packet *packet,
			  const struct ring_piece *piece);
	void *context;
	/* Rings that are older than the recording, and have events that were not asked for: */
	uint64_t since;		  /* when the recording began, ticks; 0: the rings were made for it */
	const char *const *globs; /* events to keep, up to NULL; NULL: all */
};

struct drain_options {
	const char
		*session_path; /* where a killed recorder leaves the session; NULL: the session is not ours */
	const char *command;   /* for `.burin/recording`; must live as long as the drain */
	const char *kernel_tasks, *kernel_threads; /* the same */
	uint64_t since;				   /* snapshot: ticks; leave out earlier records */
	uint64_t last; /* snapshot of an ended program: begin this many ticks before its last record */
	const char *const
		*globs; /* attached: events to keep, up to NULL; none: all. Must live as long as the drain */
	bool attach;	/* record a session in flight mode, from the call of drain_begin() on */
	struct chunk_limits split;     /* of a recording; all zero: one trace */
	const struct drain_more *more; /* NULL: none */
};

struct drain_totals {
	uint64_t events;
	uint64_t bytes;
	unsigned cpus; /* rings that have records */
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t lost_late, lost_names;
	uint64_t lost_calls[WIRE_CALL_LOSSES];
	uint64_t changes; /* of a recording: changes of states, filters and sizes by other processes */
	unsigned chunks;  /* of a split recording */
	struct chunks_trim trim;
	uint64_t until;	   /* of a snapshot: when it ends, ticks */
	uint64_t left_out; /* records before the window */
};

struct drain {
	struct session *session;
	struct event_table table, names_table;
	struct ring_reader *readers; /* of each ring, those of `more` last */
	struct drain_more more;
	struct output output;
	struct chunks chunks;
	struct statedump statedump; /* of a split recording */
	struct changelog changelog;
	struct call_tables calls;
	struct snapshot_copy *copy; /* of a snapshot; NULL: the rings themselves are read */
	struct window window;
	struct event_selection selection, more_selection;
	char *buffer; /* for the largest packet */
	struct clock_pair begin;
	uint64_t round; /* when the last round began, ticks */
	uint64_t
		round_before; /* when the one before began: no record to come is earlier, since it took all */
	struct drain_totals totals;
	bool *recorded;	 /* of each ring: whether it has records in any chunk */
	uint64_t beside; /* bytes in the current chunk that the sampler writes; set by the caller */
	bool attached;	 /* to a session that belongs to its program */
	bool gone;	 /* the session's file was truncated */
	bool ended;	 /* the trace ends where the next chunk begins: no more records are taken */
};

/*
 * drain_begin - begin a trace.
 * @directory: of the trace, empty (file/named.h), or of the chunks; the caller closes it after the end
 * Return: 0 or -errno; see chunks_discard().
 */
int drain_begin(struct drain *drain, struct session *session, int directory,
		const struct drain_options *options);

/*
 * drain_resume - continue a trace whose recorder has died, from the session that it left behind.
 * @directory: of the trace; owned by the caller
 * @recording: content of `.burin/recording`; its strings must live as long as the drain
 * @next: directory of the chunk after it, which begins where this one ends; -1: continue to the end
 * Return: 0; -errno; -EBADMSG: the trace's files are damaged.
 *
 * If writing fails, now or later, the trace stays unfinished and the session unchanged, so it can be resumed again.
 */
int drain_resume(struct drain *drain, struct session *session, int directory,
		 const struct recording *recording, int next);

/*
 * drain_round - read new records.
 * @fullest: set to how full the fullest ring was, in percent
 * Return: 0; -errno: the first write error, after which the session fills up.
 */
int drain_round(struct drain *drain, unsigned *fullest);

/* drain_so_far - count the records in the trace (in flight mode: in memory), and the losses that are known by now. */
void drain_so_far(struct drain *drain, uint64_t *events, uint64_t *lost);

/*
 * drain_finish - do the last round, write the last losses, and finish the files. An attached drain leaves out records
 * that are later than the call.
 * @result: how the program ended
 * Return: 0 or the first error; ->output.trouble describes it.
 */
int drain_finish(struct drain *drain, const char *result, struct drain_totals *totals);

/*
 * drain_snapshot - write a trace of what is in a session now, while programs go on recording into it.
 *
 * All rings end at one moment, that of the call. They are copied to memory first and written to disk after that.
 * @session: may be mapped for reading only (session_look())
 * @directory: as for drain_begin()
 * Return: 0 or -errno; then chunks_discard(), unless *totals has records.
 */
int drain_snapshot(struct session *session, int directory, const struct drain_options *options,
		   struct drain_totals *totals);

#endif
