/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's sampler: perf events, and their rings.
 *
 * Each CPU has a ring for each feed, so that an overflow of one loses nothing of another. A flood of samples then loses no
 * mappings. The large stacks of stopping threads do not displace the small records of when they stop. Features that the
 * kernel does not have or permit are dropped, step by step, and that is reported. An older kernel records no build ids. An
 * unprivileged user may not sample kernel code, and so no threads that stop in it.
 */
#ifndef BURIN_SOURCE_PERF_RINGS_PERF_H
#define BURIN_SOURCE_PERF_RINGS_PERF_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#include "source/perf/rings/process_list.h"
#include "source/perf/rings/rounds.h"
#include "source/perf/rings/tree.h"

enum perf_graph {
	PERF_GRAPH_NONE,
	PERF_GRAPH_FP = 1,    /* the chain of frame pointers */
	PERF_GRAPH_DWARF = 2, /* registers and a copy of the stack */
	PERF_GRAPH_BOTH = PERF_GRAPH_FP | PERF_GRAPH_DWARF,
	PERF_GRAPHS
};

extern const char
	*const perf_graph_names[PERF_GRAPHS + 1]; /* as in options and `.burin/profile`; ends with NULL */

enum {
	PERF_STACK_BYTES = 32 << 10, /* of the copy of a stack, where rings have no room for the largest */
	PERF_STACK_MAX = (64 << 10) - 8, /* the kernel counts it in 16 bits, and in words of 8 */
};

/* Kinds of records that the kernel writes. */
enum perf_feed {
	PERF_SIDE, /* tasks and mappings: the side band */
	PERF_SAMPLES,
	PERF_SWITCHES, /* when threads stop and resume */
	PERF_STOPS,    /* where they stop: a sample of each switch to another thread */
	PERF_WAKES,    /* where they are woken: a sample of each wake-up, of the waker */
	PERF_FEEDS
};

/* The sampled event. */
struct perf_choice {
	char name[128]; /* of the event in the trace: sample.NAME */
	uint32_t type;
	uint64_t config;
	bool clock;    /* its period is a time: each sample represents so many ns */
	bool counting; /* every n-th occurrence, n chosen by the kernel to match the frequency; else every one */
};

struct perf_options {
	const char *event;  /* "cpu-clock", "cycles", "page-faults", ..., or a tracepoint "system:name" */
	const char *label;  /* the event's name in the trace, if it is another one; else NULL */
	unsigned frequency; /* Hz */
	enum perf_graph graph;
	unsigned
		stack_bytes; /* of the copy of each stack, at most; a multiple of 8; 0: as large as rings permit */
	size_t buffer_bytes; /* of each CPU's ring of samples; a power of two; 0: the default for ->graph */
	bool is_tsc;	     /* the trace's clock is the TSC */
	bool system;	     /* all tasks of all CPUs */
	pid_t command;	     /* a child that has not executed its program yet; 0: none */
	/* Running processes, with their descendants; else 0. */
	const uint64_t *processes;
	size_t process_count;
	pid_t thread; /* only this thread of the single process; 0: all */
	bool off_cpu; /* switches and stops, too */
	bool wakers;  /* with ->off_cpu: wake-ups, too */
	bool timer;   /* the timer in the program is wanted, not a substitute */
};

/* Memory that the kernel writes records into, mapped behind an event. */
struct perf_area {
	int fd;				   /* of the event; -1: there is none */
	bool carrier;			   /* the event has no records, and is closed with the area */
	struct perf_event_mmap_page *page; /* NULL: none */
	size_t bytes;			   /* of data; a power of two */
};

/* The state of a ring that begins small; perf_grow.c. */
enum perf_growth {
	PERF_GROWN, /* it stays as large as it is */
	PERF_SMALL,
	PERF_GROWING, /* the thread maps ->larger */
	PERF_LARGER,  /* the kernel writes into ->larger */
};

struct perf_ring {
	struct perf_area area;
	struct perf_area larger; /* will replace ->area */
	struct perf_area former; /* replaced by ->area; still read, since records may be on their way */
	unsigned former_rounds;	 /* for how many more rounds */
	enum perf_growth growth; /* atomic */
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
	uint64_t sample_type, registers; /* the contents of its samples */
	unsigned cpus;
	struct process_list processes; /* that ran already */
	struct tree tree;	       /* if it is open, each CPU has an event for the tree */
	char no_wakers[128];	       /* why wake-ups are not recorded, although ->options.wakers; else "" */
	char by_task[128];	       /* why there is no tree, where it would help; else "" */
	struct perf_ring *rings[PERF_FEEDS]; /* of each CPU */
	struct perf_source *sources;
	int wake;	     /* readable when a ring is half full, until perf_woken() */
	pthread_t grower;    /* the thread that makes rings larger, if `growing` */
	bool growing, grown; /* grown: atomic; the thread is about to exit */
	unsigned source_count;
	size_t source_room;
	bool kernel;  /* kernel code is sampled */
	bool off_cpu; /* there are switches and stops */
	uint64_t stops,
		wakes; /* the tracepoints of stops and wake-ups; 0: stops are by another event, there are no wake-ups */
	unsigned woken;	      /* offset of the woken thread's id in the tracepoint's record */
	bool build_ids;	      /* mappings have them */
	bool counts_lost;     /* PERF_FORMAT_LOST */
	unsigned shrink;      /* rings are 2^shrink times smaller than configured */
	unsigned max_depth;   /* frames of the kernel's chain, at most */
	unsigned stack_bytes; /* of the copy of a stack in samples, at most; 0: there is none */
	struct perf_options options;
	uint64_t clock_hz; /* of the trace's clock; set before a record is converted */
	struct perf_time {
		bool by_page; /* convert times as the kernel does, by `zero`, `mult`, `shift` */
		uint64_t zero;
		uint32_t mult;
		uint16_t shift;
		uint64_t ticks, ns; /* otherwise: CLOCK_MONOTONIC and the trace's clock, at the same moment */
	} time;
};

/*
 * perf_open - open all events. The side band starts at once; that of a command, with its exec.
 * @why: the reason of an error
 * Return: 0; -EINVAL: no such event; -errno.
 */
int perf_open(struct perf *perf, const struct perf_options *options, char *why, size_t bytes);

/* perf_weight - how much each sample represents, in the event's unit; 0: each sample has its own weight. */
static inline uint64_t perf_weight(const struct perf *perf)
{
	return perf->event.clock ? 1000000000 / perf->options.frequency : !perf->event.counting;
}

/* Which tasks are sampled by events of CPUs: 0: none; 1: all; 2: those that began during the recording. As in the ledger. */
static inline int perf_by_cpu(const struct perf *perf)
{
	return !perf->tree.open ? 0 : perf->options.command ? 1 : 2;
}

/* Whether the side band's events count the event, instead of those that sample it. */
static inline bool perf_counts_by_side_band(const struct perf *perf)
{
	return perf->tree.open && perf->event.clock;
}

/* perf_sample_type - the contents of a feed's samples. */
static inline uint64_t perf_sample_type(const struct perf *perf, enum perf_feed feed)
{
	return perf->sample_type | (feed == PERF_WAKES ? (uint64_t)PERF_SAMPLE_RAW : 0);
}

/* perf_make_rings - allocate the rings of all CPUs, without events. Return: 0 or -ENOMEM; then perf_close(). */
int perf_make_rings(struct perf *perf);

/* perf_update_clock - read both clocks again, if times are converted by comparing them. Each round. */
void perf_update_clock(struct perf *perf);

/* perf_ticks - convert a record's time to ticks of the trace's clock. */
uint64_t perf_ticks(const struct perf *perf, uint64_t time);

/* perf_ahead - how far the records' clock is ahead of CLOCK_MONOTONIC now, in ns. */
int64_t perf_ahead(const struct perf *perf);

/* perf_woken - make ->wake unreadable until the next wake-up. */
void perf_woken(struct perf *perf);

/*
 * perf_grow - enlarge rings that need it, and free former ones. Each round, after all rings were read.
 * It does not block; a thread does the work.
 */
void perf_grow(struct perf *perf);

/*
 * perf_ring_take - copy new records out of a ring's area, packed (record_pack()), and free their bytes in the area.
 * @feed: of the ring; @rounds: allocates the chunk
 * @bytes: of the records
 * @fill: how full the area was, in percent; 0: so little that ->wake reports in time when to read it again
 * Return: a chunk with one use; NULL: there are no records, or no memory.
 */
struct rounds_chunk *perf_ring_take(const struct perf *perf, enum perf_feed feed,
				    const struct perf_area *area, struct rounds *rounds, size_t *bytes,
				    unsigned *fill);

/* perf_now - the current time in the records' clock. */
uint64_t perf_now(const struct perf *perf);

/* perf_start - start sampling. A command is sampled from its exec on, whenever this is called. */
void perf_start(struct perf *perf);

/* perf_forget_ended - processes that have ended are no roots of the tree: another process may get their ids. Now and then. */
void perf_forget_ended(struct perf *perf);

/* perf_stop - stop everything but the side band. Each ring has to be read once more after that. */
void perf_stop(struct perf *perf);

/*
 * perf_lost - losses so far of a CPU's feed, samples or switches. They may be more than the ring's LOST records say, since
 * the kernel writes such a record only before the next one that fits.
 * @counted: raised by the count of the feed's events, in their unit; includes tasks that ended
 */
uint64_t perf_lost(const struct perf *perf, enum perf_feed feed, unsigned cpu, uint64_t *counted);

void perf_close(struct perf *perf);

/* perf_event_find - look up an event by name. Return: 0; -EINVAL and `why`. */
int perf_event_find(struct perf_choice *event, const char *name, char *why, size_t bytes);

/* perf_event_field - the offset of an integer of 4 bytes in a tracepoint's record. Return: 0 or -errno. */
int perf_event_field(const char *tracepoint, const char *field, unsigned *offset);

#endif
