/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls as a profile: each calling context is a stack, and the self time of its calls is the weight. */
#ifndef BURIN_VIEW_CALLS_CALL_PROFILE_H
#define BURIN_VIEW_CALLS_CALL_PROFILE_H

#include "view/profile/profile_view.h"

/*
 * call_profile_make - the calls that a filter selects: of its threads, within its times. All threads are one task.
 * Context: allocates; uses threads. Return: 0; -ENODATA: the trace has no calls, or only counts; -ENOMEM.
 */
int call_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter, unsigned threads);

#endif
