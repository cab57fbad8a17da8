/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From uftrace's data directory to a trace; see uftrace_import.h. wire/wire_uftrace.h has what is known of
 * its format.
 *
 *	info		a header, then lines: which features the recording has
 *	task.txt	lines TASK, FORK, SESS, DLOP: tasks, processes, programs and libraries, with times
 *	sid-ID.map	the mappings of a session, which is a program of a process (uftrace_space.c)
 *	NAME.sym	symbols of an image
 *	TID.dat		begins and ends of a task's calls (uftrace_task.c)
 *
 * Files of tasks are each in order of time, and a trace is in the order of ends. So the next ended call of
 * every task is in a heap, and the earliest is written. Memory is one buffer for each task, until the end,
 * and its open calls.
 *
 * The files are not trusted: their sizes, the number of tasks and the depth of forks are limited. A recording
 * that cannot be carried over as a whole is refused with a reason (->why); parts that a trace has no place
 * for are counted (->left).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "import/uftrace_import.h"
#include "import/uftrace_text.h"

enum {
	INFO_MAX = 16 << 20,
	TASKS_TEXT_MAX = 256 << 20,
	TASKS_MAX = 1 << 20,
	COMMAND_BYTES = 512,
	PARENTS_MAX = 64, /* on the way from a task to the process whose program it runs */

	HAS_KERNEL = 1 << 2,	/* bits of `features` that matter here only */
	HAS_ESTIMATE = 1 << 11, /* records have no ends */
};

/* A program that a process executed: a line SESS. */
struct executed {
	uint64_t time;
	uint32_t pid, space;
	const char *exe;
};

struct work {
	struct uftrace_import *result;
	int from;
	struct calls_trace trace;
	struct uftrace_spaces spaces;
	struct uftrace_task *tasks; /* by tid once they are all known */
	size_t count, room;
	struct executed *sessions;
	size_t session_count, session_room;
	char command[COMMAND_BYTES], date[64];
	struct arena strings;
	uint64_t last; /* ns */
	/* A heap of tasks by the end of their next call. */
	struct pending {
		struct uftrace_call call;
		size_t task;
	} * heap;
	size_t pending;
};

static int uftrace_import_refuse(struct work *work, const char *file, const char *why)
{
	work->result->file = file;
	work->result->why = why;
	return -EINVAL;
}

static int uftrace_import_unreadable(struct work *work, const char *file, int error)
{
	work->result->file = file;
	return error;
}

/* ---- info */

static int check_info(struct work *work, const struct wire_uftrace_info *info)
{
	if (memcmp(info->magic, WIRE_UFTRACE_MAGIC, sizeof(info->magic)))
		return uftrace_import_refuse(
			work, "info",
			"it does not begin as uftrace's; give the directory that uftrace record wrote");
	if (info->endian != WIRE_UFTRACE_LITTLE || info->elf_class != WIRE_UFTRACE_64)
		return uftrace_import_refuse(work, "info",
					     "only little-endian programs of 64 bits can be imported");
	if (info->version < WIRE_UFTRACE_VERSION_MIN || info->version > WIRE_UFTRACE_VERSION)
		return uftrace_import_refuse(work, "info",
					     "only versions 3 and 4 of uftrace's files can be imported");
	if (!(info->features & WIRE_UFTRACE_HAS_SESSIONS))
		return uftrace_import_refuse(work, "info",
					     "the recording has no sessions, so its addresses have no names");
	if (info->features & HAS_ESTIMATE)
		return uftrace_import_refuse(work, "info",
					     "the recording has no ends of calls (uftrace record -e)");
	work->spaces.relative = info->features & WIRE_UFTRACE_HAS_RELATIVE;
	work->result->kernel = info->features & HAS_KERNEL;
	return 0;
}

static int read_info(struct work *work)
{
	struct uftrace_text text;
	struct wire_uftrace_info info;
	int error = uftrace_text_load(&text, work->from, "info", INFO_MAX);
	const char *line;

	if (error == -ENOENT)
		return uftrace_import_refuse(
			work, "info", "there is no such file; give the directory that uftrace record wrote");
	if (error)
		return uftrace_import_unreadable(work, "info", error);
	if ((size_t)(text.end - text.bytes) < sizeof(info)) {
		uftrace_text_free(&text);
		return uftrace_import_refuse(work, "info", "it is shorter than its header");
	}
	memcpy(&info, text.bytes, sizeof(info));
	error = check_info(work, &info);
	text.at += sizeof(info);
	while (!error && (line = uftrace_text_line(&text))) {
		if (!strncmp(line, "cmdline:", 8))
			snprintf(work->command, sizeof(work->command), "%s", line + 8);
		else if (!strncmp(line, "record_date:", 12))
			snprintf(work->date, sizeof(work->date), "%s", line + 12);
	}
	uftrace_text_free(&text);
	return error;
}

/* ---- task.txt */

static int uftrace_import_add_task(struct work *work, struct uftrace_task task)
{
	if (work->count >= TASKS_MAX)
		return uftrace_import_refuse(work, "task.txt", "it has more than a million tasks");
	if (!array_reserve(work->tasks, work->room, work->count + 1))
		return -ENOMEM;
	work->tasks[work->count++] = task;
	return 0;
}

static int add_session(struct work *work, char *line, uint64_t time)
{
	char name[WIRE_UFTRACE_SESSION + 1];
	const char *exe = uftrace_quoted(line, "exename="), *at = strstr(line, " sid=");
	uint32_t pid;
	int space;

	if (!exe || !at || sscanf(at, " sid=%16[0-9a-zA-Z]", name) != 1 ||
	    !uftrace_number(line, "pid=", &pid))
		return uftrace_import_refuse(work, "task.txt", "a line SESS cannot be read");
	space = uftrace_space_add(&work->spaces, name);
	if (space == -ENOENT)
		return uftrace_import_refuse(work, "sid-*.map", "the map of a session is missing");
	if (space < 0)
		return space;
	exe = arena_keep(&work->strings, exe, strlen(exe));
	if (!exe || !array_reserve(work->sessions, work->session_room, work->session_count + 1))
		return -ENOMEM;
	work->sessions[work->session_count++] = (struct executed){ time, pid, (uint32_t)space, exe };
	return 0;
}

static int add_library(struct work *work, char *line)
{
	char name[WIRE_UFTRACE_SESSION + 1];
	const char *path = uftrace_quoted(line, "libname="), *at = strstr(line, " sid="),
		   *base = strstr(line, " base=");

	if (!path || !at || !base || sscanf(at, " sid=%16[0-9a-zA-Z]", name) != 1)
		return uftrace_import_refuse(work, "task.txt", "a line DLOP cannot be read");
	return uftrace_space_library(&work->spaces, name, strtoull(base + 6, NULL, 16), path);
}

static int uftrace_import_take_line(struct work *work, char *line)
{
	uint64_t time;
	uint32_t tid, pid;

	if (!*line)
		return 0;
	if (!uftrace_stamp(line, &time))
		return uftrace_import_refuse(work, "task.txt", "a line has no time");
	if (!strncmp(line, "SESS ", 5))
		return add_session(work, line, time);
	if (!strncmp(line, "DLOP ", 5))
		return add_library(work, line);
	if (!strncmp(line, "TASK ", 5) && uftrace_number(line, "tid=", &tid) &&
	    uftrace_number(line, " pid=", &pid))
		return uftrace_import_add_task(
			work,
			(struct uftrace_task){ .tid = tid, .pid = pid, .thread = tid != pid, .time = time });
	if (!strncmp(line, "FORK ", 5) && uftrace_number(line, " pid=", &tid) &&
	    uftrace_number(line, "ppid=", &pid))
		return uftrace_import_add_task(
			work, (struct uftrace_task){ .tid = tid, .pid = tid, .parent = pid, .time = time });
	return uftrace_import_refuse(work, "task.txt", "a line cannot be read");
}

static int compare_tasks(const void *one, const void *other)
{
	const struct uftrace_task *a = one, *b = other;

	return number_order(a->tid, b->tid) ?: number_order(a->time, b->time);
}

/* A task that executes a program has a line for each; all lines are one task. */
static void join_tasks(struct work *work)
{
	size_t kept = 0;

	if (work->count)
		qsort(work->tasks, work->count, sizeof(*work->tasks), compare_tasks);
	for (size_t n = 0; n < work->count; n++)
		if (!kept || work->tasks[kept - 1].tid != work->tasks[n].tid)
			work->tasks[kept++] = work->tasks[n];
	work->count = kept;
}

static struct uftrace_task *uftrace_import_find_task(const struct work *work, uint32_t tid)
{
	const struct uftrace_task key = { .tid = tid };
	size_t low = 0, high = work->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (work->tasks[middle].tid < key.tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < work->count && work->tasks[low].tid == tid ? &work->tasks[low] : NULL;
}

static int read_tasks(struct work *work)
{
	struct uftrace_text text;
	int error = uftrace_text_load(&text, work->from, "task.txt", TASKS_TEXT_MAX);
	char *line;

	if (error == -ENOENT)
		return uftrace_import_refuse(work, "task.txt",
					     "there is no such file; uftrace before 0.9 wrote another one");
	if (error)
		return uftrace_import_unreadable(work, "task.txt", error);
	while (!error && (line = uftrace_text_line(&text)))
		error = uftrace_import_take_line(work, line);
	uftrace_text_free(&text);
	join_tasks(work);
	for (size_t n = 0; !error && n < work->session_count; n++) {
		const struct executed *session = &work->sessions[n];
		struct uftrace_task *task = uftrace_import_find_task(work, session->pid);

		if (!task)
			continue;
		if (!array_reserve(task->programs, task->program_room, task->program_count + 1))
			error = -ENOMEM;
		else
			task->programs[task->program_count++] =
				(struct uftrace_program){ session->time, session->space };
	}
	return error ? error : uftrace_spaces_index(&work->spaces);
}

/* The process whose program a task runs: its own, or that of which it was forked. */
static const struct uftrace_task *program_of(const struct work *work, const struct uftrace_task *task)
{
	/* Parents may form a ring in a forged file. */
	for (unsigned n = 0; task && n < PARENTS_MAX && !task->program_count; n++)
		task = uftrace_import_find_task(work, task->thread ? task->pid : task->parent);
	return task;
}

/* ---- Names */

struct announcement {
	uint64_t time;
	uint32_t tid, pid, parent;
	bool process;
	const char *exe;
};

static int compare_announcements(const void *one, const void *other)
{
	const struct announcement *a = one, *b = other;

	return number_order(a->time, b->time) ?: number_order(b->process, a->process) ?: number_order(a->tid, b->tid);
}

/* The program of a process at a time; "": unknown. */
static const char *exe_of(const struct work *work, const struct uftrace_task *task, uint64_t time)
{
	const struct uftrace_task *process = program_of(work, task);
	const char *exe = "";

	for (size_t n = 0; process && n < work->session_count; n++)
		if (work->sessions[n].pid == process->tid && (!*exe || work->sessions[n].time <= time))
			exe = work->sessions[n].exe;
	return exe;
}

static void uftrace_import_announce(struct work *work, const struct announcement *name)
{
	const char *slash = strrchr(name->exe, '/');

	if (name->process)
		calls_trace_process(&work->trace, name->time, name->pid, name->parent, name->exe, name->exe);
	else
		calls_trace_thread(&work->trace, name->time, name->tid, name->pid,
				   slash ? slash + 1 : name->exe);
}

static int write_names(struct work *work)
{
	struct announcement *names = calloc(2 * work->count + 2 * work->session_count + 1, sizeof(*names));
	size_t count = 0;

	if (!names)
		return -ENOMEM;
	for (size_t n = 0; n < work->count; n++) {
		const struct uftrace_task *task = &work->tasks[n];
		struct announcement name = { .time = task->time,
					     .tid = task->tid,
					     .pid = task->pid,
					     .parent = task->parent,
					     .exe = exe_of(work, task, task->time) };

		names[count++] = name;
		name.process = true;
		if (!task->thread && !task->program_count)
			names[count++] = name; /* others are announced by their sessions */
	}
	for (size_t n = 0; n < work->session_count; n++) {
		const struct executed *session = &work->sessions[n];
		const struct uftrace_task *task = uftrace_import_find_task(work, session->pid);

		names[count++] = (struct announcement){ session->time,		 session->pid, session->pid,
							task ? task->parent : 0, true,	       session->exe };
		names[count++] = (struct announcement){ session->time, session->pid, session->pid, 0,
							false,	       session->exe };
	}
	/* A stream of names is in order of time, and a process comes before its threads. */
	qsort(names, count, sizeof(*names), compare_announcements);
	for (size_t n = 0; n < count; n++)
		uftrace_import_announce(work, &names[n]);
	free(names);
	return work->trace.error;
}

/* ---- Calls, merged by the time of their ends */

static void uftrace_import_sift_down(struct work *work, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct pending moved;

		if (child >= work->pending)
			return;
		if (child + 1 < work->pending && work->heap[child + 1].call.end < work->heap[child].call.end)
			child++;
		if (work->heap[at].call.end <= work->heap[child].call.end)
			return;
		moved = work->heap[at];
		work->heap[at] = work->heap[child];
		work->heap[child] = moved;
		at = child;
	}
}

/* Calls that are open at the end of a task's file. */
static void uftrace_import_write_open(struct work *work, size_t number)
{
	const struct uftrace_task *task = &work->tasks[number];

	for (size_t n = 0; n < task->depth; n++)
		calls_trace_open(&work->trace, (uint32_t)number + 1, task->tid, task->pid, (uint32_t)n,
				 task->stack[n].function, task->stack[n].begin);
	work->result->open += task->depth;
	if (task->last > work->last)
		work->last = task->last;
}

/* The next call of a task. Return: 1; 0: there is none; -errno. */
static int next_call(struct work *work, size_t number, struct uftrace_call *call)
{
	struct uftrace_task *task = &work->tasks[number];
	const int result =
		uftrace_task_next(task, program_of(work, task), &work->spaces, &work->result->left, call);

	if (!result)
		uftrace_import_write_open(work, number);
	if (result < 0 && result != -ENOMEM) {
		snprintf(work->result->task_file, sizeof(work->result->task_file), "%u.dat", task->tid);
		return uftrace_import_unreadable(work, work->result->task_file, result);
	}
	return result;
}

static int uftrace_import_merge(struct work *work)
{
	int result = 0;

	work->heap = calloc(work->count + 1, sizeof(*work->heap));
	if (!work->heap)
		return -ENOMEM;
	for (size_t n = 0; n < work->count; n++) {
		result = next_call(work, n, &work->heap[work->pending].call);
		if (result < 0)
			return result;
		work->heap[work->pending].task = n;
		work->pending += (size_t)result;
	}
	for (size_t n = work->pending; n--;)
		uftrace_import_sift_down(work, n);
	while (work->pending && !work->trace.error) {
		struct pending *first = work->heap;
		struct uftrace_task *task = &work->tasks[first->task];

		/* Before the call: a loss lies between two packets, and this call is behind it. */
		if (task->lost_now)
			calls_trace_lost(&work->trace, task->lost_now);
		task->lost_now = 0;
		calls_trace_call(&work->trace, task->tid, first->call.begin, first->call.end,
				 first->call.function, first->call.depth);
		work->result->calls++;
		result = next_call(work, first->task, &first->call);
		if (result < 0)
			return result;
		if (!result)
			*first = work->heap[--work->pending];
		uftrace_import_sift_down(work, 0);
	}
	return work->trace.error;
}

/* uftrace's clock counts from the machine's start; the date of the recording's end says when that was. */
static int64_t clock_offset(const struct work *work)
{
	struct tm date = { .tm_isdst = -1 };
	time_t seconds;

	if (!strptime(work->date, "%a %b %d %H:%M:%S %Y", &date))
		return 0;
	seconds = mktime(&date);
	return seconds > 0 && seconds < UINT32_MAX && work->last < (uint64_t)seconds * 1000000000
		       ? (int64_t)((uint64_t)seconds * 1000000000 - work->last)
		       : 0;
}

static int uftrace_import_all(struct work *work)
{
	int error = read_info(work);

	if (!error)
		error = read_tasks(work);
	if (!error)
		error = write_names(work);
	if (!error)
		error = uftrace_import_merge(work);
	for (size_t n = 0; !error && n < work->count; n++)
		work->result->tasks += work->tasks[n].known;
	if (!error && !work->result->calls && !work->result->open)
		return -ENODATA;
	return error ? error
		     : calls_trace_finish(&work->trace,
					  (struct recording){ .clock = { 1000000000, clock_offset(work) },
							      .command = work->command });
}

int uftrace_import(int from, int directory, struct uftrace_import *result)
{
	struct work work = { .result = result, .from = from };
	int error = calls_trace_begin(&work.trace, directory);

	*result = (struct uftrace_import){ 0 };
	work.spaces = (struct uftrace_spaces){ .directory = from, .trace = &work.trace };
	if (!error)
		error = uftrace_import_all(&work);
	for (size_t n = 0; n < work.count; n++)
		uftrace_task_free(&work.tasks[n]);
	free(work.tasks);
	free(work.sessions);
	free(work.heap);
	arena_free(&work.strings);
	uftrace_spaces_free(&work.spaces);
	calls_trace_free(&work.trace);
	return error;
}
