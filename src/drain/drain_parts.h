/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of a drain (drain.h), for each other. */
#ifndef BURIN_DRAIN_DRAIN_PARTS_H
#define BURIN_DRAIN_DRAIN_PARTS_H

#include "drain/drain.h"

/* All rings: those of the session, then the others. */
static inline unsigned ring_count(const struct drain *drain)
{
	return drain->session->ring_count + drain->more.count;
}

static inline bool is_beside(const struct drain *drain, unsigned index)
{
	return index >= drain->session->ring_count;
}

static inline const struct ring *ring_at(const struct drain *drain, unsigned index)
{
	return index < drain->session->ring_count ? session_ring_view(drain->session, index)
						  : drain->readers[index].ring;
}

/* The counters of a ring's writers, current or as copied for a snapshot. */
static inline const struct wire_ring *control_of(const struct drain *drain, unsigned index)
{
	if (drain->copy)
		return &drain->copy->rings[index].control;
	return is_beside(drain, index) ? drain->readers[index].ring->control
				       : drain->session->rings[index].control;
}

static inline bool is_names(const struct drain *drain, unsigned index)
{
	return index == session_names_index(drain->session);
}

/*
 * drain_account_empty - account for a ring whose open packet is empty, since it was resized: it shows no piece of it. The
 * records before are in the header, which must be as old as a snapshot copy.
 */
void drain_account_empty(struct drain *drain, unsigned index);

/* drain_add_totals - add the counts of the current trace to the totals. */
void drain_add_totals(struct drain *drain);

/* drain_add_tasks - add the names of living tasks, which the kernel's session lacks. */
void drain_add_tasks(struct drain *drain);

#endif
