/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What no sample stands for. The kernel counts the event that it samples: processor time, or faults, ... What it has
 * counted beyond what all samples stand for, lost ones too, was never sampled: above all the time of tasks that end
 * before their first sample is due. Each begins with a whole period of its own.
 */
#ifndef BURIN_VIEW_UNSAMPLED_H
#define BURIN_VIEW_UNSAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#include "burin/profile.h"
#include "view/buffer.h"

struct view_unsampled {
	bool time;		   /* the unit is ns; otherwise events */
	bool kernel;		   /* what the kernel does is sampled, too */
	uint64_t each;		   /* what a sample stands for */
	uint64_t counted, missing; /* by the kernel; of it, what no sample stands for */
};

/* view_unsampled_set - missing = counted - what so many samples stand for, of which ->each is known. */
void view_unsampled_set(struct view_unsampled *unsampled, uint64_t counted, uint64_t samples);

/* view_unsampled_of - as a trace has it. Return: whether it is known. */
bool view_unsampled_of(const struct burin_profile *profile, struct view_unsampled *unsampled);

/* view_unsampled_matters - whether so much is missing that shares of time are to be doubted. */
bool view_unsampled_matters(const struct view_unsampled *unsampled);

/* view_unsampled_text, view_unsampled_remedy - how much; why, and what can be done. Without a newline. */
void view_unsampled_text(const struct view_unsampled *unsampled, struct view_buffer *out);
void view_unsampled_remedy(const struct view_unsampled *unsampled, struct view_buffer *out);

#endif
