/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The samples of `burin record`: options, messages, and the sampler beside the drain.
 *
 * Samples are taken by default. Where the kernel does not permit them, one line reports it; then a timer in the command
 * takes them, or the recording goes on without samples. Options of samples do not change that.
 */
#ifndef BURIN_CMD_RECORD_SOURCES_SAMPLING_H
#define BURIN_CMD_RECORD_SOURCES_SAMPLING_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/record/recorder/source.h"
#include "source/kernel/probes/probe_event.h"
#include "source/perf/sampler.h"
#include "view/records/selection.h"

enum {
	SAMPLING_BUFFER_MIN = 128 << 10, /* room for the largest sample, 64 KiB */
	SAMPLING_BUFFER_MAX = 1 << 30,
	SAMPLING_EXCESSES = BUDGET_NAMED_MAX + 1,
};

#define SAMPLING_EVENT "cpu-clock" /* the default */

struct sampling_options {
	bool off;	   /* --no-samples */
	bool no_symbols;   /* --no-symbols */
	uint64_t names_ns; /* --names-deadline; 0: none */
	bool timer;	   /* --timer */
	const char *event;
	unsigned frequency;
	enum perf_graph graph;
	unsigned stack_bytes; /* of the copy of each user stack; 0: as large as rings permit */
	size_t buffer_bytes;  /* of each CPU's ring of samples; 0: the default */
	bool off_cpu;	      /* --off-cpu, --sched=stacks */
	bool wakers;	      /* --sched=wakers: with ->off_cpu */
	bool system;
	struct view_set processes; /* of --pid, --thread or TARGET */
	pid_t thread;
};

struct sampling {
	const struct sampling_options *options;
	bool opened, begun, quiet;
	int by_cpu;		  /* perf_by_cpu(); valid after sampling_finish() */
	int error;		  /* the first write error */
	struct probe_event probe; /* that is sampled, if the event is one */
	struct sampler sampler;
	struct sampler_totals totals;
	char library[4096]; /* the preload library with the timer; "": none */
	unsigned chunk;	    /* the one that samples are written to */
	/* The processes and users that exceeded their budget of work; "" ends the list. */
	char excess[SAMPLING_EXCESSES][BUDGET_TEXT_MAX];
};

/*
 * sampling_check - check given options, find the process of a thread, and make the ring's size a power of two.
 * Return: 0; CMD_USAGE after a message.
 */
int sampling_check(struct sampling_options *options);

/* sampling_choose - sample this process, too. Return: 0; -ESRCH: it is 0; -ENOMEM. */
int sampling_choose(struct sampling_options *options, pid_t process);

/* Of a struct sampling whose options are set. */
extern const struct source_ops sampling_source;

#endif
