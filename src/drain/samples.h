/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The streams of samples: one for each CPU, files `samplesN`, whose records the recorder itself makes.
 *
 * Records are put one after the other, in order of time for each CPU, and exist once they were committed: the tables
 * that they refer to are written in between. Who ran and where is one number in a record, a spot, since streams are
 * read as they are, while tables are compressed.
 */
#ifndef BURIN_DRAIN_SAMPLES_H
#define BURIN_DRAIN_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/interned.h"
#include "drain/stream.h"
#include "session/session.h"

/* What samples_kept() counts by. */
enum samples_group {
	SAMPLES_USER, /* the innermost frame lies in a program */
	SAMPLES_KERNEL,
	SAMPLES_OFF_CPU,
	SAMPLES_GROUPS
};

/* One CPU's. */
struct samples_stream {
	struct stream stream;
	char *records; /* put, not committed; behind room for a packet's header */
	uint32_t bytes;
	uint32_t count, groups[SAMPLES_GROUPS];
	uint64_t first, last;			    /* times of them */
	uint64_t base;				    /* time base of the next record */
	uint64_t time;				    /* of the last record put */
	uint64_t kept, kept_groups[SAMPLES_GROUPS]; /* records committed */
	uint64_t sequence;			    /* packets in the file */
	uint64_t lost;				    /* in the kernel's ring, so far */
	uint64_t lost_before;			    /* of the files before */
	uint64_t told;				    /* of them by the last packet */
};

/* An entry of the table of spots. */
struct samples_spot {
	uint32_t task, stack, number;
};

struct samples {
	const struct session *session;
	int directory;
	struct interned spots;
	struct samples_spot *known; /* the last with that hash: others are entered again */
	struct samples_stream *streams;
	unsigned count;
	int error; /* the first; nothing is written from then on */
};

struct samples_record {
	uint16_t id; /* of the event */
	uint32_t tid;
	uint64_t time; /* ticks; one that is before the last record's of its CPU is held at that */
	uint32_t task, stack;
	enum samples_group group;
	bool weighted;
	uint64_t weight;
};

/* samples_begin - no stream is made before its first record. @directory: of the trace, the caller's. Return: 0 or -errno. */
int samples_begin(struct samples *samples, const struct session *session, int directory, unsigned cpus);

/* samples_put - add a record. Return: whether there was room; if not, samples_commit() makes some. */
bool samples_put(struct samples *samples, unsigned cpu, const struct samples_record *record);

/* samples_lost - so many were lost in the kernel's ring of that CPU since the beginning. */
void samples_lost(struct samples *samples, unsigned cpu, uint64_t lost);

/* samples_lost_so_far - of all CPUs, in these files. */
uint64_t samples_lost_so_far(const struct samples *samples);

/* samples_commit - what was put exists from now on; the tables of tasks and stacks were written. Return: 0; -errno:
 * what was put of some CPUs is gone. */
int samples_commit(struct samples *samples);

/* samples_finish - tell of the last losses, end the files, let go. @time: ticks; the end, for a stream without records */
int samples_finish(struct samples *samples, uint64_t time);

/* samples_next - after samples_finish(): begin files in another directory, whose counts begin at 0. */
void samples_next(struct samples *samples, int directory);

/* samples_kept - records of a group that were committed. */
uint64_t samples_kept(const struct samples *samples, enum samples_group group);

/* samples_bytes - of the files in use. */
uint64_t samples_bytes(const struct samples *samples);

void samples_free(struct samples *samples);

#endif
