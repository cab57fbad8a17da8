/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sampler: from the kernel's rings, or those of programs that sample themselves, to the streams and tables of
 * samples in a trace. It lives in the recorder.
 *
 * The ledger, of samples and of waits alike: received = attributed + what was lost, by cause.
 */
#ifndef BURIN_SOURCE_SAMPLE_SAMPLER_H
#define BURIN_SOURCE_SAMPLE_SAMPLER_H

#include "drain/samples.h"
#include "session/session.h"
#include "source/sample/attribute.h"
#include "source/sample/perf.h"
#include "source/sample/rounds.h"
#include "source/sample/timer.h"
#include "source/sample/waits.h"

enum sampler_kind {
	SAMPLER_SAMPLES, /* of the event that was asked for */
	SAMPLER_WAITS,	 /* sample.off-cpu */
	SAMPLER_KINDS
};

struct sampler_ledger {
	uint64_t received, attributed;
	uint64_t lost[SAMPLE_LOSSES];
};

struct sampler_totals {
	struct sampler_ledger ledgers[SAMPLER_KINDS];
	uint64_t kernel, user;	      /* of the attributed samples */
	uint64_t counted;	      /* by the kernel, in the event's unit; 0: not known */
	uint64_t throttled;	      /* times that the kernel took breath */
	uint64_t late;		      /* of the side band and of switches, but taken */
	uint64_t side_lost;	      /* records of the side band that the kernel's ring had no room for */
	uint64_t switch_lost;	      /* such of switches */
	uint64_t waited_ns, lost_ns;  /* of the waits received: attributed, lost */
	uint64_t stackless;	      /* of the waits attributed */
	uint64_t ends[WIRE_CUTS + 1]; /* of what was attributed, samples and waits: `struct attributed` */
	uint64_t preempted, preempted_ns;
	uint64_t blocked_before; /* threads that had stopped when the recording began */
	uint64_t bytes;		 /* of streams and tables */
};

struct sampler {
	struct perf perf;
	struct timer timer; /* if ->by_timer: where samples come from, and not the kernel's rings */
	bool by_timer;
	struct session *session;
	uint16_t events[SAMPLER_KINDS]; /* their ids */
	char limit[200];		/* what was not permitted; "" */
	int directory;			/* of the trace, our own descriptor */
	struct rounds rounds;
	struct interned images_table, tasks_table, stacks_table;
	struct images images;
	struct tasks tasks;
	struct kernel kernel;
	struct stacks stacks;
	struct attribution attribution;
	struct waits waits;
	uint64_t *waits_lost; /* of each CPU, by the kernel's rings */
	struct samples samples;
	struct sampler_totals totals;
	struct sampler_totals before;	 /* what is counted throughout: of the traces before */
	uint64_t pending[SAMPLER_KINDS]; /* put, not committed */
	uint64_t told;			 /* when the ledger was last written, CLOCK_MONOTONIC, ns */
};

/*
 * sampler_open - open the kernel's events, and register the sample event in the session.
 * @why: what is not permitted, or is not there
 * Return: 0 or -errno.
 */
int sampler_open(struct sampler *sampler, struct session *session, const struct perf_options *options,
		 char *why, size_t bytes);

/*
 * sampler_open_timer - the same without the kernel's events: the command samples itself, if ->timer.wanted is in
 * its environment and the library is loaded.
 */
int sampler_open_timer(struct sampler *sampler, struct session *session, const struct perf_options *options,
		       char *why, size_t bytes);

/*
 * sampler_begin - begin to write.
 * @directory: of the trace, with its metadata; the caller's
 * Return: 0 or -errno; then sampler_close().
 */
int sampler_begin(struct sampler *sampler, int directory);

/* sampler_round - take what is new. @fullest: raised to how full the fullest ring was, in percent */
void sampler_round(struct sampler *sampler, unsigned *fullest);

/*
 * sampler_next - write the end of this trace, and go on in another one, which begins with the same tables.
 * @directory: as for sampler_begin()
 * @totals: of the trace that ends; samples that wait for their turn belong to the next one
 * Return: 0 or the first error of writing.
 */
int sampler_next(struct sampler *sampler, int directory, struct sampler_totals *totals);

/* sampler_finish - take what is left, and write all ends; then sampler_close(). Return: 0 or the first error of writing. */
int sampler_finish(struct sampler *sampler, struct sampler_totals *totals);

/* sampler_add - add a trace's totals to those of others. */
void sampler_add(struct sampler_totals *sum, const struct sampler_totals *totals);

/* sampler_close - let go without more ado. */
void sampler_close(struct sampler *sampler);

#endif
