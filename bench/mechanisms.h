/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mechanisms that record events of the kernel, as several benches take them. No process reads what they write. */
#ifndef BURIN_BENCH_MECHANISMS_H
#define BURIN_BENCH_MECHANISMS_H

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "source/kernel/kernel_source.h"

/* mechanism_empty - a BPF program that does nothing. Return: a descriptor; -1. */
static inline int mechanism_empty(enum bpf_prog_type type)
{
	struct bpf_program code = { .count = 0 };

	bpf_put_set(&code, BPF_REG_0, 0);
	bpf_put_end(&code);
	return bpf_load(type, &code);
}

/* mechanism_burin - Burin's programs for one tracepoint and this process. Return: false: they are not permitted. */
static inline bool mechanism_burin(struct kernel_source *source, struct session *session, const char *glob)
{
	const char *const globs[] = { glob, NULL };
	char why[KERNEL_WHY];

	return kernel_source_open(source, session,
				  &(struct kernel_options){ .globs = globs, .buffer_bytes = 4 << 20 },
				  why) == 0 &&
	       kernel_follow_process(&source->follow, getpid()) == 0;
}

/* mechanism_burin_empty - give all records back. */
static inline void mechanism_burin_empty(struct kernel_source *source)
{
	for (unsigned n = 0; n < source->more.count; n++) {
		struct ring_look look;

		if (ring_look(&source->rings[n], &look) && !look.empty)
			ring_give_back(&source->rings[n], look.sequence);
	}
}

/*
 * mechanism_perf - open a perf event whose ring is overwritten.
 * @attr: its type and numbers; the rest is set here. @process, @cpu: as of perf_event_open(2)
 * @memory: receives the ring, @bytes with its first page
 * Return: a descriptor; -1.
 */
static inline int mechanism_perf(struct perf_event_attr *attr, pid_t process, int cpu, size_t bytes,
				 void **memory)
{
	int event;

	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_TID;
	attr->write_backward = 1;
	event = (int)syscall(SYS_perf_event_open, attr, process, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -1;
	*memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, event, 0);
	if (*memory != MAP_FAILED)
		return event;
	close(event);
	return -1;
}

#endif
