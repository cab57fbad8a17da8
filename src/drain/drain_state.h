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
	struct ring *
		ended_rings; /* of a resumed drain, as `more.rings`: those of the kernel, which ended with their recorder */
	bool *recorded;	 /* of each ring: whether it has records in any chunk */
	uint64_t beside; /* bytes in the current chunk that the sampler writes; set by the caller */
	bool attached;	 /* to a session that belongs to its program */
	bool gone;	 /* the session's file was truncated */
	bool ended;	 /* the trace ends where the next chunk begins: no more records are taken */
};

/* All rings: those of the session, then the others. */
static inline unsigned drain_ring_count(const struct drain *drain)
{
	return drain->session->ring_count + drain->more.count;
}

static inline bool drain_is_beside(const struct drain *drain, unsigned index)
{
	return index >= drain->session->ring_count;
}

static inline const struct ring *drain_ring_at(const struct drain *drain, unsigned index)
{
	if (index < drain->session->ring_count)
		return session_ring_view(drain->session, index);
	return drain->ended_rings ? NULL : drain->readers[index].ring;
}

/* The counters of a ring's writers, current or as copied for a snapshot. */
static inline const struct wire_ring *drain_control(const struct drain *drain, unsigned index)
{
	if (drain->copy)
		return &drain->copy->rings[index].control;
	return drain_is_beside(drain, index) ? drain->readers[index].ring->control
					     : drain->session->rings[index].control;
}

static inline enum drain_owner drain_owner_of(const struct drain *drain, unsigned index)
{
	if (drain_is_beside(drain, index))
		return drain->more.since ? DRAIN_MODULE : DRAIN_KERNEL;
	if (drain->session->device)
		return DRAIN_MODULE;
	return drain->session->geometry.owner_kind == WIRE_OWNER_RECORDER ? DRAIN_RECORDER : DRAIN_PROGRAM;
}

static inline bool drain_is_names(const struct drain *drain, unsigned index)
{
	return index == session_names_index(drain->session);
}

/* Whether this drain gives packets of a ring back. */
static inline bool drain_owns_ring(const struct drain *drain, unsigned index)
{
	if (drain->copy)
		return false;
	return drain_is_beside(drain, index) ? !drain->readers[index].ring->overwrite
					     : drain->session->geometry.mode == WIRE_MODE_STREAM;
}

/* Whether the ring is the kernel's own. */
static inline bool drain_is_of_device(const struct drain *drain, unsigned index)
{
	return drain->session->device && !drain_is_beside(drain, index);
}

static inline void drain_give_back(const struct drain *drain, unsigned index)
{
	const struct session *session = drain->session;
	const uint64_t sequence = drain->readers[index].cursor.sequence;

	if (drain_is_of_device(drain, index))
		session->device->give_back(session, index, sequence);
	else
		ring_give_back(drain->readers[index].ring, sequence);
}

/* The time in which records of a ring belong to the trace. */
static inline struct window drain_window(const struct drain *drain, unsigned index)
{
	struct window window = drain->window;

	if (drain_is_beside(drain, index) && drain->more.since > window.since)
		window.since = drain->more.since;
	return window;
}

#endif
