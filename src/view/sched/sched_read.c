/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records of the scheduler; see sched_read.h.
 *
 * A system call is made by the thread that runs, so its record makes the thread running, whatever state is known
 * (`sure`). Any other record by the current thread may be one of a switch that is under way, so it only counts if
 * nothing is known.
 *
 * The state of a leaving thread is that of the kernel, bits that are the same since 4.14. Only a thread with no bit,
 * or with that of a preemption, wants to run on. It dies by STATE_DEAD, and its id may be used again from then on.
 *
 * A sleep has a name: the call that the switch's record has, else the call that the thread has entered last, else
 * none. Without any, only the way of the sleep remains (stopped, idle, uninterruptible).
 */
#include "view/sched/sched_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Bits of sched_switch's prev_state, as every kernel since 4.14 has them. */
	STATE_UNINTERRUPTIBLE = 2,
	STATE_STOPPED = 4 | 8,
	STATE_DEAD = 16 | 32,
	STATE_PARKED_OR_IDLE = 64 | 128,
	STATE_PREEMPTED = 256,

	TEXT_BYTES = 160,
};

/* Name the sleep of a thread: by its call, and by its way. Return: a string of the view. */
static uint32_t name_sleep(struct kernel_view *view, uint32_t call, int64_t state)
{
	const char *way = state & STATE_STOPPED		  ? " (stopped)"
			  : state & STATE_PARKED_OR_IDLE  ? " (idle)"
			  : state & STATE_UNINTERRUPTIBLE ? " (uninterruptible)"
							  : "";
	char text[TEXT_BYTES];

	if (call && !*way)
		return call;
	snprintf(text, sizeof(text), "%.100s%s", call ? view->strings->texts[call] : "no system call", way);
	return view_string(view->strings, text);
}

/*
 * The name of the sleep is made here, where the record has the state and the call; sched_states.c only keeps the
 * number of the string.
 */
static int read_switch(struct sched *sched, struct kernel_view *view, const struct kernel_event *event,
		       const struct burin_record *record, uint64_t ns)
{
	struct kernel_switch out;
	struct sched_switch taken = { .cpu = record->cpu, .leave = SCHED_SLEEPS };
	size_t prev;

	if (!kernel_view_switch(view, event, record, &out))
		return 0;
	if (!out.state || out.state & STATE_PREEMPTED)
		taken.leave = SCHED_PREEMPTED;
	else if (out.state & STATE_DEAD)
		taken.leave = SCHED_DIES;
	taken.prev = out.prev;
	taken.next = out.next;
	if (taken.leave == SCHED_SLEEPS && out.prev) {
		prev = sched_find(sched, out.prev, ns);
		if (prev == SIZE_MAX)
			return -ENOMEM;
		taken.what = name_sleep(view, out.call ? out.call : sched->threads[prev].call, out.state);
	}
	return sched_take_switch(sched, ns, &taken);
}

static int read_call(struct sched *sched, struct kernel_view *view, const struct kernel_event *event,
		     const struct burin_record *record, uint64_t ns)
{
	const int error = sched_take_other(sched, ns, record->tid, true);
	const size_t thread = error ? SIZE_MAX : sched_find(sched, record->tid, ns);

	if (thread != SIZE_MAX)
		sched->threads[thread].call =
			event->kind == KERNEL_ENTER ? kernel_view_call(view, event, record) : 0;
	return error;
}

static int read_asleep(struct sched *sched, struct kernel_view *view, const struct kernel_event *event,
		       const struct burin_record *record, uint64_t ns)
{
	struct kernel_asleep out;

	if (!kernel_view_asleep(view, event, record, &out))
		return 0;
	return sched_take_asleep(sched, ns > out.ns ? ns - out.ns : 0, out.tid,
				 name_sleep(view, out.call, out.state),
				 *out.stack ? view_string(view->strings, out.stack) : 0);
}

/* Whether a packet can end a sleep of this name, as far as is known: another one is ended by a timer that comes during the delivery. */
static bool ends_by_packet(const char *sleep)
{
	static const char *const calls[] = { "recv",  "send", "accept", "connect", "poll",    "select",
					     "epoll", "read", "write",	"splice",  "io_uring" };

	for (unsigned n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		if (strstr(sleep, calls[n]) && !strchr(sleep, '('))
			return true;
	return !*sleep;
}

static int read_wake(struct sched *sched, const struct kernel_view *view, const struct kernel_event *event,
		     const struct burin_record *record, uint64_t ns)
{
	enum kernel_wake wake = kernel_view_wake(event, record);
	uint32_t tid;
	size_t woken;

	if (!kernel_view_thread(event, record, &tid))
		return 0;
	if (wake == KERNEL_WAKE_PACKET) {
		woken = sched_find(sched, tid, ns);
		if (woken == SIZE_MAX)
			return -ENOMEM;
		if (sched->threads[woken].state == SCHED_BLOCKED &&
		    !ends_by_packet(view->strings->texts[sched->threads[woken].what]))
			wake = KERNEL_WAKE_INTERRUPT;
	}
	return sched_take_wake(sched, ns, tid, record->tid, wake == KERNEL_WAKE_INTERRUPT);
}

/*
 * Parse "13 20-25", a text of the trace. Each range takes at least a byte of it, so an array of as many ranges as
 * bytes is enough. Return: behind it; NULL: it is no range.
 */
static const char *parse_range(const char *text, struct sched_range *range)
{
	char *end;

	range->first = range->last = (uint32_t)strtoul(text, &end, 10);
	if (end == text)
		return NULL;
	if (*end == '-')
		range->last = (uint32_t)strtoul(end + 1, &end, 10);
	return end;
}

static int read_recorded(struct sched *sched, const struct burin_trace *trace)
{
	const char *tasks = burin_trace_recording(trace, "kernel_tasks"),
		   *text = burin_trace_recording(trace, "kernel_threads");

	sched->all = tasks && strcmp(tasks, "all") == 0;
	if (!text)
		return 0;
	sched->living = calloc(strlen(text) + 1, sizeof(*sched->living));
	if (!sched->living)
		return -ENOMEM;
	while (text && *text) {
		text = parse_range(text, &sched->living[sched->living_count]);
		sched->living_count += text != NULL;
	}
	return 0;
}

int sched_read_begin(struct sched *sched, struct kernel_view *view, const struct burin_trace *trace,
		     struct view_strings *strings)
{
	int result = kernel_view_make(view, trace, strings) ?: read_recorded(sched, trace);

	sched->unseen = view_string(strings, "a missing switch");
	return result ? result : view->has[KERNEL_SWITCH] ? 0 : -ENODATA;
}

int sched_read_record(struct sched *sched, struct kernel_view *view, const struct burin_record *record,
		      uint64_t ns)
{
	const struct kernel_event *event = kernel_view_event(view, record);
	uint32_t tid;

	switch (event->kind) {
	case KERNEL_SWITCH:
		return read_switch(sched, view, event, record, ns);
	case KERNEL_WAKING:
		return read_wake(sched, view, event, record, ns);
	case KERNEL_NEWTASK:
		return kernel_view_thread(event, record, &tid) ? sched_take_fork(sched, ns, record->tid, tid)
							       : 0;
	case KERNEL_ASLEEP:
		return read_asleep(sched, view, event, record, ns);
	case KERNEL_EXIT:
		return sched_take_exit(sched, ns, record->tid);
	case KERNEL_ENTER:
	case KERNEL_LEAVE:
		return read_call(sched, view, event, record, ns);
	case KERNEL_LATE:
	case KERNEL_OTHER:
		return sched_take_other(sched, ns, record->tid, false);
	default:
		return 0;
	}
}

void sched_missing_text(const struct sched_missing *missing, struct view_buffer *out)
{
	char count[TEXT_SHORT];

	if (missing->switches)
		view_buffer_print(out, "%s switch%s missing: the kernel does not trace every task\n",
				  text_count(count, missing->switches),
				  missing->switches == 1 ? " is" : "es are");
	if (missing->wakes)
		view_buffer_print(out, "%s wait%s ended without a wake-up in the trace\n",
				  text_count(count, missing->wakes), text_plural(missing->wakes));
}

void sched_missing_json(const struct sched_missing *missing, struct json *json)
{
	json_object(json, "missing");
	json_u64(json, "switches", missing->switches);
	json_u64(json, "wakeups", missing->wakes);
	json_end(json);
}
