/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions of system calls: of the record of the begin, or of that of the end if only this has the field, such as `ret`. */
#ifndef BURIN_VIEW_SYSCALLS_SYSCALL_WHERE_H
#define BURIN_VIEW_SYSCALLS_SYSCALL_WHERE_H

#include "view/kernel/kernel_view.h"
#include "view/records/where.h"

/*
 * syscall_where_make - compile conditions, by id of the event, for view_where_end_holds(). A GLOB is for the name of a call, or of its events.
 * @names: globs of the calls that are selected
 */
int syscall_where_make(struct view_where **where, const struct kernel_view *view,
		       const struct view_conditions *conditions, const struct view_globs *names);

#endif
