/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The settings of the kernel's events; see perf_attr.h. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/perf/rings/perf_attr.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

int perf_attr_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Settings of all events. */
static void fill_common(const struct perf *perf, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->inherit = !perf->options.system && !perf->options.thread;
	attr->disabled = perf->options.command && !perf->options.system;
	attr->enable_on_exec = attr->disabled;
	attr->use_clockid = !perf->time.by_page;
	if (attr->use_clockid)
		attr->clockid = 1; /* CLOCK_MONOTONIC */
}

/* The contents of samples. */
static void fill_contents(const struct perf *perf, struct perf_event_attr *attr, unsigned stack_bytes)
{
	attr->sample_type = perf->sample_type;
	attr->exclude_callchain_user = perf->options.graph == PERF_GRAPH_DWARF;
	attr->read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0;
	if (perf->options.graph & PERF_GRAPH_DWARF) {
		attr->sample_regs_user = perf->registers;
		attr->sample_stack_user = stack_bytes;
	}
}

static void fill_samples(const struct perf *perf, struct perf_event_attr *attr)
{
	const struct perf_choice *event = &perf->event;

	attr->type = event->type;
	attr->config = event->config;
	fill_contents(perf, attr, perf->stack_bytes);
	attr->disabled = 1; /* until the existing tasks are known */
	attr->sample_period = perf_weight(perf);
	if (event->counting) {
		attr->freq = 1;
		attr->sample_freq = perf->options.frequency;
	}
	attr->exclude_kernel = attr->exclude_hv = !perf->kernel;
	attr->exclude_idle = 1;
}

/* Each switch, or each wake-up. @tracepoint: 0: there is none for it */
static void fill_stops(const struct perf *perf, struct perf_event_attr *attr, uint64_t tracepoint)
{
	const unsigned chosen = perf->options.stack_bytes ? perf->options.stack_bytes : PERF_STACK_BYTES;

	attr->type = tracepoint ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
	attr->config = tracepoint ? tracepoint : PERF_COUNT_SW_CONTEXT_SWITCHES;
	fill_contents(perf, attr, chosen / 16 * 8); /* half as much, since there may be many */
	attr->sample_period = 1;
}

/* An event that never occurs; only its side-band records are of use. */
static void fill_dummy(struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_period = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
}

/* With a tree, the side band also counts the tasks' processor time: the sampling events count that of the CPU. */
static void fill_side(const struct perf *perf, struct perf_event_attr *attr)
{
	fill_dummy(attr);
	if (perf_counts_by_side_band(perf)) {
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
		attr->sample_period = attr->exclude_kernel = attr->exclude_hv = 0;
		attr->read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0;
	}
	if (perf->options.thread) /* its process' other threads map files, too */
		attr->inherit = 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->build_id = perf->build_ids;
	attr->ksymbol = perf->kernel && perf->options.system;
}

void perf_attr_fill(const struct perf *perf, enum perf_feed feed, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){ 0 };
	fill_common(perf, attr);
	switch (feed) {
	case PERF_SAMPLES:
		fill_samples(perf, attr);
		break;
	case PERF_SWITCHES:
		fill_dummy(attr);
		attr->context_switch = 1;
		attr->read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0;
		break;
	case PERF_STOPS:
		fill_stops(perf, attr, perf->stops);
		break;
	case PERF_WAKES:
		fill_stops(perf, attr, perf->wakes);
		attr->sample_type = perf_sample_type(perf, feed);
		break;
	default:
		fill_side(perf, attr);
	}
}

void perf_attr_tree(const struct perf *perf, struct perf_event_attr *attr)
{
	perf_attr_fill(perf, PERF_SAMPLES, attr);
	attr->inherit = attr->enable_on_exec = 0;
	if (perf->event.clock) /* the clock of a task stands still there */
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
}

void perf_attr_carrier(const struct perf *perf, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){ 0 };
	fill_common(perf, attr);
	fill_dummy(attr);
	attr->disabled = 1;
	attr->inherit = attr->enable_on_exec = 0;
}
