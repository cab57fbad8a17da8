/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's sampler: perf events, and their rings.
 *
 * Each CPU has a ring for each feed, so that an overflow of one loses nothing of another: a flood of samples no mappings,
 * stacks of threads that stop, which are large, not the moments at which they do. Whatever the kernel does not know or
 * permit is left out, step by step, and told: an older kernel gives no build ids, an unprivileged user does not see the
 * kernel's side, and so no thread that stops in it.
 */
#ifndef BURIN_SOURCE_SAMPLE_PERF_H
#define BURIN_SOURCE_SAMPLE_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#include "source/sample/rounds.h"

enum perf_graph {
	PERF_GRAPH_NONE,
	PERF_GRAPH_FP = 1,    /* the chain of frame pointers */
	PERF_GRAPH_DWARF = 2, /* registers and a copy of the stack */
	PERF_GRAPH_BOTH = PERF_GRAPH_FP | PERF_GRAPH_DWARF,
	PERF_GRAPHS
};

extern const char *const perf_graph_names[PERF_GRAPHS]; /* as options and `.burin/profile` have them */

enum {
	PERF_STACK_BYTES = 32 << 10,	 /* of the copy of a stack, if nothing is said */
	PERF_STACK_MAX = (64 << 10) - 8, /* the kernel counts it in 16 bits, and in words of 8 */
};

/* What the kernel tells. */
enum perf_feed {
	PERF_SIDE, /* of tasks and mappings: the side band */
	PERF_SAMPLES,
	PERF_SWITCHES, /* when threads stop, and when they go on */
	PERF_STOPS,    /* where they stop: a sample of each switch to another thread */
	PERF_FEEDS
};

/* What is sampled. */
struct perf_choice {
	char name[128]; /* of the event in the trace: sample.NAME */
	uint32_t type;
	uint64_t config;
	bool clock; /* its period is a time: each sample stands for as many ns */
	bool counting; /* each n-th occurrence, n by the kernel so that the frequency comes out; else every one */
};

struct perf_options {
	const char *event;  /* "cpu-clock", "cycles", "page-faults", ..., or a tracepoint "system:name" */
	unsigned frequency; /* Hz */
	enum perf_graph graph;
	unsigned stack_bytes; /* of the copy of each stack, at most; a multiple of 8 */
	size_t buffer_bytes; /* of each CPU's ring of samples; a power of two; 0: what is usual for ->graph */
	bool is_tsc;	     /* the clock that times are wanted in */
	uint64_t clock_hz;   /* its rate */
	bool system;	     /* all tasks of all CPUs */
	pid_t command;	     /* a child that has not executed its program yet; 0: none */
	pid_t process;	     /* all threads of a process that runs; 0: none */
	pid_t thread;	     /* that one only of ->process; 0: all */
	bool off_cpu;	     /* switches and stops, too */
};

struct perf_ring {
	int fd; /* -1: no such CPU now */
	struct perf_event_mmap_page *page;
	size_t bytes; /* of data; a power of two */
	unsigned cpu;
	enum perf_feed feed;
	uint64_t lost;	 /* by LOST records */
	uint64_t latest; /* time of the last record read */
};

/* One of the kernel's events; several may write into one ring. */
struct perf_source {
	int fd;
	unsigned cpu;
	enum perf_feed feed;
};

struct perf {
	struct perf_choice event;
	uint64_t sample_type, registers; /* what its samples consist of */
	unsigned cpus;
	struct perf_ring *rings[PERF_FEEDS]; /* of each CPU */
	struct perf_source *sources;
	int wake; /* readable when a ring is half full; perf_woken() ends that */
	unsigned source_count, source_room;
	bool kernel;	    /* the kernel's side is seen */
	bool off_cpu;	    /* there are switches and stops */
	bool build_ids;	    /* mappings come with them */
	bool counts_lost;   /* PERF_FORMAT_LOST */
	unsigned shrink;    /* rings are 2^shrink times smaller than they should be */
	unsigned max_depth; /* frames that the kernel gives */
	struct perf_options options;
	struct perf_time {
		bool by_page; /* times are converted as the kernel does, by `zero`, `mult`, `shift` */
		uint64_t zero;
		uint32_t mult;
		uint16_t shift;
		uint64_t ticks, ns; /* otherwise CLOCK_MONOTONIC, at one moment */
	} time;
};

/*
 * perf_open - open everything. What tells of tasks and mappings begins at once, the command's with its exec.
 * @why: if it fails, what was not permitted, or is not there
 * Return: 0; -EINVAL: no such event; -errno.
 */
int perf_open(struct perf *perf, const struct perf_options *options, char *why, size_t bytes);

/* perf_weight - what each sample stands for, in the event's unit; 0: that differs, and each tells. */
static inline uint64_t perf_weight(const struct perf *perf)
{
	return perf->event.clock ? 1000000000 / perf->options.frequency : !perf->event.counting;
}

/* perf_make_rings - rings of all CPUs that are behind no event; for who fills them in. Return: 0 or -ENOMEM; then perf_close(). */
int perf_make_rings(struct perf *perf);

/* perf_tell_time - look at the clocks again, if they have to be compared. Each round. */
void perf_tell_time(struct perf *perf);

/* perf_ticks - a record's time in ticks of the trace's clock. */
uint64_t perf_ticks(const struct perf *perf, uint64_t time);

/* perf_ahead - how far the records' clock is ahead of CLOCK_MONOTONIC now, in ns. */
int64_t perf_ahead(const struct perf *perf);

/* perf_woken - what has made ->wake readable is known. */
void perf_woken(struct perf *perf);

/*
 * perf_ring_take - take what is new in a ring, packed (record_pack()), and give it back to the kernel.
 * @rounds: where the chunk will be of use
 * @bytes: how many
 * @fill: how full it was, in percent; 0: so little that ->wake will tell in time when it is to be read again
 * Return: a chunk, used once; NULL: there is nothing, or no memory.
 */
struct rounds_chunk *perf_ring_take(const struct perf *perf, struct perf_ring *ring, struct rounds *rounds,
				    size_t *bytes, unsigned *fill);

/* perf_now - the present as records have it. */
uint64_t perf_now(const struct perf *perf);

/* perf_start - samples from now on; of a command, from its exec on, whenever this is called. */
void perf_start(struct perf *perf);

/* perf_stop - nothing more but of the side band. */
void perf_stop(struct perf *perf);

/*
 * perf_lost - what the kernel has lost so far of a CPU's feed, samples or switches; it may know more than it has told in the
 * ring, which has room for that only with the next record.
 * @counted: raised by what its events have counted, in their unit; in tasks that ended, too
 */
uint64_t perf_lost(const struct perf *perf, enum perf_feed feed, unsigned cpu, uint64_t *counted);

void perf_close(struct perf *perf);

/* perf_event_find - what an event's name means. Return: 0; -EINVAL and `why`. */
int perf_event_find(struct perf_choice *event, const char *name, char *why, size_t bytes);

#endif
