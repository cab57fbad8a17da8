/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of records; see where.h. The same compiler and the same filters as in a traced program; the facts come from the trace. An
 * event has one filter, of all of its conditions. Events of names have none.
 */
#include "view/records/where.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "filter/filter_compile.h"
#include "read/trace.h"
#include "wire/wire_event.h"

struct view_where {
	const struct burin_trace *trace;
	const struct burin_profile *profile;
	struct where_event {
		struct wire_filter *filter; /* NULL: each record passes */
		unsigned facts;
	} * events; /* by id - 1 */
	unsigned count;
};

/* A fact that the records of the trace do not have. Return: 0: none of them. */
static unsigned lacking_fact(const struct view_where *where, unsigned facts)
{
	const unsigned context = burin_trace_context(where->trace);

	if (facts & FILTER_DEPTH && !(context & BURIN_CONTEXT_DEPTH))
		return FILTER_DEPTH;
	return facts & FILTER_CORRELATION && !(context & BURIN_CONTEXT_CORRELATION) ? FILTER_CORRELATION : 0;
}

static int where_compile(struct view_where *where, const struct read_event *event,
			 struct view_where_fault *fault)
{
	struct where_event *to = &where->events[event->open.id - 1];
	unsigned lack;
	int error;

	to->filter = aligned_alloc(WIRE_FILTER_ALIGN, WIRE_FILTER_MAX);
	if (!to->filter)
		return -ENOMEM;
	error = filter_compile(fault->text, event->open.format, event->enums, event->types, to->filter,
			       WIRE_FILTER_MAX, &fault->fault);
	if (error == -ENOMEM)
		return error;
	if (error)
		return -EINVAL;
	to->facts = filter_facts(to->filter);
	lack = lacking_fact(where, to->facts);
	if (!lack)
		return 0;
	filter_error_set(&fault->fault, 0, strlen(fault->text), "the records of this trace have no %s",
			 filter_fact_name(lack));
	return -EINVAL;
}

/* Compile the conditions of all selected events. @matched: by number of the condition */
static int where_compile_all(struct view_where *where, const struct view_globs *conditions,
			     const bool *selected, bool *matched, struct view_where_fault *fault)
{
	int result = 0, count;

	for (unsigned n = 0; n < where->count && !result; n++) {
		const struct burin_event *event = burin_trace_event(where->trace, n + 1);

		if (!event || !selected[n])
			continue;
		for (size_t c = 0; c < conditions->count; c++)
			matched[c] |= filter_condition_fits(conditions->globs[c], event->name);
		fault->event = event->name;
		count = filter_conditions_join(conditions->globs, event->name, fault->text);
		if (count < 0) {
			filter_error_set(&fault->fault, 0, 0, "the conditions are too long");
			return -EINVAL;
		}
		if (count)
			result = where_compile(where, read_event_of(event), fault);
	}
	return result;
}

int view_where_make(struct view_where **out, const struct burin_trace *trace,
		    const struct burin_profile *profile, const struct view_globs *conditions,
		    const bool *selected, struct view_where_fault *fault)
{
	struct view_where *where;
	bool *matched;
	int result;

	*out = NULL;
	if (!conditions->count)
		return 0;
	where = calloc(1, sizeof(*where));
	matched = calloc(conditions->count, sizeof(*matched));
	if (where) {
		where->trace = trace;
		where->profile = profile;
		where->count = burin_trace_events(trace);
		where->events = calloc(where->count + 1, sizeof(*where->events));
	}
	result = where && matched && where->events
			 ? where_compile_all(where, conditions, selected, matched, fault)
			 : -ENOMEM;
	for (size_t n = 0; n < conditions->count && !result; n++) {
		if (matched[n])
			continue;
		fault->event = NULL;
		snprintf(fault->text, sizeof(fault->text), "%s", conditions->globs[n]);
		result = -EINVAL;
	}
	free(matched);
	if (!result)
		*out = where;
	else
		view_where_free(where);
	return result;
}

const char *view_where_program(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return slash ? slash + 1 : exe;
}

static void where_names(const struct view_where *where, const struct burin_record *record,
			struct filter_subject *subject)
{
	const struct burin_thread *thread;
	const struct burin_task *task = NULL;
	struct burin_sample sample;

	if (where->profile && !burin_profile_sample(where->profile, record, &sample)) {
		task = burin_profile_task(where->profile, sample.task);
		if (task) {
			subject->pid = task->pid;
			subject->thread = task->name;
			subject->program = view_where_program(task->path);
		}
		return;
	}
	thread = burin_trace_thread(where->trace, record->tid, record->time);
	if (!thread)
		return;
	subject->pid = thread->pid;
	subject->thread = thread->name;
	if (thread->process)
		subject->program = view_where_program(thread->process->exe);
}

bool view_where_holds(const struct view_where *where, const struct burin_record *record)
{
	const unsigned named = FILTER_PID | FILTER_NAMES;
	const struct where_event *event;
	struct filter_subject subject = { .tid = record->tid, .cpu = record->cpu };

	if (!where || record->ring == UINT32_MAX)
		return true;
	event = &where->events[record->event->id - 1];
	if (!event->filter)
		return true;
	if (event->facts & named)
		where_names(where, record, &subject);
	burin_record_depth(record, &subject.depth);
	burin_record_correlation(record, &subject.correlation);
	return filter_passes(event->filter, record->payload, record->payload_bytes, &subject);
}

void view_where_free(struct view_where *where)
{
	if (!where)
		return;
	for (unsigned n = 0; where->events && n < where->count; n++)
		free(where->events[n].filter);
	free(where->events);
	free(where);
}
