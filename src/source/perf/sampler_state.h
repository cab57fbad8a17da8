/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The state of the sampler, which its files share: sampler_put.c writes records into the trace, sampler_read.c reads rings,
 * profile_file.c writes the ledger, sampler.c calls them.
 *
 * The ledger, of samples and of waits alike: received = attributed + lost, by cause.
 *
 * A live sampler has a ->take, and neither a session nor files: its tables only give numbers.
 */
#ifndef BURIN_SOURCE_PERF_SAMPLER_STATE_H
#define BURIN_SOURCE_PERF_SAMPLER_STATE_H

#include "writer/sample_streams.h"
#include "session/session.h"
#include "source/perf/stacks/attribute.h"
#include "source/perf/rings/perf.h"
#include "source/perf/rings/rounds.h"
#include "source/perf/rings/preload_reader.h"
#include "source/perf/stacks/offcpu.h"

enum sampler_kind {
	SAMPLER_SAMPLES, /* of the requested event */
	SAMPLER_WAITS,	 /* sample.off-cpu */
	SAMPLER_WAKERS,	 /* sample.waker */
	SAMPLER_KINDS
};

struct sampler_ledger {
	uint64_t received, attributed;
	uint64_t lost[WIRE_SAMPLE_LOSSES];
};

struct sampler_totals {
	struct sampler_ledger ledgers[SAMPLER_KINDS];
	uint64_t kernel, user; /* of the attributed samples */
	uint64_t counted;      /* by the kernel, in the event's unit; 0: unknown */
	uint64_t missed;    /* threads and processes that the kernel could not follow: they have no samples */
	uint64_t throttled; /* how often the kernel throttled the event */
	uint64_t late;	    /* records of the side band and of switches that came late but were used */
	uint64_t side_lost; /* side-band records that the kernel's ring had no room for */
	uint64_t switch_lost;		     /* the same of switches */
	uint64_t waited_ns, lost_ns;	     /* of the waits received: attributed, lost */
	uint64_t stackless;		     /* of the waits attributed */
	uint64_t ends[WIRE_TRUNCATIONS + 1]; /* of attributed samples and waits: `struct attributed` */
	uint64_t scanned;   /* stacks with frames that were found by return addresses: unwind.h */
	uint64_t continued; /* stacks deeper than their copy, continued by an earlier one: deep_stack.h */
	uint64_t preempted, preempted_ns;
	uint64_t blocked_before; /* threads that were blocked when the recording began */
	uint64_t bytes;		 /* of streams and tables */
};

/* A sample for a live sampler, in order of time. @context: its stack's nodes are in ->stacks until sampler_forget() */
typedef void sampler_take(void *data, const struct attributed *context);

struct sampler {
	struct perf perf;
	struct preload_reader
		preload; /* if ->by_preload: the source of samples, instead of the kernel's rings */
	bool by_preload;
	struct session *session;
	sampler_take *take;
	void *data;
	uint16_t events[SAMPLER_KINDS]; /* their ids */
	char limit[200];		/* what was not permitted, or "" */
	int directory;			/* of the trace; our own descriptor */
	struct rounds rounds;
	struct table_writer images_table, tasks_table, stacks_table;
	struct images images;
	struct tasks tasks;
	struct kernel kernel;
	struct stacks stacks, former; /* former: of the trace before, while open waits are taken over */
	struct attribution attribution;
	unsigned sleepers; /* threads whose stack was read at the begin, or tried */
	struct offcpu waits;
	uint64_t *offcpu_lost; /* of each CPU, by the kernel's rings */
	uint32_t *last_ended;  /* of each CPU, as in struct attribution */
	struct samples samples;
	struct sampler_totals totals;
	struct sampler_totals before;	 /* sum of the traces before, for counters that are never reset */
	uint64_t pending[SAMPLER_KINDS]; /* written, not committed */
	unsigned commit_rounds; /* a commit, and a look for perf maps, after so many; 0: after each */
	unsigned uncommitted;	/* rounds */
	uint64_t ledger_time;	/* when the ledger was last written, CLOCK_MONOTONIC, ns */
	unsigned ledger_rounds; /* since then */
	bool released;
};

#endif
