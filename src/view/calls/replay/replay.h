/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Print the calls of a trace in the order of their begins, indented, with the events and samples between them.
 *
 * The records of calls are in the order of their ends; the outermost call comes last. A first pass finds the calls that do
 * not begin and end in the same slice of time. At any time only the open calls of each stack can be such, so they are few.
 * After that a slice needs nothing but its own records and these calls. Several threads share the first pass, and render
 * slices.
 */
#ifndef BURIN_VIEW_CALLS_REPLAY_REPLAY_H
#define BURIN_VIEW_CALLS_REPLAY_REPLAY_H

#include "view/calls/replay/replay_options.h"

/* view_replay_begin - when the first call began, or the first record was: times count from here, in ticks.
 * Return: 0; -ENODATA: the trace has no calls; -ENOMEM. */
int view_replay_begin(const struct burin_trace *trace, uint64_t *begin);

/* Return: 0; -ENODATA: the trace has no calls, or only counts; -ENOENT: none of a selected function; -EDOM: see ->where; -EPIPE; another negative errno. */
int view_replay(const struct burin_trace *trace, const struct view_replay *replay);

#endif
