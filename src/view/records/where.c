/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of records; see where.h. The same compiler and the same filters as in a traced program; the facts come from the trace.
 *
 * All three forms are ends (struct view_where_end): a record alone is the only end of something, and threads are an end without an event.
 * Each end has one filter, of all conditions that are tested there. Records of names have none.
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
	struct where_slot {
		struct wire_filter *filter; /* NULL: each record passes */
		unsigned facts;
		bool needs; /* the other end has a filter */
	} * slots;	    /* by number of the end */
	unsigned count;
};

/* The ends that conditions are compiled for. */
struct where_maker {
	struct view_where *where;
	const struct view_conditions *conditions;
	const struct view_where_end *ends;
	bool of_tasks;	     /* one end, which has no event */
	uint8_t *fits;	     /* by number of the end: what the present condition is to it: enum where_fit */
	uint8_t *sides;	     /* by ->of: those that the present condition fits, or does not */
	const char **chosen; /* conditions of an end */
	bool *on;	     /* by number of the condition, then of the end: it is tested there */
	_Alignas(WIRE_FILTER_ALIGN) char room[WIRE_FILTER_MAX]; /* the last filter */
};

enum where_fit {
	WHERE_NOT, /* another event's glob */
	WHERE_FITS,
	WHERE_WRONG, /* the event has not what the expression tests */
};

enum where_side {
	WHERE_FIRST_FITS = 1,
	WHERE_FIRST_WRONG = 2,
	WHERE_LAST_FITS = 4,
	WHERE_LAST_WRONG = 8,
};

/* ---- One expression */

/* A fact that the records of the trace do not have, or that threads do not have. Return: 0: none of them. */
static unsigned lacking_fact(const struct where_maker *maker, unsigned facts)
{
	const unsigned context = burin_trace_context(maker->where->trace);

	for (unsigned fact = 1; maker->of_tasks && fact <= FILTER_PROGRAM; fact <<= 1)
		if (facts & fact & ~(unsigned)(FILTER_PID | FILTER_TID | FILTER_NAMES))
			return fact;
	if (facts & FILTER_DEPTH && !(context & BURIN_CONTEXT_DEPTH))
		return FILTER_DEPTH;
	return facts & FILTER_CORRELATION && !(context & BURIN_CONTEXT_CORRELATION) ? FILTER_CORRELATION : 0;
}

/* Compile an expression for an end, into ->room. Return: 0; -EDOM: it does not fit, see @fault; -ENOMEM. */
static int where_compile(struct where_maker *maker, unsigned number, const char *text,
			 struct filter_error *fault)
{
	const struct burin_event *of = maker->ends[number].event;
	const struct read_event *event = of ? read_event_of(of) : NULL;
	const int error = filter_compile(text, event ? event->open.format : "", event ? event->enums : "",
					 event ? event->types : 0, (struct wire_filter *)maker->room,
					 sizeof(maker->room), fault);
	unsigned lack;

	if (error)
		return error == -ENOMEM ? error : -EDOM;
	lack = lacking_fact(maker, filter_facts((struct wire_filter *)maker->room));
	if (!lack)
		return 0;
	filter_error_set(fault, 0, strlen(text), "%s no %s",
			 maker->of_tasks ? "states of threads have" : "the records of this trace have",
			 filter_fact_name(lack));
	return -EDOM;
}

/* ---- Where a condition is tested */

static bool where_is_end(const struct where_maker *maker, unsigned number)
{
	return maker->ends[number].event || maker->of_tasks;
}

static bool where_chooses(const struct where_maker *maker, const char *condition, unsigned number)
{
	const struct view_where_end *end = &maker->ends[number];

	return where_is_end(maker, number) &&
	       ((end->name && filter_condition_fits(condition, end->name)) ||
		(end->event && filter_condition_fits(condition, end->event->name)));
}

/* Which ends a condition fits. Return: whether its glob chooses any; -ENOMEM. */
static int where_try(struct where_maker *maker, const char *condition)
{
	const char *expression = filter_condition_expression(condition);
	struct filter_error fault;
	int any = 0, error;

	for (unsigned n = 0; n < maker->where->count; n++) {
		maker->fits[n] = WHERE_NOT;
		maker->sides[maker->ends[n].of] = 0;
	}
	for (unsigned n = 0; n < maker->where->count; n++) {
		const bool last = maker->ends[n].last;

		if (!where_chooses(maker, condition, n))
			continue;
		error = where_compile(maker, n, expression, &fault);
		if (error == -ENOMEM)
			return error;
		any = 1;
		maker->fits[n] = error ? WHERE_WRONG : WHERE_FITS;
		maker->sides[maker->ends[n].of] |= error  ? last ? WHERE_LAST_WRONG : WHERE_FIRST_WRONG
						   : last ? WHERE_LAST_FITS
							  : WHERE_FIRST_FITS;
	}
	return any;
}

/* Report a condition that fits neither the begin nor the end of something. */
static int where_blame(struct where_maker *maker, const char *condition, uint32_t of)
{
	struct view_where_fault *fault = maker->conditions->fault;
	const char *expression = filter_condition_expression(condition);

	snprintf(fault->text, sizeof(fault->text), "%s", expression);
	fault->of_tasks = maker->of_tasks;
	fault->event = fault->end = NULL;
	for (unsigned n = 0; n < maker->where->count; n++) {
		const struct view_where_end *end = &maker->ends[n];
		const char *name = end->event ? end->event->name : end->name;

		if (end->of != of || maker->fits[n] != WHERE_WRONG)
			continue;
		if (!fault->event) {
			fault->event = name;
			where_compile(maker, n, expression, &fault->fault);
		} else if (!fault->end && end->last) {
			fault->end = name;
			where_compile(maker, n, expression, &fault->end_fault);
		}
	}
	return -EDOM;
}

/* Choose at which ends a condition is tested. */
static int where_place(struct where_maker *maker, const char *condition, bool *on)
{
	for (unsigned n = 0; n < maker->where->count; n++) {
		const uint8_t sides = maker->sides[maker->ends[n].of];
		const bool first = sides & WHERE_FIRST_FITS && !(sides & WHERE_FIRST_WRONG),
			   last = !first && sides & WHERE_LAST_FITS && !(sides & WHERE_LAST_WRONG);

		if (maker->fits[n] == WHERE_NOT)
			continue;
		if (!first && !last)
			return where_blame(maker, condition, maker->ends[n].of);
		on[n] = maker->ends[n].last ? last : first;
	}
	return 0;
}

static int where_place_all(struct where_maker *maker)
{
	const struct view_globs *list = &maker->conditions->list;
	struct view_where_fault *fault = maker->conditions->fault;

	for (size_t c = 0; c < list->count; c++) {
		int any, error;

		/* One that no event could have: the first event is not to blame. */
		if (view_where_is_wrong(list->globs[c], fault))
			return -EDOM;
		any = where_try(maker, list->globs[c]);
		if (any < 0)
			return any;
		if (!any) {
			fault->event = fault->end = NULL;
			snprintf(fault->text, sizeof(fault->text), "%s", list->globs[c]);
			return -EDOM;
		}
		error = where_place(maker, list->globs[c], maker->on + c * maker->where->count);
		if (error)
			return error;
	}
	return 0;
}

/* ---- Filters */

/* The filter of an end, of all conditions that are tested there. */
static int where_fill(struct where_maker *maker, unsigned number)
{
	const struct view_globs *list = &maker->conditions->list;
	struct where_slot *slot = &maker->where->slots[number];
	struct view_where_fault *fault = maker->conditions->fault;
	size_t count = 0;
	int error;

	for (size_t c = 0; c < list->count; c++)
		if (maker->on[c * maker->where->count + number])
			maker->chosen[count++] = filter_condition_expression(list->globs[c]);
	maker->chosen[count] = NULL;
	if (!count)
		return 0;
	fault->event = maker->of_tasks ? maker->ends[number].name : maker->ends[number].event->name;
	fault->end = NULL;
	if (filter_conditions_join(maker->chosen, "", fault->text) < 0) {
		filter_error_set(&fault->fault, 0, 0, "the conditions are too long");
		return -EDOM;
	}
	error = where_compile(maker, number, fault->text, &fault->fault);
	if (error)
		return error;
	slot->filter = aligned_alloc(WIRE_FILTER_ALIGN, WIRE_FILTER_MAX);
	if (!slot->filter)
		return -ENOMEM;
	memcpy(slot->filter, maker->room, sizeof(maker->room));
	slot->facts = filter_facts(slot->filter);
	maker->sides[maker->ends[number].of] |= maker->ends[number].last ? WHERE_LAST_FITS : WHERE_FIRST_FITS;
	return 0;
}

static int where_fill_all(struct where_maker *maker)
{
	int error = 0;

	for (unsigned n = 0; n < maker->where->count; n++)
		maker->sides[maker->ends[n].of] = 0;
	for (unsigned n = 0; n < maker->where->count && !error; n++)
		error = where_fill(maker, n);
	for (unsigned n = 0; n < maker->where->count; n++)
		maker->where->slots[n].needs = maker->sides[maker->ends[n].of] &
					       (maker->ends[n].last ? WHERE_FIRST_FITS : WHERE_LAST_FITS);
	return error;
}

static int where_make(struct view_where **out, const struct burin_trace *trace,
		      const struct burin_profile *profile, struct where_maker *maker, unsigned count)
{
	struct view_where *where = calloc(1, sizeof(*where));
	const size_t conditions = maker->conditions->list.count;
	uint32_t largest = 0;
	int result = -ENOMEM;

	for (unsigned n = 0; n < count; n++)
		largest = maker->ends[n].of > largest ? maker->ends[n].of : largest;
	maker->where = where;
	maker->fits = calloc((size_t)count + 1, sizeof(*maker->fits));
	maker->sides = calloc((size_t)largest + 1, sizeof(*maker->sides));
	maker->chosen = calloc(conditions + 1, sizeof(*maker->chosen));
	maker->on = calloc((conditions + 1) * ((size_t)count + 1), sizeof(*maker->on));
	if (where) {
		*where = (struct view_where){ .trace = trace, .profile = profile, .count = count };
		where->slots = calloc((size_t)count + 1, sizeof(*where->slots));
	}
	if (where && where->slots && maker->fits && maker->sides && maker->chosen && maker->on)
		result = where_place_all(maker) ?: where_fill_all(maker);
	free(maker->fits);
	free(maker->sides);
	free(maker->chosen);
	free(maker->on);
	if (result)
		view_where_free(where);
	else
		*out = where;
	return result;
}

bool view_where_is_wrong(const char *condition, struct view_where_fault *fault)
{
	const char *expression = filter_condition_expression(condition);

	fault->event = "";
	fault->end = NULL;
	snprintf(fault->text, sizeof(fault->text), "%s", expression);
	return filter_check(expression, &fault->fault) != 0;
}

int view_where_make_ends(struct view_where **where, const struct burin_trace *trace,
			 const struct view_conditions *conditions, const struct view_where_end *ends,
			 unsigned count)
{
	struct where_maker maker = { .conditions = conditions, .ends = ends };

	*where = NULL;
	return conditions && conditions->list.count ? where_make(where, trace, NULL, &maker, count) : 0;
}

int view_where_make_tasks(struct view_where **where, const struct burin_trace *trace,
			  const struct view_conditions *conditions)
{
	static const struct view_where_end threads = { .name = "threads" };
	struct where_maker maker = { .conditions = conditions, .ends = &threads, .of_tasks = true };

	*where = NULL;
	return conditions->list.count ? where_make(where, trace, NULL, &maker, 1) : 0;
}

int view_where_make(struct view_where **where, const struct burin_trace *trace,
		    const struct burin_profile *profile, const struct view_conditions *conditions,
		    const bool *selected)
{
	const unsigned count = burin_trace_events(trace);
	struct where_maker maker = { .conditions = conditions };
	struct view_where_end *ends;
	int result;

	*where = NULL;
	if (!conditions->list.count)
		return 0;
	ends = calloc((size_t)count + 1, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++)
		ends[n] = (struct view_where_end){ .event = selected[n] ? burin_trace_event(trace, n + 1)
									: NULL,
						   .of = n };
	maker.ends = ends;
	result = where_make(where, trace, profile, &maker, count);
	free(ends);
	return result;
}

/* ---- Tests */

const char *view_where_program(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return slash ? slash + 1 : exe;
}

static void where_name_thread(const struct burin_thread *thread, struct filter_subject *subject)
{
	if (!thread)
		return;
	subject->pid = thread->pid;
	subject->thread = thread->name;
	if (thread->process)
		subject->program = view_where_program(thread->process->exe);
}

static void where_names(const struct view_where *where, const struct burin_record *record,
			struct filter_subject *subject)
{
	const struct burin_task *task;
	struct burin_sample sample;

	if (!where->profile || burin_profile_sample(where->profile, record, &sample)) {
		where_name_thread(burin_trace_thread(where->trace, record->tid, record->time), subject);
		return;
	}
	task = burin_profile_task(where->profile, sample.task);
	if (task) {
		subject->pid = task->pid;
		subject->thread = task->name;
		subject->program = view_where_program(task->path);
	}
}

bool view_where_end_holds(const struct view_where *where, unsigned number, const struct burin_record *record)
{
	const unsigned named = FILTER_PID | FILTER_NAMES;
	struct filter_subject subject = { .tid = record->tid, .cpu = record->cpu };
	const struct where_slot *slot;

	if (!where || !where->slots[number].filter)
		return true;
	slot = &where->slots[number];
	if (slot->facts & named)
		where_names(where, record, &subject);
	burin_record_depth(record, &subject.depth);
	burin_record_correlation(record, &subject.correlation);
	return filter_passes(slot->filter, record->payload, record->payload_bytes, &subject);
}

bool view_where_holds(const struct view_where *where, const struct burin_record *record)
{
	return record->ring == UINT32_MAX || view_where_end_holds(where, record->event->id - 1, record);
}

bool view_where_needs(const struct view_where *where, unsigned number)
{
	return where && where->slots[number].needs;
}

bool view_where_task_holds(const struct view_where *where, uint32_t tid, const struct burin_thread *thread)
{
	struct filter_subject subject = { .tid = tid };

	if (!where || !where->slots[0].filter)
		return true;
	where_name_thread(thread, &subject);
	return filter_passes(where->slots[0].filter, NULL, 0, &subject);
}

void view_where_free(struct view_where *where)
{
	if (!where)
		return;
	for (unsigned n = 0; where->slots && n < where->count; n++)
		free(where->slots[n].filter);
	free(where->slots);
	free(where);
}
