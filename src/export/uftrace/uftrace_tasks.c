/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Processes, threads and the recording; see uftrace_tasks.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "export/uftrace/uftrace_images.h"
#include "export/uftrace/uftrace_tasks.h"
#include "wire/wire_call.h"

static const uint64_t second = 1000000000;

/* A line of task.txt. Lines with equal times have this order. */
struct line {
	uint64_t time; /* ticks */
	enum {
		LINE_SESSION,
		LINE_FORK,
		LINE_TASK
	} kind;
	uint32_t id, parent; /* of a task: its process */
	const struct burin_process *process;
	size_t number;
};

struct lines {
	struct line *list;
	size_t count, room;
};

static int uftrace_tasks_compare(const void *one, const void *other)
{
	const struct line *a = one, *b = other;

	return number_order(a->time, b->time)	  ?:
	       number_order(a->kind, b->kind)	  ?:
	       number_order(a->number, b->number);
}

static int uftrace_tasks_add(struct lines *lines, struct line line)
{
	if (!array_reserve(lines->list, lines->room, lines->count + 1))
		return -ENOMEM;
	line.number = lines->count;
	lines->list[lines->count++] = line;
	return 0;
}

static bool same_program(const struct burin_process *one, const struct burin_process *other)
{
	return one && other && !strcmp(one->exe, other->exe) && !strcmp(one->command, other->command);
}

/* When the first record of a process was; UINT64_MAX: it has none. */
static uint64_t first_record(const struct uftrace_order *order, uint32_t pid)
{
	uint64_t first = UINT64_MAX;

	for (size_t n = 0; n < order->lane_count; n++)
		if (order->lanes[n].pid == pid && order->lanes[n].first < first)
			first = order->lanes[n].first;
	return first;
}

/*
 * A process that another one forked is a FORK line. A process that executed a program is a session, and a TASK line
 * from which the session counts.
 */
static int uftrace_tasks_add_process(const struct uftrace_order *order, struct lines *lines,
				     const struct burin_process *process, const struct burin_process *before)
{
	const bool first = !before || before->pid != process->pid;
	const struct burin_process *parent =
		first && process->parent != process->pid
			? burin_trace_process(order->trace, process->parent, process->time)
			: NULL;
	uint64_t time = process->time;
	int error = 0;

	if (!first && same_program(before, process))
		return 0; /* only announced again */
	if (parent) {
		error = uftrace_tasks_add(lines, (struct line){ .time = time,
								.kind = LINE_FORK,
								.id = process->pid,
								.parent = process->parent });
		if (error || same_program(parent, process))
			return error;
	} else if (first) {
		const uint64_t begin = first_record(order, process->pid);

		time = begin < time ? begin : time;
	}
	error = uftrace_tasks_add(lines,
				  (struct line){ .time = time, .kind = LINE_SESSION, .process = process });
	return error ? error
		     : uftrace_tasks_add(lines, (struct line){ .time = time,
							       .kind = LINE_TASK,
							       .id = process->pid,
							       .parent = process->pid });
}

/*
 * uftrace shows a task by the first program of its process. Threads of a guest's kernel begin with the name of another, so those
 * of guests have their last.
 */
static bool is_renamed(const struct uftrace_order *order, const struct burin_process *process, size_t n)
{
	const struct burin_process *next = burin_trace_process_at(order->trace, n + 1);

	return process->pid >= WIRE_GUEST_PID && next && next->pid == process->pid;
}

/* Threads; processes that were never announced need a session, too. */
static int uftrace_tasks_add_lane(const struct uftrace_order *order, struct lines *lines,
				  const struct uftrace_lane *lane)
{
	static const struct burin_process unknown = { .exe = "unknown", .command = "" };
	const bool announced = burin_trace_process(order->trace, lane->pid, lane->first) != NULL;
	int error = 0;

	if (lane->tid == lane->pid && announced)
		return 0;
	if (!announced && lane->tid == lane->thread)
		error = uftrace_tasks_add(lines, (struct line){ .time = lane->first,
								.kind = LINE_SESSION,
								.id = lane->pid,
								.process = &unknown });
	return error ? error
		     : uftrace_tasks_add(lines, (struct line){ .time = lane->first,
							       .kind = LINE_TASK,
							       .id = lane->tid,
							       .parent = lane->pid });
}

static void uftrace_tasks_put_line(const struct burin_trace *trace, struct view_buffer *text,
				   const struct line *line)
{
	static const char *const words[] = { "SESS", "FORK", "TASK" };
	const uint64_t ns = uftrace_order_ns(trace, line->time);

	view_buffer_print(text, "%s timestamp=%" PRIu64 ".%09" PRIu64 " ", words[line->kind], ns / second,
			  ns % second);
	if (line->kind == LINE_TASK) {
		view_buffer_print(text, "tid=%" PRIu32 " pid=%" PRIu32, line->id, line->parent);
	} else if (line->kind == LINE_FORK) {
		view_buffer_print(text, "pid=%" PRIu32 " ppid=%" PRIu32, line->id, line->parent);
	} else {
		view_buffer_print(text, "pid=%" PRIu32 " sid=" UFTRACE_SESSION " exename=\"",
				  line->id ? line->id : line->process->pid);
		uftrace_put_path(text, line->process->exe);
		view_buffer_put(text, "\"", 1);
	}
	view_buffer_put(text, "\n", 1);
}

static int uftrace_tasks_write_tasks(const struct uftrace_order *order, struct uftrace_directory *directory)
{
	const struct burin_process *process, *before = NULL;
	struct view_buffer text = { .used = 0 };
	struct lines lines = { .count = 0 };
	int error = 0;

	for (size_t n = 0; !error && (process = burin_trace_process_at(order->trace, n)); n++) {
		if (is_renamed(order, process, n))
			continue;
		error = uftrace_tasks_add_process(order, &lines, process, before);
		before = process;
	}
	for (size_t n = 0; !error && n < order->lane_count; n++)
		if (order->lanes[n].words)
			error = uftrace_tasks_add_lane(order, &lines, &order->lanes[n]);
	if (!error && lines.count)
		qsort(lines.list, lines.count, sizeof(*lines.list), uftrace_tasks_compare);
	for (size_t n = 0; !error && n < lines.count; n++)
		uftrace_tasks_put_line(order->trace, &text, &lines.list[n]);
	free(lines.list);
	if (!error)
		return uftrace_directory_write(directory, "task.txt", &text);
	view_buffer_free(&text);
	return error;
}

/* ---- info */

static bool uftrace_tasks_put_value(struct view_buffer *text, const char *key, const char *value)
{
	if (!value)
		return false;
	view_buffer_put(text, key, strlen(key));
	uftrace_put_name(text, value);
	view_buffer_put(text, "\n", 1);
	return true;
}

/* The status as wait(2) reports it. */
static bool uftrace_tasks_put_status(struct view_buffer *text, const char *result)
{
	int number;

	if (result && sscanf(result, "exit %d", &number) == 1)
		view_buffer_print(text, "exit_status:%d\n", (int)((unsigned)(number & 255) << 8));
	else if (result && sscanf(result, "signal %d", &number) == 1)
		view_buffer_print(text, "exit_status:%d\n", number & 127);
	else
		return false;
	return true;
}

static bool put_system(const struct burin_trace *trace, struct view_buffer *text)
{
	const char *kernel = burin_trace_recording(trace, "kernel"),
		   *host = burin_trace_recording(trace, "hostname");

	if (!kernel || !host)
		return false;
	uftrace_tasks_put_value(text, "osinfo:lines=3\nosinfo:kernel=Linux ", kernel);
	uftrace_tasks_put_value(text, "osinfo:hostname=", host);
	return uftrace_tasks_put_value(text, "osinfo:distro=", "unknown");
}

static void put_task_list(const struct uftrace_order *order, struct view_buffer *text)
{
	const char *comma = "";
	size_t count = 0;

	for (size_t n = 0; n < order->lane_count; n++)
		count += order->lanes[n].words != 0;
	view_buffer_print(text, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", count);
	for (size_t n = 0; n < order->lane_count; n++) {
		if (!order->lanes[n].words)
			continue;
		view_buffer_print(text, "%s%" PRIu32, comma, order->lanes[n].tid);
		comma = ",";
	}
	view_buffer_put(text, "\n", 1);
}

static void put_line_of(struct view_buffer *text, const char *key, const struct view_buffer *value)
{
	if (!value->used)
		return;
	view_buffer_print(text, "%s", key);
	view_buffer_put(text, value->bytes, value->used - 1); /* without the last separator */
	view_buffer_print(text, "\n");
}

/* Which arguments follow the records. */
static void uftrace_tasks_put_arguments(const struct uftrace_order *order, struct wire_uftrace_info *info,
					struct view_buffer *text)
{
	struct view_buffer arguments = { .used = 0 }, results = { .used = 0 };
	struct burin_function function;

	for (uint32_t n = 1; n <= burin_calls_functions(order->calls); n++)
		if (order->events[n] && !burin_calls_function(order->calls, n, &function))
			uftrace_values_spec(order->events[n], function.name, &arguments, &results);
	if (arguments.used || results.used) {
		info->features |= (arguments.used ? WIRE_UFTRACE_HAS_ARGUMENTS : 0) |
				  (results.used ? WIRE_UFTRACE_HAS_RESULTS : 0);
		info->info |= WIRE_UFTRACE_INFO_ARGUMENTS | WIRE_UFTRACE_INFO_PATTERN;
		view_buffer_print(text, "argspec:lines=%d\n", (arguments.used != 0) + (results.used != 0));
		put_line_of(text, "argspec:", &arguments);
		put_line_of(text, "retspec:", &results);
	}
	text->failed |= arguments.failed | results.failed;
	view_buffer_free(&arguments);
	view_buffer_free(&results);
}

static void put_date(const struct burin_trace *trace, struct view_buffer *text)
{
	uint64_t begin = 0, end = 0, ns;
	char line[64] = "";
	struct tm date;
	time_t seconds;

	burin_trace_range(trace, &begin, &end);
	seconds = (time_t)(burin_trace_ns(trace, begin) / (int64_t)second);
	if (localtime_r(&seconds, &date))
		strftime(line, sizeof(line), "%c", &date);
	ns = uftrace_order_ns(trace, end) - uftrace_order_ns(trace, begin);
	view_buffer_print(text, "record_date:%s\nelapsed_time:%" PRIu64 ".%09" PRIu64 " sec\n", line,
			  ns / second, ns % second);
}

/* uftrace keeps this many open calls of a task; deeper ones it does not show. */
static uint16_t stack_max(const struct uftrace_order *order)
{
	const uint32_t deepest = uftrace_order_deepest(order);

	return (uint16_t)(deepest < WIRE_UFTRACE_DEPTH_MAX   ? WIRE_UFTRACE_DEPTH_MAX
			  : deepest < WIRE_UFTRACE_STACK_MAX ? deepest + 1
							     : WIRE_UFTRACE_STACK_MAX);
}

/* The process that was traced first. */
static const struct burin_process *first_process(const struct uftrace_order *order)
{
	const struct uftrace_lane *first = NULL;

	for (size_t n = 0; n < order->lane_count; n++)
		if (!first || order->lanes[n].first < first->first)
			first = &order->lanes[n];
	return first ? burin_trace_process(order->trace, first->pid, first->first) : NULL;
}

static int write_info(const struct uftrace_order *order, struct uftrace_directory *directory)
{
	const struct burin_trace *trace = order->trace;
	static const char version[] = "uftrace_version:burin\n";
	const struct burin_process *process = first_process(order);
	struct wire_uftrace_info info = { .magic = WIRE_UFTRACE_MAGIC,
					  .version = WIRE_UFTRACE_VERSION,
					  .header_bytes = sizeof(info),
					  .endian = WIRE_UFTRACE_LITTLE,
					  .elf_class = WIRE_UFTRACE_64,
					  .features = WIRE_UFTRACE_HAS_SESSIONS | WIRE_UFTRACE_HAS_RELATIVE |
						      WIRE_UFTRACE_HAS_STACK_MAX |
						      (order->event_count ? WIRE_UFTRACE_HAS_EVENTS : 0),
					  .info = WIRE_UFTRACE_INFO_TASKS | WIRE_UFTRACE_INFO_DATE |
						  WIRE_UFTRACE_INFO_VERSION,
					  .stack_max = stack_max(order) };
	struct view_buffer text = { .used = 0 }, all = { .used = 0 };

	if (uftrace_tasks_put_value(&text, "exename:", process ? process->exe : NULL))
		info.info |= WIRE_UFTRACE_INFO_EXE;
	if (uftrace_tasks_put_status(&text, burin_trace_recording(trace, "result")))
		info.info |= WIRE_UFTRACE_INFO_STATUS;
	if (uftrace_tasks_put_value(&text, "cmdline:", burin_trace_recording(trace, "command")))
		info.info |= WIRE_UFTRACE_INFO_COMMAND;
	if (put_system(trace, &text))
		info.info |= WIRE_UFTRACE_INFO_SYSTEM;
	put_task_list(order, &text);
	uftrace_tasks_put_arguments(order, &info, &text);
	put_date(trace, &text);
	if (info.info & WIRE_UFTRACE_INFO_PATTERN)
		view_buffer_print(&text, "pattern_type:simple\n");
	view_buffer_put(&text, version, sizeof(version) - 1);
	view_buffer_put(&all, (const char *)&info, sizeof(info));
	view_buffer_add(&all, &text);
	all.failed |= text.failed;
	view_buffer_free(&text);
	return uftrace_directory_write(directory, "info", &all);
}

/* ---- Events */

static int uftrace_tasks_write_events(const struct uftrace_order *order, struct uftrace_directory *directory)
{
	struct view_buffer text = { .used = 0 };

	if (!order->event_count)
		return 0;
	for (uint32_t n = 1; n <= burin_trace_events(order->trace); n++) {
		const struct burin_event *event = burin_trace_event(order->trace, n);

		if (!event)
			continue;
		view_buffer_print(&text, "EVENT: %" PRIu32 " burin:", WIRE_UFTRACE_EVENT + n);
		uftrace_put_path(&text, event->name);
		view_buffer_put(&text, "\n", 1);
	}
	return uftrace_directory_write(directory, "events.txt", &text);
}

int uftrace_tasks_write(const struct uftrace_order *order, struct uftrace_directory *directory)
{
	int error = uftrace_tasks_write_tasks(order, directory);

	if (!error)
		error = write_info(order, directory);
	return error ? error : uftrace_tasks_write_events(order, directory);
}
