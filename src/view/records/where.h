/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of records that are read from a trace: --where. Each thread may test with the same ones.
 *
 * A view is made as if the trace had only the records of which the conditions are true. There are three forms of it:
 *
 *	view_where_make()	of events, samples and calls: each has one record
 *	view_where_make_ends()	of spans and system calls, which have two
 *	view_where_make_tasks()	of states of threads, which have no record of their own
 */
#ifndef BURIN_VIEW_RECORDS_WHERE_H
#define BURIN_VIEW_RECORDS_WHERE_H

#include "burin/profile.h"
#include "filter/filter_conditions.h"
#include "filter/filter_error.h"
#include "view/records/selection.h"

struct view_where;

/* Why conditions do not fit. */
struct view_where_fault {
	const char *event; /* of the trace; "": any; NULL: the glob of a condition matches none */
	const char *
		end; /* the event of the other end, which the condition does not fit either; NULL: there is none */
	bool of_tasks;			  /* of threads: there is no event */
	char text[FILTER_CONDITIONS_MAX]; /* the expression, or the condition that matches none */
	struct filter_error fault, end_fault;
};

/* Conditions as the user wrote them: "EXPR", or "GLOB: EXPR". */
struct view_conditions {
	struct view_globs list;
	struct view_where_fault *fault; /* receives why they do not fit; NULL: there are no conditions */
};

/* view_where_is_wrong - whether a condition is no expression, whatever the event. @fault: says why */
bool view_where_is_wrong(const char *condition, struct view_where_fault *fault);

/*
 * view_where_make - compile conditions for the events of a trace.
 * @selected: by id of an event - 1: it is; its conditions must fit
 * @profile: of the trace; NULL: it has no samples
 * @where: receives the conditions, or NULL if there are none
 * Return: 0; -EDOM: see the fault of @conditions; -ENOMEM.
 */
int view_where_make(struct view_where **where, const struct burin_trace *trace,
		    const struct burin_profile *profile, const struct view_conditions *conditions,
		    const bool *selected);

/* view_where_holds - whether the conditions of a record's event hold. @where: NULL: true */
bool view_where_holds(const struct view_where *where, const struct burin_record *record);

/* An event as one end of something that has two. */
struct view_where_end {
	const struct burin_event *event; /* NULL: it is not selected */
	const char *name;		 /* of that something: a GLOB is for this name, or for the event's */
	uint32_t of;			 /* ends of the same have one number; small */
	bool last;			 /* not the begin */
};

/*
 * view_where_make_ends - compile conditions for ends. A condition is tested on the record of the begin; on that of the end if it does not fit
 * the event of the begin.
 * @conditions: NULL: there are none
 * Return: as view_where_make().
 */
int view_where_make_ends(struct view_where **where, const struct burin_trace *trace,
			 const struct view_conditions *conditions, const struct view_where_end *ends,
			 unsigned count);

/* view_where_end_holds - whether the conditions of an end hold. @number: of the end; @where: NULL: true */
bool view_where_end_holds(const struct view_where *where, unsigned number, const struct burin_record *record);

/* view_where_needs - whether the record of the other end decides, too: without it, they do not hold. */
bool view_where_needs(const struct view_where *where, unsigned number);

/* view_where_make_tasks - compile conditions for threads, which have no fields. Return: as view_where_make(). */
int view_where_make_tasks(struct view_where **where, const struct burin_trace *trace,
			  const struct view_conditions *conditions);

/* view_where_task_holds - @thread: NULL: it is unknown; @where: NULL: true */
bool view_where_task_holds(const struct view_where *where, uint32_t tid, const struct burin_thread *thread);

/* view_where_program - the name of a program by its path, as the fact `program` has it: its last part. */
const char *view_where_program(const char *exe);

void view_where_free(struct view_where *where);

#endif
