/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Time or events that no sample represents. The kernel counts the event that it samples: processor time, faults, and so
 * on. If its count exceeds the weight of all samples, lost ones included, the difference was never sampled. Most of it is
 * the time of tasks that end before their first sample, since each task begins with a whole period of its own.
 */
#ifndef BURIN_VIEW_PROFILE_UNSAMPLED_H
#define BURIN_VIEW_PROFILE_UNSAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#include "burin/profile.h"
#include "view/buffer.h"

struct view_unsampled {
	bool time;   /* the unit is ns; otherwise events */
	bool kernel; /* the kernel is sampled, too */
	uint64_t
		by_cpu; /* 0: threads have events of their own; 1: CPUs have; 2: only threads that ran before have some */
	const char *by_task;	   /* why CPUs have none; NULL: unknown */
	uint64_t each;		   /* the weight of a sample */
	uint64_t counted, missing; /* by the kernel; the part without samples */
};

/* view_unsampled_set - missing = counted - samples * ->each, at least 0. */
void view_unsampled_set(struct view_unsampled *unsampled, uint64_t counted, uint64_t samples);

/* view_unsampled_of - the numbers of a trace. Return: whether it has them. */
bool view_unsampled_of(const struct burin_profile *profile, struct view_unsampled *unsampled);

/* view_unsampled_matters - whether so much is missing that shares of time are unreliable. */
bool view_unsampled_matters(const struct view_unsampled *unsampled);

/* view_unsampled_text, view_unsampled_hint - the amount; its cause and a hint. Without a newline. */
void view_unsampled_text(const struct view_unsampled *unsampled, struct view_buffer *out);
void view_unsampled_hint(const struct view_unsampled *unsampled, struct view_buffer *out);

#endif
