/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names of threads at any time, each looked up once while it lasts. */
#ifndef BURIN_VIEW_SCHED_SCHED_NAMES_H
#define BURIN_VIEW_SCHED_SCHED_NAMES_H

#include "view/profile/profile_view.h"
#include "view/sched/sched_states.h"

struct sched_name {
	uint64_t from, until; /* ticks */
	uint32_t name;	      /* string; 0: not looked up yet */
};

struct sched_names {
	const struct burin_trace *trace;
	struct view_strings *strings; /* the caller's */
	struct sched_name *names;     /* by index of the thread */
	size_t room;
};

/* sched_names_find - the name of a thread at a time in ns. Return: a string; 0: no memory. */
uint32_t sched_names_find(struct sched_names *names, const struct sched *sched, size_t thread, uint64_t ns);
void sched_names_free(struct sched_names *names);

#endif
