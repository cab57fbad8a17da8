/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions of records that are read from a trace: --where. Each thread may test with the same ones. */
#ifndef BURIN_VIEW_RECORDS_WHERE_H
#define BURIN_VIEW_RECORDS_WHERE_H

#include "burin/profile.h"
#include "filter/filter_conditions.h"
#include "filter/filter_error.h"
#include "view/records/selection.h"

struct view_where;

/* Why conditions do not fit. */
struct view_where_fault {
	const char *event;		  /* of the trace; NULL: the glob of a condition matches none */
	char text[FILTER_CONDITIONS_MAX]; /* the expression, or the condition that matches none */
	struct filter_error fault;
};

/*
 * view_where_make - compile conditions for the events of a trace.
 * @selected: by id of an event - 1: it is; its conditions must fit
 * @profile: of the trace; NULL: it has no samples
 * @where: receives the conditions, or NULL if there are none
 * Return: 0; -EINVAL: see @fault; -ENOMEM.
 */
int view_where_make(struct view_where **where, const struct burin_trace *trace,
		    const struct burin_profile *profile, const struct view_globs *conditions,
		    const bool *selected, struct view_where_fault *fault);

/* view_where_holds - whether the conditions of a record's event hold. @where: NULL: true */
bool view_where_holds(const struct view_where *where, const struct burin_record *record);

/* view_where_program - the name of a program by its path, as the fact `program` has it: its last part. */
const char *view_where_program(const char *exe);

void view_where_free(struct view_where *where);

#endif
