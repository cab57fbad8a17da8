/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tracepoints of a recording; see kernel_points.h.
 *
 * The list is built in this order: probes, tracepoints by globs, those that give names to threads, then a late one
 * for each call with texts. It does not change afterwards, and ids and filters are by its indexes. The index of a
 * late point is behind that of its entry (`late` is the index and 1).
 *
 * One event can have several probes: overloads, inlined copies, or a probe of two files. They share it if their
 * fields are the same (is_alike()), else the name gets a number. One probe that is described twice is attached once.
 *
 * The points that give names are in each recording, also if they were not asked for; so no filter is applied to them:
 * without them, threads of later records would have no names.
 *
 * A system call of which no number is known is left out. Programs choose by the number, so such a call could not be
 * recorded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "filter/filter_conditions.h"
#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/probes/kernel_function.h"
#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/probes/probe.h"
#include "source/kernel/points/syscall_numbers.h"
#include "source/kernel/points/tracefs.h"
#include "source/kernel/points/unnamed_calls.h"

static const char made_name[] = "task:task_newtask", renamed_name[] = "task:task_rename";

static int kernel_points_add_point(void *context, const struct tracepoint *point)
{
	struct kernel_points *points = context;

	if (!array_reserve(points->points, points->room, points->count + 1))
		return -ENOMEM;
	tracepoint_copy(&points->points[points->count], point);
	if (point->enums) {
		points->points[points->count].enums = strdup(point->enums);
		if (!points->points[points->count].enums)
			return -ENOMEM;
	}
	points->count++;
	return 0;
}

/* The same for one that may be among them. */
static int add_other(void *context, const struct tracepoint *point)
{
	const struct kernel_points *points = context;

	for (size_t n = 0; n < points->count; n++)
		if (points->points[n].id == point->id)
			return 0;
	return kernel_points_add_point(context, point);
}

static bool is_same_file(int one, int other)
{
	struct stat a, b;

	return one == other ||
	       (fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* Whether two probes have one event. */
static bool is_alike(const struct tracepoint *one, const struct tracepoint *other)
{
	return strcmp(one->format, other->format) == 0 && one->types == other->types &&
	       strcmp(one->enums ?: "", other->enums ?: "") == 0;
}

/* The probes that were asked for so far. */
struct probes {
	struct kernel_points *points;
	size_t earlier; /* those of earlier descriptions */
};

/* The event of a name among those of earlier descriptions. @same: set if it has this probe. Return: NULL: there is none. */
static const struct tracepoint *find_probe(const struct probes *probes, const char *name,
					   const struct tracepoint *point, bool *same)
{
	const struct tracepoint *found = NULL;

	for (size_t n = 0; n < probes->earlier; n++) {
		const struct tracepoint *other = &probes->points->points[n];

		if (strcmp(other->event, name) != 0)
			continue;
		found = other;
		*same |= is_alike(other, point) && other->function == point->function &&
			 other->site == point->site && is_same_file(other->file, point->file);
	}
	return found;
}

/* A probe that was asked for twice is one. With other arguments it is an event of its own, with a number behind the name. */
static int add_probe(void *context, const struct tracepoint *point)
{
	static const size_t bytes = WIRE_NAME_MAX - sizeof("-4294967295");
	const struct probes *probes = context;
	struct kernel_points *points = probes->points;
	const struct tracepoint *other;
	char name[WIRE_NAME_MAX + 1];
	bool same = false;
	int error;

	strcpy(name, point->event);
	for (unsigned number = 2; (other = find_probe(probes, name, point, &same)) && !is_alike(other, point);
	     number++)
		snprintf(name, sizeof(name), "%.*s-%u", (int)bytes, point->event, number);
	if (same)
		return 0;
	error = kernel_points_add_point(points, point);
	if (!error)
		strcpy(points->points[points->count - 1].event, name);
	return error;
}

int kernel_points_call(const struct tracepoint *point, bool *enters)
{
	const char *name = tracepoint_syscall(point, enters);

	if (name && point->id >= UNNAMED_FIRST_ID)
		return strcmp(name, COMPAT_CALL) == 0 ? KERNEL_CALL_COMPAT : KERNEL_CALL_UNNAMED;
	for (unsigned n = 0; name && n < syscall_count; n++)
		if (strcmp(syscall_numbers[n].name, name) == 0 && syscall_numbers[n].number < KERNEL_CALLS)
			return (int)syscall_numbers[n].number;
	return -1;
}

void kernel_points_keep(struct kernel_points *points,
			bool (*keep)(const void *context, const struct tracepoint *point),
			const void *context)
{
	size_t kept = 0;

	for (size_t n = 0; n < points->count; n++) {
		if (!keep(context, &points->points[n])) {
			free((char *)points->points[n].enums);
			continue;
		}
		if (kept != n)
			tracepoint_copy(&points->points[kept], &points->points[n]);
		kept++;
	}
	points->count = kept;
}

/* Not a system call whose number is unknown. */
static bool has_known_number(const void *context, const struct tracepoint *point)
{
	bool enters;

	(void)context;
	return !tracepoint_syscall(point, &enters) || kernel_points_call(point, &enters) >= 0;
}

/* Find the probes among what was asked for. @globs: set to the rest, which is of tracepoints */
static int choose_probes(struct kernel_points *points, const char *const *all, const char **globs,
			 char why[KERNEL_WHY])
{
	struct probes probes = { .points = points };
	char text[PROBE_WHY] = "";
	unsigned kept = 0;
	int error = 0;

	for (; *all && !error; all++) {
		probes.earlier = points->count;
		if (kernel_function_is_one(*all)) {
			error = kernel_function_find(*all, add_probe, &probes, text);
			continue;
		}
		if (!probe_is_one(*all)) {
			globs[kept++] = *all;
			continue;
		}
		if (!array_reserve(points->files, points->file_room, points->file_count + 1))
			return -ENOMEM;
		error = probe_find(*all, &points->files[points->file_count++], add_probe, &probes, text);
	}
	globs[kept] = NULL;
	if (error)
		snprintf(why, KERNEL_WHY, "--kernel: %s", *text ? text : strerror(-error));
	return error ? -ENOENT : 0;
}

static int note_call(void *context, const struct tracepoint *point)
{
	struct kernel_points *points = context;
	bool enters;
	const int number = kernel_points_call(point, &enters);

	if (number >= 0)
		points->has_calls[number] = true;
	return 0;
}

static int note_unnamed(void *context, const struct tracepoint *point)
{
	struct kernel_points *points = context;

	points->has_unnamed |= point->id != 0;
	return 0;
}

/* Choose calls without a tracepoint, which are all whose number has none. */
static int choose_unnamed(struct kernel_points *points, int events, const char *const *globs,
			  bool calls_by_number)
{
	static const char *const exits[] = { TRACEPOINT_SYSCALLS ":sys_exit_*", NULL };
	int error = unnamed_calls_each(globs, note_unnamed, points);

	if (error || !points->has_unnamed || !calls_by_number)
		return error;
	error = unnamed_calls_each(globs, kernel_points_add_point, points);
	return error ? error : tracefs_each_by_name(events, exits, note_call, points);
}

static int choose_points(struct kernel_points *points, int events, const char *const *globs,
			 bool calls_by_number, char why[KERNEL_WHY])
{
	const size_t before = points->count;
	int error;

	if (!*globs)
		return 0;
	error = calls_by_number ? tracefs_each_by_name(events, globs, kernel_points_add_point, points)
				: tracefs_each(events, globs, kernel_points_add_point, points);
	kernel_points_keep(points, has_known_number, NULL);
	if (!error)
		error = choose_unnamed(points, events, globs, calls_by_number);
	if (error || points->count != before)
		return error;
	snprintf(why, KERNEL_WHY, "--kernel: %s matches %.60s; see burin events kernel",
		 points->has_unnamed ? "without programs in the kernel (BPF), no tracepoint"
				     : "no tracepoint of the kernel",
		 globs[0]);
	return -ENOENT;
}

int kernel_points_choose(struct kernel_points *points, int events, const char *const *globs,
			 bool calls_by_number, char why[KERNEL_WHY])
{
	static const char *const names[] = { made_name, renamed_name, NULL };
	const char **of_points;
	size_t count = 0;
	int error;

	while (globs[count])
		count++;
	of_points = calloc(count + 1, sizeof(*of_points));
	if (!of_points)
		return -ENOMEM;
	error = choose_probes(points, globs, of_points, why);
	if (!error)
		error = choose_points(points, events, of_points, calls_by_number, why);
	free(of_points);
	return error || !points->names_tasks ? error : tracefs_each(events, names, add_other, points);
}

static int keep_exec(void *context, const struct tracepoint *point)
{
	struct kernel_points *points = context;

	tracepoint_copy(&points->exec, point);
	return 0;
}

int kernel_points_add_late(struct kernel_points *points, int events)
{
	static const char *const exec[] = { "sched:sched_process_exec", NULL };
	const size_t count = points->count;
	bool enters, executes = false;

	for (size_t n = 0; n < count; n++) {
		if (!tracepoint_syscall(&points->points[n], &enters) || !enters)
			continue;
		if (!array_reserve(points->points, points->room, points->count + 1))
			return -ENOMEM;
		if (!tracepoint_late(&points->points[points->count], &points->points[n]))
			continue;
		points->points[n].late = (unsigned)++points->count;
		points->late++;
		executes |= strcmp(points->points[n].name, "sys_enter_execve") == 0;
	}
	return executes ? tracefs_each(events, exec, keep_exec, points) : 0;
}

static bool gives_names(const struct kernel_points *points, const struct tracepoint *point)
{
	const char *name = point->event + sizeof(TRACEPOINT_PREFIX) - 1;

	if (!points->names_tasks)
		return false;
	return strcmp(name, made_name) == 0 || strcmp(name, renamed_name) == 0;
}

/* The names of the system calls by their numbers, as an enum. Names that do not fit are left out. */
static void kernel_points_name_calls(char text[WIRE_ENUMS_MAX + 1])
{
	size_t used = (size_t)sprintf(text, TRACEPOINT_CALLS " none=-1 unknown=-2");

	for (unsigned n = 0; n < syscall_count; n++) {
		char label[TRACEPOINT_NAME + 16];
		const int bytes = snprintf(label, sizeof(label), " %s=%d", syscall_numbers[n].name,
					   syscall_numbers[n].number);

		if (used + (size_t)bytes + 1 > WIRE_ENUMS_MAX)
			continue;
		memcpy(text + used, label, (size_t)bytes);
		used += (size_t)bytes;
	}
	strcpy(text + used, "\n");
}

const char *kernel_points_enums(const struct tracepoint *point, char *calls)
{
	if (!tracepoint_has_calls(point))
		return point->enums ?: "";
	kernel_points_name_calls(calls);
	return calls;
}

bool kernel_points_without_texts(struct kernel_points *points)
{
	bool had = false;

	for (size_t n = 0; n < points->count; n++)
		had |= tracepoint_without_texts(&points->points[n]);
	return had;
}

/* The name by which users choose a tracepoint. */
static const char *chosen_name(const struct tracepoint *point)
{
	return point->event + sizeof(TRACEPOINT_PREFIX) - 1;
}

/* Compile the conditions of a tracepoint. @expression: receives them. Return: NULL; why not, in @fault or for ever */
static const char *compile_point(const struct kernel_points *points, size_t n, const char *const *where,
				 bool in_kernel, char *expression, struct filter_error *fault)
{
	const struct tracepoint *point = &points->points[n];
	char calls[WIRE_ENUMS_MAX + 1];
	int count;

	count = filter_conditions_join(where, chosen_name(point), expression);
	if (count < 0)
		return "the conditions are too long";
	if (!count)
		return NULL;
	if (filter_entry_make(&points->filters[n], expression, point->format,
			      kernel_points_enums(point, calls), point->types, fault) != 0)
		return fault->message;
	return kernel_filter_fits(&(struct kernel_filter){ kernel_points_filter(points, n), point },
				  in_kernel);
}

/* Find a condition whose glob matches no chosen tracepoint. */
static const char *find_unmatched(const struct kernel_points *points, const char *const *where)
{
	for (; *where; where++) {
		bool fits = false;

		for (size_t n = 0; n < points->count && !fits; n++)
			fits = !gives_names(points, &points->points[n]) && !points->points[n].is_late &&
			       filter_condition_fits(*where, chosen_name(&points->points[n]));
		if (!fits)
			return *where;
	}
	return NULL;
}

int kernel_points_compile(struct kernel_points *points, const char *option, const char *const *where,
			  bool in_kernel, char why[KERNEL_WHY])
{
	char expression[FILTER_CONDITIONS_MAX];
	const char *unmatched = find_unmatched(points, where);
	struct filter_error fault;

	if (unmatched) {
		snprintf(why, KERNEL_WHY, "%s '%.100s': no event of --kernel has such a name", option,
			 unmatched);
		return -ENOENT;
	}
	points->filters = calloc(points->count, sizeof(*points->filters));
	if (!points->filters)
		return -ENOMEM;
	for (size_t n = 0; n < points->count; n++) {
		const char *wrong;

		if (gives_names(points, &points->points[n]) || points->points[n].is_late)
			continue;
		wrong = compile_point(points, n, where, in_kernel, expression, &fault);
		if (wrong) {
			snprintf(why, KERNEL_WHY, "%s '%.60s': %s: %.160s", option, expression,
				 chosen_name(&points->points[n]), wrong);
			return -ENOENT;
		}
	}
	return 0;
}

bool kernel_points_have(const struct kernel_points *points, enum tracepoint_kind kind)
{
	for (size_t n = 0; n < points->count; n++)
		for (unsigned field = 0; field < points->points[n].count; field++)
			if (points->points[n].fields[field].kind == kind)
				return true;
	return false;
}

bool kernel_points_have_all_calls(const struct kernel_points *points)
{
	bool has[KERNEL_CALL_ENTRIES][2] = { { false } };

	for (size_t n = 0; n < points->count; n++) {
		bool enters = false;
		const int call =
			points->points[n].is_late ? -1 : kernel_points_call(&points->points[n], &enters);

		if (call >= 0)
			has[call][enters] = true;
	}
	for (unsigned call = 0; call < KERNEL_CALL_ENTRIES; call++)
		if ((call >= KERNEL_CALLS || points->has_calls[call]) && !(has[call][0] && has[call][1]))
			return false;
	return true;
}

const struct wire_filter *kernel_points_filter(const struct kernel_points *points, size_t n)
{
	return points->filters && points->filters[n].size
		       ? (const struct wire_filter *)points->filters[n].bytes
		       : NULL;
}

int kernel_points_register(struct kernel_points *points, struct session *session)
{
	char calls[WIRE_ENUMS_MAX + 1];
	int error;

	kernel_points_name_calls(calls);
	points->events = calloc(points->count, sizeof(*points->events));
	points->ids = calloc(points->count, sizeof(*points->ids));
	if (!points->events || !points->ids)
		return -ENOMEM;
	for (size_t n = 0; n < points->count; n++)
		points->events[n] = (struct session_event){ .name = points->points[n].event,
							    .format = points->points[n].format,
							    .file = "",
							    .enums = tracepoint_has_calls(&points->points[n])
									     ? calls
									     : points->points[n].enums,
							    .types = points->points[n].types };
	error = session_event_register(session, points->events, (unsigned)points->count, points->ids);
	/* Two probes of one name may have other arguments; the second one is not recorded. */
	for (size_t n = 0; n < points->count && !error; n++)
		error = points->ids[n] || points->points[n].id >= PROBE_FIRST_ID ? 0 : -ENOSPC;
	return error;
}

int kernel_points_register_one(const struct tracepoint *point, struct session *session, uint16_t *id)
{
	char calls[WIRE_ENUMS_MAX + 1];
	const struct session_event event = { .name = point->event,
					     .format = point->format,
					     .file = "",
					     .enums = calls,
					     .types = point->types };

	kernel_points_name_calls(calls);
	return session_event_register(session, &event, 1, id);
}

void kernel_points_names(const struct kernel_points *points, struct task_names *names)
{
	for (size_t n = 0; n < points->count; n++) {
		const char *name = points->points[n].event + sizeof(TRACEPOINT_PREFIX) - 1;

		if (strcmp(name, made_name) == 0) {
			tracepoint_copy(&names->made, &points->points[n]);
			names->made_id = points->ids[n];
		}
		if (strcmp(name, renamed_name) == 0) {
			tracepoint_copy(&names->renamed, &points->points[n]);
			names->renamed_id = points->ids[n];
		}
	}
}

void kernel_points_free(struct kernel_points *points)
{
	for (size_t n = 0; n < points->file_count; n++)
		if (points->files[n] >= 0)
			close(points->files[n]);
	for (size_t n = 0; n < points->count; n++)
		free((char *)points->points[n].enums);
	free(points->files);
	free(points->points);
	free(points->events);
	free(points->ids);
	free(points->filters);
	*points = (struct kernel_points){ .count = 0 };
}
