/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The streams of samples: files `samplesN`, one for each CPU. The recorder itself makes their records.
 *
 * The records of each CPU are put in order of time. They exist for readers once they are committed; the tables that they
 * refer to are written before that. Streams are not compressed, but tables are. A record therefore has one number, the
 * sample context, for the task and the stack.
 */
#ifndef BURIN_WRITER_SAMPLE_STREAMS_H
#define BURIN_WRITER_SAMPLE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/table_writer.h"
#include "writer/stream_output.h"
#include "session/session.h"

/* samples_kept() counts by these groups. */
enum samples_group {
	SAMPLES_USER, /* the innermost frame lies in a program */
	SAMPLES_KERNEL,
	SAMPLES_OFF_CPU,
	SAMPLES_WAKERS,
	SAMPLES_GROUPS
};

/* One CPU's. */
struct samples_stream {
	struct stream stream;
	char *records; /* put, not committed; behind room for a packet's header */
	uint32_t bytes;
	uint32_t count, groups[SAMPLES_GROUPS];
	uint64_t first, last;			    /* times of the first and last of these records */
	uint64_t base;				    /* time base of the next record */
	uint64_t time;				    /* of the last record put */
	uint64_t kept, kept_groups[SAMPLES_GROUPS]; /* records committed */
	uint64_t sequence;			    /* packets in the file */
	uint64_t lost;				    /* samples lost in the kernel's ring, so far */
	uint64_t lost_before;			    /* the same during earlier chunks */
	uint64_t reported;			    /* losses that the last packet counts */
};

/* An entry of the table of sample contexts. */
struct sample_context {
	uint32_t task, stack, number;
};

struct samples {
	const struct session *session;
	int directory;
	struct table_writer *tasks, *stacks; /* contexts refer to these */
	struct table_writer contexts;
	struct sample_context *recent; /* the last one of each hash; an evicted context gets a new entry */
	struct samples_stream *streams;
	unsigned count;
	uint64_t begin; /* ticks */
	int error;	/* the first one; nothing is written after it */
};

struct samples_record {
	uint16_t id; /* of the event */
	uint32_t tid;
	uint64_t time; /* ticks; clamped to the time of the CPU's last record */
	uint32_t task, stack;
	enum samples_group group;
	bool weighted;
	uint64_t weight;
	/* Of a wake-up, else 0. Together they have 8 bytes, as records of a stream need no padding. */
	uint32_t woken; /* thread; the fields follow the weight */
	uint32_t interrupt;
};

/*
 * samples_begin - prepare the streams. A stream's file is made with its first record.
 * @directory: of the trace; owned by the caller
 * @tasks, @stacks: the tables that the records refer to
 * @begin: ticks; before all records
 * Return: 0 or -errno.
 */
int samples_begin(struct samples *samples, const struct session *session, int directory, unsigned cpus,
		  struct table_writer *tasks, struct table_writer *stacks, uint64_t begin);

/*
 * samples_recover - finish the streams of a killed recorder and cut off uncommitted records. Can be repeated.
 * @cpus: the largest possible number of streams
 * Return: 0; -errno; -EBADMSG: a file is damaged.
 */
int samples_recover(int directory, unsigned cpus);

/* samples_put - add a record. Return: false: there is no room until samples_commit(). */
bool samples_put(struct samples *samples, unsigned cpu, const struct samples_record *record);

/* samples_lost - set how many samples the kernel's ring of a CPU has lost since the recording began. */
void samples_lost(struct samples *samples, unsigned cpu, uint64_t lost);

/* samples_lost_so_far - losses of all CPUs in this chunk. */
uint64_t samples_lost_so_far(const struct samples *samples);

/* samples_commit - make the records visible to readers; the caller has written tasks and stacks. Return: 0; -errno:
 * the records of some CPUs are lost. */
int samples_commit(struct samples *samples);

/* samples_finish - write the last losses, finish and close the files. */
int samples_finish(struct samples *samples);

/* samples_next - after samples_finish(): begin new files, with counts from 0, in another directory. */
void samples_next(struct samples *samples, int directory);

/* samples_kept - committed records of a group. */
uint64_t samples_kept(const struct samples *samples, enum samples_group group);

/* samples_bytes - the used size of all files. */
uint64_t samples_bytes(const struct samples *samples);

void samples_free(struct samples *samples);

#endif
