/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tracepoints that a recording chooses, their events in the session, and their filters. */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_POINTS_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_POINTS_H

#include <stddef.h>

#include "filter/filter_entry.h"
#include "session/session.h"
#include "source/kernel/points/task_names.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/points/tracepoint.h"

enum {
	KERNEL_WHY = 320,
};

struct kernel_points {
	struct tracepoint *points;
	size_t count, room;
	unsigned late; /* of them: tracepoint_late() */
	bool names_tasks; /* those that give tasks their names are among them, too, whatever the globs and filters are */
	bool has_unnamed; /* calls without a tracepoint were asked for; without programs they are not recorded */
	bool has_calls
		[KERNEL_CALLS]; /* system calls with a tracepoint; if one of those without is recorded */
	struct tracepoint exec; /* sched_process_exec, if one of these is about an exec; its id is 0: none */
	struct session_event *events;
	uint16_t *ids;		      /* of the events */
	struct filter_entry *filters; /* empty ones: none; NULL: none at all */
	int *files;		      /* of probes; kernel_points_free() closes them */
	size_t file_count, file_room;
};

/*
 * kernel_points_choose - choose the tracepoints whose names match one of the globs, the probes that others describe (probe.h), and,
 * if ->names_tasks is set, the tracepoints by which tasks get their names.
 * @events: of tracefs_open()
 * @calls_by_number: system calls are found by their numbers: the kernel's ids of their exits are not needed; calls without a tracepoint are recorded
 * @why: with -ENOENT: one line
 * Return: 0; -ENOENT: none matches; another -errno. In any case call kernel_points_free().
 */
int kernel_points_choose(struct kernel_points *points, int events, const char *const *globs,
			 bool calls_by_number, char why[KERNEL_WHY]);

/* kernel_points_keep - remove those that are not to be kept, before they are compiled and registered. */
void kernel_points_keep(struct kernel_points *points,
			bool (*keep)(const void *context, const struct tracepoint *point),
			const void *context);

/*
 * kernel_points_add_late - add the events of arguments that are read at the exits of system calls (struct kernel_late).
 * @events: of tracefs_open()
 * Return: 0 or -errno.
 */
int kernel_points_add_late(struct kernel_points *points, int events);

/*
 * kernel_points_compile - compile a filter for each one, but not for those that give tasks their names.
 * @option: of the filter, for @why
 * @in_kernel: it must fit programs of the kernel
 * @why: with -ENOENT: one line
 * Return: 0; -ENOENT: it does not fit one of them; -ENOMEM.
 */
int kernel_points_compile(struct kernel_points *points, const char *option, const char *const *where,
			  bool in_kernel, char why[KERNEL_WHY]);

/* kernel_points_enums - the enums to which an event's format refers. @calls: WIRE_ENUMS_MAX + 1 bytes, used if they are those of system calls */
const char *kernel_points_enums(const struct tracepoint *point, char *calls);

/*
 * kernel_points_without_texts - let texts of processes be their addresses; before they are compiled and registered.
 * Return: whether one had any.
 */
bool kernel_points_without_texts(struct kernel_points *points);

/* kernel_points_have - whether one of them has a field of this kind. */
bool kernel_points_have(const struct kernel_points *points, enum tracepoint_kind kind);

/* kernel_points_filter - of one of them; NULL: it has none. */
const struct wire_filter *kernel_points_filter(const struct kernel_points *points, size_t n);

/* kernel_points_call - the number of the system call that a tracepoint is about, below KERNEL_CALL_ENTRIES; -1: it is about none. */
int kernel_points_call(const struct tracepoint *point, bool *enters);

/* kernel_points_have_all_calls - whether both ends of every system call are among them; only with programs. */
bool kernel_points_have_all_calls(const struct kernel_points *points);

/* kernel_points_register - register their events. Return: 0 or -errno. */
int kernel_points_register(struct kernel_points *points, struct session *session);

/* kernel_points_register_one - register the event of another one, which has the enum of system calls. Return: 0 or -errno. */
int kernel_points_register_one(const struct tracepoint *point, struct session *session, uint16_t *id);

/* kernel_points_names - let the names of tasks come from those of their records. */
void kernel_points_names(const struct kernel_points *points, struct task_names *names);

void kernel_points_free(struct kernel_points *points);

#endif
