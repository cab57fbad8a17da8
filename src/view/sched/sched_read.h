/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Records of the kernel's scheduler, passed to the states of threads. Times are nanoseconds since 1970. */
#ifndef BURIN_VIEW_SCHED_SCHED_READ_H
#define BURIN_VIEW_SCHED_SCHED_READ_H

#include "view/kernel/kernel_view.h"
#include "view/sched/sched_states.h"

static inline uint64_t sched_read_ns(const struct burin_trace *trace, uint64_t ticks)
{
	const int64_t ns = burin_trace_ns(trace, ticks);

	return ns > 0 ? (uint64_t)ns : 0;
}

/*
 * sched_read_begin - make what reads a trace's records, and read which threads were recorded, as far as the trace says it: ->all, ->living.
 * Return: 0; -ENODATA: the trace has no switches; -ENOMEM. The caller frees both in any case.
 */
int sched_read_begin(struct sched *sched, struct kernel_view *view, const struct burin_trace *trace,
		     struct view_strings *strings);

/* sched_read_record - pass a record. Return: 0; -ENOMEM; or what the states' user returned. */
int sched_read_record(struct sched *sched, struct kernel_view *view, const struct burin_record *record,
		      uint64_t ns);

/* sched_missing_text, sched_missing_json - print what the kernel left out, if anything. */
void sched_missing_text(const struct sched_missing *missing, struct view_buffer *out);
void sched_missing_json(const struct sched_missing *missing, struct json *json);

#endif
