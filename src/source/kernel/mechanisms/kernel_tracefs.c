/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Kernel events by tracefs; see kernel_tracefs.h.
 *
 * Pages go from the kernel's buffer of a CPU into memory (read_page()), and their records into a ring of the CPU
 * (append_pages()), where the drain finds them as those of a program. If the ring has no room, the record is `held`:
 * it stays first in its page until the drain has given packets back. So nothing is lost between the two, and the
 * kernel's buffer takes later records, and counts those that it cannot take.
 *
 * A command is known by its id before it executes its program. Records from before the exec are not its own. The
 * exec's record may lie on another CPU than records behind it, so pages of all CPUs wait until it is found; HELD_MAX
 * bounds that. Only then exec_ns divides the records.
 *
 * The recorder's own reading makes records, if it is recorded: read_cpu() ends a round at a page that is not full,
 * else it would not end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "session/clock.h"
#include "source/kernel/mechanisms/kernel_tracefs.h"
#include "source/kernel/points/tracefs.h"
#include "source/kernel/mechanisms/tracefs_instance.h"

enum {
	BUFFER_MIN = 64 << 10,
	HELD_MAX = 512, /* pages of a CPU that wait for the command's exec */
	TASK_PLACE = 4, /* of the current task, in each record */
};

/* ---- opening */

/* The largest buffer up to a size for which there is memory. */
static int size_buffer(int instance, uint64_t bytes)
{
	char text[TRACEPOINT_NAME];
	int error = -ENOMEM;

	for (; error == -ENOMEM && bytes >= BUFFER_MIN; bytes /= 2) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes >> 10);
		error = tracefs_instance_write(instance, "buffer_size_kb", text);
	}
	return error;
}

static int open_cpu(const struct kernel_tracefs *tracefs, unsigned n)
{
	struct kernel_tracefs_cpu *cpu = &tracefs->of[n];
	char path[TRACEPOINT_NAME];

	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", n);
	cpu->file = openat(tracefs->instance, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (cpu->file < 0)
		return errno == ENOENT ? 0 : -errno;
	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", n);
	cpu->stats = openat(tracefs->instance, path, O_RDONLY | O_CLOEXEC);
	return cpu->stats < 0 ? -errno : 0;
}

static int take_exec(void *context, const struct tracepoint *point)
{
	struct kernel_tracefs *tracefs = context;

	tracefs->exec = point->id;
	return kernel_tracefs_enable(tracefs, point);
}

/* The newest records are lost if there is no room, as in a ring; the kernel counts them. */
static int set_up(struct kernel_tracefs *tracefs, uint64_t buffer_bytes)
{
	static const char *const texts[][2] = {
		{ "tracing_on", "0" },
		{ "trace_clock", "mono" },
		{ "options/overwrite", "0" },
		{ "options/event-fork", "1" },
	};
	static const char *const names[] = { "sched:sched_process_exec", NULL };
	int error = 0;

	for (unsigned n = 0; n < sizeof(texts) / sizeof(texts[0]) && !error; n++)
		error = tracefs_instance_write(tracefs->instance, texts[n][0], texts[n][1]);
	if (!error)
		error = size_buffer(tracefs->instance, buffer_bytes < BUFFER_MIN ? BUFFER_MIN : buffer_bytes);
	for (unsigned n = 0; n < tracefs->cpus && !error; n++)
		error = open_cpu(tracefs, n);
	return error ? error : tracefs_each(tracefs->events, names, take_exec, tracefs);
}

int kernel_tracefs_open(struct kernel_tracefs *tracefs, int events, const struct kernel_points *points,
			const struct kernel_layout *layout, char *rings, unsigned cpus, uint64_t buffer_bytes)
{
	tracefs->instance = tracefs->tasks = -1;
	tracefs->page_bytes = (unsigned)sysconf(_SC_PAGESIZE);
	tracefs->of = calloc(cpus, sizeof(*tracefs->of));
	tracefs->events = fcntl(events, F_DUPFD_CLOEXEC, 0);
	if (!tracefs->of || tracefs->events < 0)
		return -ENOMEM;
	tracefs->cpus = cpus;
	for (unsigned n = 0; n < cpus; n++)
		tracefs->of[n].file = tracefs->of[n].stats = -1;
	if (kernel_sink_open(&tracefs->sink, points, layout, rings) != 0)
		return -ENOMEM;
	tracefs->instance = tracefs_instance_make(tracefs->events);
	return tracefs->instance < 0 ? tracefs->instance : set_up(tracefs, buffer_bytes);
}

int kernel_tracefs_enable(const struct kernel_tracefs *tracefs, const struct tracepoint *point)
{
	char path[TRACEPOINT_NAME + TRACEPOINT_LABEL + 16];

	snprintf(path, sizeof(path), "events/%s/%s/enable", point->system, point->name);
	return tracefs_instance_write(tracefs->instance, path, "1");
}

int kernel_tracefs_follow(struct kernel_tracefs *tracefs, pid_t task, bool waits)
{
	char text[16];

	if (task >= 0) {
		snprintf(text, sizeof(text), "%d", task);
		if (tracefs->tasks < 0) /* without O_TRUNC, which would remove the others */
			tracefs->tasks = openat(tracefs->instance, "set_event_pid", O_WRONLY | O_CLOEXEC);
		if (tracefs->tasks < 0 || write(tracefs->tasks, text, strlen(text)) < 0)
			return -errno;
	}
	tracefs->others |= !waits;
	if (waits) {
		tracefs->command = task;
		tracefs->waits = true;
	}
	return tracefs_instance_write(tracefs->instance, "tracing_on", "1");
}

/* ---- reading */

/* Read a page. Return: false: there is none. */
static bool read_page(const struct kernel_tracefs *tracefs, struct kernel_tracefs_cpu *cpu)
{
	const size_t bytes = tracefs->page_bytes, used = cpu->count * bytes;

	if (cpu->file < 0 || !array_reserve(cpu->pages, cpu->room, used + bytes))
		return false;
	memset(cpu->pages + used, 0, bytes);
	if (read(cpu->file, cpu->pages + used, bytes) <= 0)
		return false;
	cpu->count++;
	return true;
}

static uint32_t kernel_tracefs_task_of(const struct tracefs_record *record)
{
	return record->bytes < TASK_PLACE + sizeof(uint32_t) ? 0 : number_load32(record->raw + TASK_PLACE);
}

/* Append a record, but none before the command's exec, except for those that name tasks. Return: false: there is no room. */
static bool kernel_tracefs_take_record(const struct kernel_tracefs *tracefs, unsigned cpu,
				       const struct tracefs_record *record)
{
	const size_t number = kernel_sink_point(&tracefs->sink, record->raw, record->bytes);
	const uint32_t tid = kernel_tracefs_task_of(record);

	if (!number)
		return true;
	if (record->time < tracefs->exec_ns && (tid == (uint32_t)tracefs->command || !tracefs->others) &&
	    strcmp(tracefs->sink.points->points[number - 1].system, "task") != 0)
		return true;
	return kernel_sink_put(&tracefs->sink, number,
			       &(struct kernel_sink_record){ .cpu = cpu,
							     .tid = tid,
							     .ns = record->time,
							     .raw = record->raw,
							     .bytes = record->bytes });
}

/* Append the pages that were read. Return: false: there is no room. */
static bool append_pages(struct kernel_tracefs *tracefs, unsigned n, bool last)
{
	struct kernel_tracefs_cpu *cpu = &tracefs->of[n];

	for (; cpu->next < cpu->count; cpu->next++) {
		if (!cpu->begun)
			tracefs_page_begin(&cpu->page, cpu->pages + cpu->next * tracefs->page_bytes,
					   tracefs->page_bytes);
		cpu->begun = true;
		while (cpu->held || tracefs_page_next(&cpu->page, &cpu->record)) {
			cpu->held = !kernel_tracefs_take_record(tracefs, n, &cpu->record);
			if (cpu->held && !last)
				return false;
			if (cpu->held)
				kernel_sink_lost(&tracefs->sink, n, 1);
			cpu->held = false;
		}
		cpu->begun = false;
	}
	cpu->count = cpu->next = 0;
	return true;
}

/* Look for the command's exec in a page. */
static void look_for_exec(struct kernel_tracefs *tracefs, const char *bytes)
{
	struct tracefs_page page;
	struct tracefs_record record;

	if (!tracefs_page_begin(&page, bytes, tracefs->page_bytes))
		return;
	while (tracefs->waits && tracefs_page_next(&page, &record))
		if (record.bytes >= sizeof(uint16_t) && number_load16(record.raw) == tracefs->exec &&
		    kernel_tracefs_task_of(&record) == (uint32_t)tracefs->command) {
			tracefs->exec_ns = record.time;
			tracefs->waits = false;
		}
}

/*
 * Until the exec is seen, pages wait: the command may have gone on to another CPU, whose buffer is read before. Without it all
 * that the command did until now is left out.
 */
static void wait_for_exec(struct kernel_tracefs *tracefs, bool last)
{
	size_t most = 0;

	for (unsigned n = 0; n < tracefs->cpus; n++) {
		struct kernel_tracefs_cpu *cpu = &tracefs->of[n];

		while (tracefs->waits && cpu->count < HELD_MAX && read_page(tracefs, cpu))
			look_for_exec(tracefs, cpu->pages + (cpu->count - 1) * tracefs->page_bytes);
		most = cpu->count > most ? cpu->count : most;
	}
	if (tracefs->waits && (last || most >= HELD_MAX)) {
		tracefs->exec_ns = clock_ns(CLOCK_MONOTONIC);
		tracefs->waits = false;
	}
}

/* Of a file `stats`: all records that were lost. */
static uint64_t read_lost(int stats)
{
	static const char *const causes[] = { "\noverrun: ", "\ncommit overrun: ", "\ndropped events: " };
	char text[512];
	const ssize_t got = pread(stats, text, sizeof(text) - 1, 0);
	uint64_t lost = 0;

	text[got < 0 ? 0 : got] = 0;
	for (unsigned n = 0; n < sizeof(causes) / sizeof(causes[0]); n++) {
		const char *at = strstr(text, causes[n]);

		lost += at ? strtoull(at + strlen(causes[n]), NULL, 10) : 0;
	}
	return lost;
}

static void count_lost(const struct kernel_tracefs *tracefs, unsigned n)
{
	struct kernel_tracefs_cpu *cpu = &tracefs->of[n];
	const uint64_t lost = cpu->stats < 0 ? 0 : read_lost(cpu->stats);

	if (lost > cpu->lost) {
		kernel_sink_lost(&tracefs->sink, n, lost - cpu->lost);
		cpu->lost = lost;
	}
}

/* A page that is not full is a round's last one: reading may make records, and there would always be one more. */
static void read_cpu(struct kernel_tracefs *tracefs, unsigned n, bool last)
{
	struct kernel_tracefs_cpu *cpu = &tracefs->of[n];
	bool more = true;

	while (append_pages(tracefs, n, last) && more && read_page(tracefs, cpu))
		more = last || tracefs_page_is_full(cpu->pages, tracefs->page_bytes);
}

void kernel_tracefs_read(struct kernel_tracefs *tracefs, bool last)
{
	if (tracefs->waits)
		wait_for_exec(tracefs, last);
	for (unsigned n = 0; n < tracefs->cpus; n++) {
		count_lost(tracefs, n);
		if (!tracefs->waits)
			read_cpu(tracefs, n, last);
	}
}

void kernel_tracefs_stop(struct kernel_tracefs *tracefs)
{
	tracefs_instance_write(tracefs->instance, "tracing_on", "0");
}

void kernel_tracefs_close(struct kernel_tracefs *tracefs)
{
	for (unsigned n = 0; n < tracefs->cpus; n++) {
		if (tracefs->of[n].file >= 0)
			close(tracefs->of[n].file);
		if (tracefs->of[n].stats >= 0)
			close(tracefs->of[n].stats);
		free(tracefs->of[n].pages);
	}
	if (tracefs->tasks >= 0)
		close(tracefs->tasks);
	if (tracefs->instance >= 0) {
		close(tracefs->instance);
		tracefs_instance_remove(tracefs->events);
	}
	if (tracefs->events >= 0)
		close(tracefs->events);
	kernel_sink_close(&tracefs->sink);
	free(tracefs->of);
	*tracefs = (struct kernel_tracefs){ .events = -1, .instance = -1, .tasks = -1 };
}
