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
 * A live reader (live_reader.h) is a drain without a trace.
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

#include "drain/drain_state.h"

struct drain_options {
	const char
		*session_path; /* where a killed recorder leaves the session; NULL: the session is not ours */
	const char *command;   /* for `.burin/recording`; must live as long as the drain */
	const char *kernel_tasks, *kernel_calls, *kernel_threads; /* the same */
	uint64_t since; /* snapshot: ticks; leave out earlier records */
	uint64_t last;	/* snapshot of an ended program: begin this many ticks before its last record */
	const char *const
		*globs; /* attached: events to keep, up to NULL; none: all. Must live as long as the drain */
	bool attach;	/* record a session in flight mode, from the call of drain_begin() on */
	struct chunk_limits split;     /* of a recording; all zero: one trace */
	const struct drain_more *more; /* NULL: none */
};

/* drain_prepare - make a drain of any kind, without a trace. Return: 0 or -ENOMEM; drain_release() is due in both cases. */
int drain_prepare(struct drain *drain, struct session *session, const struct drain_more *more);

/* drain_release - free what a drain has. drain_finish() does this, and so do drain_begin() and drain_resume() if they fail. */
void drain_release(struct drain *drain);

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

/*
 * drain_so_far - count the records in the trace (in flight mode: in memory, unless the drain is resumed), and the losses that are known by
 * now.
 */
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
