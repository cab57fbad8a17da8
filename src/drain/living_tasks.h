/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of all tasks that live now, from /proc. The kernel's session has the names of tasks that were renamed or have
 * ended only, so a trace of it gets the others at its end.
 */
#ifndef BURIN_DRAIN_LIVING_TASKS_H
#define BURIN_DRAIN_LIVING_TASKS_H

#include "drain/ring_reader.h"
#include "writer/trace_output.h"

/*
 * living_tasks_add - add all threads and processes that live to a trace, each since its task began.
 * @names: the stream of names; @reader: of its ring
 * Return: 0 or -errno.
 */
int living_tasks_add(struct output *output, unsigned names, const struct ring_reader *reader);

#endif
