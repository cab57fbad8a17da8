/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rings of a drain: those of its session, then those beside it; whose they are, and which times of them belong to the trace. */
#ifndef BURIN_DRAIN_DRAIN_RINGS_H
#define BURIN_DRAIN_DRAIN_RINGS_H

#include "drain/drain.h"
#include "ring/copy.h"

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
	return index < drain->session->ring_count ? session_ring_view(drain->session, index)
						  : drain->readers[index].ring;
}

/* The counters of a ring's writers, current or as copied for a snapshot. */
static inline const struct wire_ring *drain_control(const struct drain *drain, unsigned index)
{
	if (drain->copy)
		return &drain->copy->rings[index].control;
	return drain_is_beside(drain, index) ? drain->readers[index].ring->control
					     : drain->session->rings[index].control;
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
