/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One ring of a drain. drain.c has the order in which the rings are read, and the life of a drain. Of a drain's own thread. */
#ifndef BURIN_DRAIN_DRAIN_RINGS_H
#define BURIN_DRAIN_DRAIN_RINGS_H

#include "drain/drain_state.h"

/* Write the definitions that are new: they must be in the trace before the first record that needs them. */
void drain_refresh_table(struct drain *drain);

/* Begin the trace's counts of a ring here: earlier records do not belong to it. */
void drain_begin_here(struct drain *drain, unsigned index);

/* Add the new records of a ring to the trace. Return: how full the ring was, in percent. */
unsigned drain_ring(struct drain *drain, unsigned index);

/* Account for a ring's last losses. */
void drain_close_ring(struct drain *drain, unsigned index);

#endif
