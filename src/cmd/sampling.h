/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What `burin record` has to do with samples: its options, what it says, and the sampler beside the drain.
 *
 * Samples come by themselves where the kernel permits them; where not, one line says so, and the command takes
 * them of itself, as far as it can, or the recording goes on without. Who has asked for something of samples, and
 * cannot have them, is told and served in the same way.
 */
#ifndef BURIN_CMD_SAMPLING_H
#define BURIN_CMD_SAMPLING_H

#include <stdbool.h>
#include <sys/types.h>

#include "drain/drain.h"
#include "source/sample/sampler.h"

enum {
	SAMPLING_HZ = 997,
	SAMPLING_BUFFER_MIN = 128 << 10, /* room for the largest sample, 64 KiB */
	SAMPLING_BUFFER_MAX = 1 << 30,
};

struct sampling_options {
	bool off;	   /* --no-samples */
	bool no_symbols;   /* --no-symbols */
	bool timer;	   /* --timer */
	const char *asked; /* the option by which samples were asked for; NULL: none */
	const char *event;
	unsigned frequency;
	enum perf_graph graph;
	unsigned stack_bytes; /* of the copy of each user stack */
	size_t buffer_bytes;  /* of each CPU's ring of samples; 0: what is usual */
	bool off_cpu;	      /* --off-cpu */
	bool system;
	pid_t process, thread;
};

struct sampling {
	bool opened, begun, quiet;
	int error; /* of writing */
	struct sampler sampler;
	struct sampler_totals totals;
	char library[4096]; /* of the timer; "": none is loaded */
	const struct sampling_options *options;
	unsigned chunk; /* that samples are written to */
};

/* sampling_defaults - what is sampled if nothing is said. */
struct sampling_options sampling_defaults(void);

/*
 * sampling_parse - an option of burin record's, as getopt has it.
 * Return: 0; CMD_USAGE and a line on stderr; -1: it has nothing to do with samples.
 */
int sampling_parse(struct sampling_options *options, int option, const char *value);

/*
 * sampling_open - open the kernel's events, or else make ready for a timer in the command.
 * @command: a child that has not executed its program yet; 0: there is none
 * @session: a recorder's, or that of a program that runs
 */
void sampling_open(struct sampling *sampling, const struct sampling_options *options, struct session *session,
		   pid_t command, bool quiet);

/*
 * sampling_environment - write what the command's environment needs: assignments, each with a NUL.
 * Return: false: errno.
 */
bool sampling_environment(const struct sampling *sampling, int file);

/* sampling_begin - begin to write into the drain's trace, which has its metadata. */
void sampling_begin(struct sampling *sampling, const struct drain *drain);

/* sampling_wake - a descriptor, readable when sampling_round() should come before its time; -1: there is none. */
int sampling_wake(const struct sampling *sampling);

/*
 * sampling_round - behind the drain's; if that has begun a chunk, the first still into the one before.
 * @fullest: raised to how full the fullest ring was, in percent
 */
void sampling_round(struct sampling *sampling, struct drain *drain, unsigned *fullest);

/* sampling_so_far - samples in the trace, and lost ones as far as is known; 0 if none are taken. */
void sampling_so_far(const struct sampling *sampling, uint64_t *samples, uint64_t *lost);

/* sampling_finish - before the trace is finished. */
void sampling_finish(struct sampling *sampling);

/* sampling_symbols - when the trace is finished: name what was sampled, in each of its chunks, and let go. */
void sampling_symbols(struct sampling *sampling, const char *path, const struct drain_totals *totals);

/* sampling_summary - one line on stderr. */
void sampling_summary(const struct sampling *sampling);

#endif
