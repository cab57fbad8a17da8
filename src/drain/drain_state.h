/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state of a drain, and its rings: whose they are, and which times of them belong to the trace. For drain.h and the files behind it. */
#ifndef BURIN_DRAIN_DRAIN_STATE_H
#define BURIN_DRAIN_DRAIN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/calls/call_tables.h"
#include "drain/changelog.h"
#include "drain/event_selection.h"
#include "drain/ring_reader.h"
#include "drain/snapshot_copy.h"
#include "drain/statedump.h"
#include "ring/copy.h"
#include "session/clock.h"
#include "session/session.h"
#include "writer/chunks.h"
#include "writer/event_table.h"
#include "writer/trace_output.h"

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

/* The owner of a ring has chosen its size: an option of it helps where records are lost. */
enum drain_owner {
	DRAIN_RECORDER, /* the command that ran the program */
	DRAIN_PROGRAM,	/* the program, whose session is its own */
	DRAIN_KERNEL,	/* the command that records the kernel */
	DRAIN_MODULE,	/* the module, whose rings are older than the recording */
	DRAIN_OWNERS,
};

struct drain_totals {
	uint64_t events;
	uint64_t bytes;
	unsigned cpus; /* rings that have records */
	uint64_t lost[WIRE_LOST_CAUSES];
	unsigned lost_by
		[WIRE_LOST_CAUSES]; /* owners of the rings that lost them: a bit for each enum drain_owner */
	uint64_t lost_late, lost_names;
	uint64_t lost_calls[WIRE_CALL_LOSSES];
	bool own_functions; /* the recorder made the table of functions */
	uint64_t changes;   /* of a recording: changes of states, filters and sizes by other processes */
	unsigned chunks;    /* of a split recording */
	struct chunks_trim trim;
	uint64_t until;	   /* of a snapshot: when it ends, ticks */
	uint64_t left_out; /* records before the window */
};

/* The kinds of rings differ in what their ids mean, in the time that counts, and in what a trace keeps of them. */
enum ring_kind {
	RING_EVENTS, /* of the session */
	RING_NAMES,  /* of the session: whole, whatever the window */
	RING_MORE,   /* of struct drain_more */
};

/* A ring as an input of the drain: the position in it, and all that the kind decides. */
struct ring_input {
	struct ring_reader reader;
	enum ring_kind kind;
	const struct event_table *table;   /* what its ids mean */
	struct event_selection *selection; /* what the trace keeps; NULL: everything */
	enum drain_owner owner;
	bool gives_back; /* the drain gives its packets back, unless it is a snapshot */
	bool is_device;	 /* the kernel gives them back */
	bool is_older;	 /* than the recording: what it misses at the end belongs to others */
};

struct drain;

/*
 * Where a pass over the rings leaves what it finds: the valid records of a piece, all in the ring's window.
 * @packet: the sink may change it
 */
typedef void drain_sink(struct drain *drain, unsigned index, struct wire_packet *packet,
			const struct ring_piece *piece, const struct validated *validated);

struct drain {
	struct session *session;
	drain_sink *sink;
	struct event_table table, names_table;
	struct ring_input *inputs; /* each ring, those of `more` last */
	struct drain_more more;
	struct output output;
	struct chunks chunks;
	struct statedump statedump; /* of a split recording, and of a live reader */
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
	struct ring *
		ended_rings; /* of a resumed drain, as `more.rings`: those of the kernel, which ended with their recorder */
	bool *recorded;	 /* of each ring: whether it has records in any chunk */
	uint64_t beside; /* bytes in the current chunk that the sampler writes; set by the caller */
	bool attached;	 /* to a session that belongs to its program */
	bool gone;	 /* the session's file was truncated */
	bool ended;	 /* the trace ends where the next chunk begins: no more records are taken */
};

/* Whether a trace is written. A live reader has none. */
static inline bool drain_has_trace(const struct drain *drain)
{
	return drain->output.directory >= 0;
}

/* All rings: those of the session, then the others. */
static inline unsigned drain_ring_count(const struct drain *drain)
{
	return drain->session->ring_count + drain->more.count;
}

static inline const struct ring *drain_ring_at(const struct drain *drain, unsigned index)
{
	if (drain->inputs[index].kind != RING_MORE)
		return session_ring_view(drain->session, index);
	return drain->ended_rings ? NULL : drain->inputs[index].reader.ring;
}

/* The counters of a ring's writers, current or as copied for a snapshot. */
static inline const struct wire_ring *drain_control(const struct drain *drain, unsigned index)
{
	return drain->copy ? &drain->copy->rings[index].control : drain->inputs[index].reader.ring->control;
}

/* Whether this drain gives packets of a ring back. */
static inline bool drain_gives_back(const struct drain *drain, unsigned index)
{
	return !drain->copy && drain->inputs[index].gives_back;
}

static inline void drain_give_back(const struct drain *drain, unsigned index)
{
	const struct session *session = drain->session;
	const struct ring_input *input = &drain->inputs[index];

	if (input->is_device)
		session->device->give_back(session, index, input->reader.cursor.sequence);
	else
		ring_give_back(input->reader.ring, input->reader.cursor.sequence);
}

/* The time in which records of a ring belong to the trace. */
static inline struct window drain_window(const struct drain *drain, unsigned index)
{
	const enum ring_kind kind = drain->inputs[index].kind;
	struct window window = drain->window;

	if (kind == RING_NAMES)
		return (struct window){ 0, UINT64_MAX };
	if (kind == RING_MORE && drain->more.since > window.since)
		window.since = drain->more.since;
	return window;
}

#endif
