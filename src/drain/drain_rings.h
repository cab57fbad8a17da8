/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rings of a drain: the one pass over all of them, and the sink of a trace. drain.c has the life of a drain. Of a drain's own thread. */
#ifndef BURIN_DRAIN_DRAIN_RINGS_H
#define BURIN_DRAIN_DRAIN_RINGS_H

#include "drain/drain_state.h"

/* Write the definitions that are new: they must be in the trace before the first record that needs them. */
void drain_refresh_table(struct drain *drain);

/* Begin the trace's counts of a ring here: earlier records do not belong to it. */
void drain_begin_here(struct drain *drain, unsigned index);

/* Add the new records of a ring to the trace. Return: how full the ring was, in percent. */
unsigned drain_ring(struct drain *drain, unsigned index);

/*
 * drain_pass - add the new records of all rings.
 * @names_only: only note how many records the others have
 * Return: how full the fullest was, in percent.
 *
 * The rings of `more` come first: their translation writes names. The names come before the records and again after them:
 * if we are killed in between, few records lack their names.
 */
unsigned drain_pass(struct drain *drain, bool names_only);

/* The sink that writes the trace. */
drain_sink drain_sink_trace;

/* Account for a ring's last losses. */
void drain_close_ring(struct drain *drain, unsigned index);

#endif
