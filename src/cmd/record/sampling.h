/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The samples of `burin record`: options, messages, and the sampler beside the drain.
 *
 * Samples are taken by default. Where the kernel does not permit them, one line reports it; then a timer in the command
 * takes them, or the recording goes on without samples. Options of samples do not change that.
 */
#ifndef BURIN_CMD_RECORD_SAMPLING_H
#define BURIN_CMD_RECORD_SAMPLING_H

#include <stdbool.h>
#include <sys/types.h>

#include "drain/drain.h"
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
	bool opened, begun, quiet;
	int by_cpu;		  /* perf_by_cpu(); valid after sampling_finish() */
	int error;		  /* the first write error */
	struct probe_event probe; /* that is sampled, if the event is one */
	struct sampler sampler;
	struct sampler_totals totals;
	char library[4096]; /* the preload library with the timer; "": none */
	const struct sampling_options *options;
	unsigned chunk; /* the one that samples are written to */
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

/*
 * sampling_open - open the kernel's events, or else prepare a timer in the command.
 * @command: a child before its exec; 0: there is none
 * @session: of the recorder, or of a running program
 */
void sampling_open(struct sampling *sampling, const struct sampling_options *options, struct session *session,
		   pid_t command, bool quiet);

/*
 * sampling_environment - write assignments for the command's environment, each with a NUL.
 * Return: false and errno.
 */
bool sampling_environment(const struct sampling *sampling, int file);

/* sampling_library - the path of the library that the command must load; "": none. */
const char *sampling_library(const struct sampling *sampling);

/* sampling_begin - begin to write into the drain's trace, which must have its metadata. */
void sampling_begin(struct sampling *sampling, const struct drain *drain);

/* sampling_wake - a descriptor that is readable when sampling_round() should be called early; -1: there is none. */
int sampling_wake(const struct sampling *sampling);

/*
 * sampling_pause_ms - how long the next round may wait while the rings are nearly empty: five periods of a clock that is
 * sampled at a low frequency. Not longer, since files are opened in a round, some only while their process lives.
 */
int sampling_pause_ms(const struct sampling *sampling);

/*
 * sampling_round - read samples, after the drain's round. If that has begun a chunk, they still go into the one before.
 * @fullest: raised to the fill of the fullest ring, in percent
 */
void sampling_round(struct sampling *sampling, struct drain *drain, unsigned *fullest);

/* sampling_so_far - the samples in the trace and the known losses; both 0 if none are taken. */
void sampling_so_far(const struct sampling *sampling, uint64_t *samples, uint64_t *lost);

/* sampling_finish - finish the samples; called before the trace is finished. */
void sampling_finish(struct sampling *sampling);

/*
 * sampling_symbols - symbolize the samples of the finished trace or of each chunk, and close the sampler.
 * @directory: of the trace, or of its chunks; @path: for messages
 */
void sampling_symbols(struct sampling *sampling, int directory, const char *path,
		      const struct drain_totals *totals);

/*
 * sampling_summary - print how many samples were recorded and lost.
 * @output: the trace's directory, to be printed with them; NULL: it was printed before
 */
void sampling_summary(const struct sampling *sampling, const char *output);

#endif
