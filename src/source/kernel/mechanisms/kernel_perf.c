/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Kernel events by perf events; see kernel_perf.h.
 *
 * Each tracepoint has an event for each task and CPU: the kernel lets an event that children inherit write to a
 * buffer only if it is bound to a CPU. All events of a CPU write to the buffer of a dummy event of this CPU.
 *
 * System calls have two events for all, with a filter of the kernel by their numbers. If the filter would be too
 * long, all calls come, and by_call[] chooses. Calls of a process of 32 bits have the same numbers for other calls.
 * The kind of its registers, which the kernel adds behind the raw record, shows them.
 *
 * A record that finds no room in the ring stays in the kernel's buffer: data_tail moves up to it only. LOST records
 * state losses when there is room again; count_rest() adds those of the end, as the events count them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "source/kernel/mechanisms/kernel_perf.h"
#include "source/kernel/points/tracefs.h"

enum {
	PAGE = 4096,
	BUFFER_MIN = 4 * PAGE,
	BUFFER_MAX = 8 << 20,
	RECORD_MAX = 1 << 16, /* bytes of a perf record */
	SAMPLE_SIZE = 16,     /* in a sample, behind pid, tid and time: the size of the raw record ... */
	SAMPLE_RAW = 20,      /* ... and that record */
	NUMBER_PLACE = 8,     /* of a system call, in the record of raw_syscalls */
};

/* ---- opening */

#ifndef PERF_FORMAT_LOST /* of Linux 6.0 */
#define PERF_FORMAT_LOST (1U << 4)
#endif

static int kernel_perf_open_event(struct perf_event_attr *attr, pid_t task, unsigned cpu)
{
	const int event = (int)syscall(SYS_perf_event_open, attr, task, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return event < 0 ? -errno : event;
}

/* The largest buffer up to a size that the limit of locked memory permits. */
static int make_buffer(struct kernel_perf *perf, struct kernel_perf_buffer *buffer, unsigned cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0,
					.use_clockid = 1,
					.clockid = CLOCK_MONOTONIC };
	void *memory = MAP_FAILED;

	buffer->event = kernel_perf_open_event(&attr, -1, cpu);
	if (buffer->event == -EINVAL && perf->counts_lost) { /* an older kernel */
		perf->counts_lost = false;
		return make_buffer(perf, buffer, cpu);
	}
	if (buffer->event < 0)
		return buffer->event == -ENODEV ? 0 : buffer->event; /* the CPU is off */
	for (uint32_t bytes = perf->buffer_bytes; memory == MAP_FAILED && bytes >= BUFFER_MIN; bytes /= 2) {
		memory = mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->event, 0);
		buffer->bytes = bytes;
	}
	if (memory == MAP_FAILED)
		return -errno;
	buffer->control = memory;
	return 0;
}

/* The tracepoints of all system calls. */
static int take_calls(void *context, const struct tracepoint *point)
{
	struct kernel_perf *perf = context;

	perf->calls[strcmp(point->name, "sys_exit") == 0] = *point;
	return 0;
}

static int choose_calls(struct kernel_perf *perf, int events)
{
	static const char *const names[] = { "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", NULL };
	bool any[2] = { false, false }, enters;
	int error = tracefs_each(events, names, take_calls, perf);

	for (size_t n = 0; n < perf->sink.points->count; n++) {
		const int number = kernel_points_call(&perf->sink.points->points[n], &enters);
		const size_t room = sizeof(perf->calls_filter[0]);
		char *filter;
		size_t used;

		if (number < 0)
			continue;
		filter = perf->calls_filter[!enters];
		used = strlen(filter);
		perf->by_call[!enters][number] = (uint16_t)(n + 1);
		if (any[!enters] && !used)
			continue; /* too many */
		snprintf(filter + used, room - used, "%sid == %d", used ? " || " : "", number);
		if (strlen(filter) + 16 > room)
			filter[0] = 0;
		any[!enters] = true;
	}
	for (int exits = 0; exits < 2; exits++) {
		if (any[exits] && !perf->calls[exits].id)
			return -ENODEV;
		if (!any[exits])
			perf->calls[exits].id = 0;
	}
	return error;
}

int kernel_perf_open(struct kernel_perf *perf, int events, const struct kernel_points *points,
		     const struct kernel_layout *layout, char *rings, unsigned cpus, uint64_t buffer_bytes)
{
	int error;

	perf->counts_lost = true;
	for (perf->buffer_bytes = BUFFER_MIN;
	     perf->buffer_bytes < BUFFER_MAX && perf->buffer_bytes * 2ull <= buffer_bytes;)
		perf->buffer_bytes *= 2;
	perf->buffers = calloc(cpus, sizeof(*perf->buffers));
	perf->copy = malloc(RECORD_MAX);
	if (!perf->buffers || !perf->copy || kernel_sink_open(&perf->sink, points, layout, rings) != 0)
		return -ENOMEM;
	perf->cpus = cpus;
	for (unsigned n = 0; n < cpus; n++)
		perf->buffers[n].event = -1;
	error = choose_calls(perf, events);
	for (unsigned n = 0; n < cpus && !error; n++)
		error = make_buffer(perf, &perf->buffers[n], n);
	return error;
}

/* Record a tracepoint of a task on each CPU. */
static int follow_point(struct kernel_perf *perf, unsigned id, const char *filter, pid_t task, bool waits)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.disabled = 1,
		.enable_on_exec = waits,
		.inherit = task != -1,
		.read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0,
	};

	for (unsigned n = 0; n < perf->cpus; n++) {
		int event;

		if (!perf->buffers[n].control)
			continue;
		event = kernel_perf_open_event(&attr, task, n);
		if (event < 0)
			return event;
		if (!array_reserve(perf->events, perf->room, perf->count + 1)) {
			close(event);
			return -ENOMEM;
		}
		perf->events[perf->count++] = event;
		if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, perf->buffers[n].event) != 0 ||
		    (*filter && ioctl(event, PERF_EVENT_IOC_SET_FILTER, filter) != 0) ||
		    (!waits && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0))
			return -errno;
	}
	return 0;
}

int kernel_perf_follow(struct kernel_perf *perf, pid_t task, bool waits)
{
	int error = 0;
	bool enters;

	for (size_t n = 0; n < perf->sink.points->count && !error; n++) {
		const struct tracepoint *point = &perf->sink.points->points[n];

		/* The exec of a command gives it its name before it begins to be recorded. */
		if (!tracepoint_syscall(point, &enters))
			error = follow_point(perf, point->id, "", task,
					     waits && strcmp(point->system, "task") != 0);
	}
	for (int exits = 0; exits < 2 && !error; exits++)
		if (perf->calls[exits].id)
			error = follow_point(perf, perf->calls[exits].id, perf->calls_filter[exits], task,
					     waits);
	return error;
}

/* ---- reading */

/* The point of a record, whose first two bytes are the tracepoint's number. 0: it is not recorded. */
static size_t point_of(const struct kernel_perf *perf, const char *raw, unsigned bytes)
{
	const unsigned type = bytes >= NUMBER_PLACE + 8 ? number_load16(raw) : 0;

	for (int exits = 0; exits < 2 && type; exits++)
		if (type == perf->calls[exits].id) {
			const uint64_t number = number_load64(raw + NUMBER_PLACE);

			return number < KERNEL_CALLS ? perf->by_call[exits][number] : 0;
		}
	return kernel_sink_point(&perf->sink, raw, bytes);
}

/* Append what a sample has. Return: false: there is no room. */
static bool kernel_perf_take_sample(const struct kernel_perf *perf, unsigned cpu, const char *sample,
				    unsigned bytes)
{
	const unsigned raw_bytes = bytes > SAMPLE_RAW ? number_load32(sample + SAMPLE_SIZE) : 0;
	const char *raw = sample + SAMPLE_RAW;
	size_t number;
	bool enters;

	if (!raw_bytes || raw_bytes > bytes - SAMPLE_RAW)
		return true;
	number = point_of(perf, raw, raw_bytes);
	if (!number)
		return true;
	/* Calls of a process of 32 bits have other numbers. Behind the raw record is the kind of its registers. */
	if (tracepoint_syscall(&perf->sink.points->points[number - 1], &enters) &&
	    bytes - SAMPLE_RAW - raw_bytes >= 8 && number_load64(raw + raw_bytes) == PERF_SAMPLE_REGS_ABI_32)
		return true;
	return kernel_sink_put(&perf->sink, number,
			       &(struct kernel_sink_record){ .cpu = cpu,
							     .pid = number_load32(sample),
							     .tid = number_load32(sample + 4),
							     .ns = number_load64(sample + 8),
							     .raw = raw,
							     .bytes = raw_bytes });
}

/* A record of the buffer in one piece. */
static const char *record_at(const struct kernel_perf *perf, const struct kernel_perf_buffer *buffer,
			     uint64_t at, unsigned bytes)
{
	const char *data = (const char *)buffer->control + PAGE;
	const uint64_t from = at & (buffer->bytes - 1), first = buffer->bytes - from;

	if (first >= bytes)
		return data + from;
	memcpy(perf->copy, data + from, first);
	memcpy(perf->copy + first, data, bytes - first);
	return perf->copy;
}

static void read_buffer(struct kernel_perf *perf, unsigned cpu, bool last)
{
	const struct kernel_perf_buffer *buffer = &perf->buffers[cpu];
	struct perf_event_mmap_page *control = buffer->control;
	const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = control->data_tail;

	while (head - at >= sizeof(struct perf_event_header)) {
		const char *record = record_at(perf, buffer, at, sizeof(struct perf_event_header));
		const uint32_t type = number_load32(record), bytes = number_load16(record + 6);

		if (bytes < sizeof(struct perf_event_header) || bytes > head - at)
			break;
		record = record_at(perf, buffer, at, bytes) + sizeof(struct perf_event_header);
		if (type == PERF_RECORD_SAMPLE &&
		    !kernel_perf_take_sample(perf, cpu, record, bytes - sizeof(struct perf_event_header))) {
			if (!last)
				break;
			kernel_sink_lost(&perf->sink, cpu, 1);
		}
		if (type == PERF_RECORD_LOST && bytes >= sizeof(struct perf_event_header) + 16) {
			perf->stated += number_load64(record + 8);
			kernel_sink_lost(&perf->sink, cpu, number_load64(record + 8));
		}
		at += bytes;
	}
	__atomic_store_n(&control->data_tail, at, __ATOMIC_RELEASE);
}

/* A buffer states its losses when it has room again. Those behind its last record have only been counted, by the events. */
static void count_rest(struct kernel_perf *perf)
{
	uint64_t lost = 0, values[2];

	for (size_t n = 0; n < perf->count && perf->counts_lost; n++)
		if (read(perf->events[n], values, sizeof(values)) == sizeof(values))
			lost += values[1];
	if (lost > perf->stated)
		kernel_sink_lost(&perf->sink, 0, lost - perf->stated);
}

void kernel_perf_read(struct kernel_perf *perf, bool last)
{
	for (unsigned n = 0; n < perf->cpus; n++)
		if (perf->buffers[n].control)
			read_buffer(perf, n, last);
	if (last)
		count_rest(perf);
}

void kernel_perf_stop(struct kernel_perf *perf)
{
	for (size_t n = 0; n < perf->count; n++)
		ioctl(perf->events[n], PERF_EVENT_IOC_DISABLE, 0);
}

void kernel_perf_close(struct kernel_perf *perf)
{
	for (unsigned n = 0; n < perf->cpus; n++) {
		if (perf->buffers[n].control)
			munmap(perf->buffers[n].control, PAGE + perf->buffers[n].bytes);
		if (perf->buffers[n].event >= 0)
			close(perf->buffers[n].event);
	}
	free(perf->buffers);
	free(perf->events);
	free(perf->copy);
	kernel_sink_close(&perf->sink);
	*perf = (struct kernel_perf){ .cpus = 0 };
}
