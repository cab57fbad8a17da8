/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reading records as they come, without writing a file.
 *
 * A live reader is a drain whose sink visits each record, instead of that of a trace. It reads the rings passively, as a
 * snapshot does, but round after round, and counts the records that were overwritten before it could read them.
 */
#ifndef BURIN_DRAIN_LIVE_READER_H
#define BURIN_DRAIN_LIVE_READER_H

#include "drain/drain.h"

/* A record that was read. */
struct live_event {
	uint64_t time; /* ticks */
	uint32_t id;
	uint32_t pid; /* 0: unknown */
	uint32_t tid;
	uint32_t cpu;
	uint32_t depth; /* of the record's context; 0: it has none */
	uint64_t correlation;
	const char *payload; /* private memory, valid until the visit returns */
	uint32_t bytes;
};

typedef void live_reader_visit(void *data, const struct live_event *event);

struct live_reader {
	struct drain drain; /* the first member: the sink knows it only */
	live_reader_visit *visit;
	void *data;
	uint64_t missed_before; /* records overwritten or damaged before the first visit */
};

/*
 * live_reader_begin - read from now on.
 * @more: rings beside the session's; NULL: none
 * Return: 0 or -ENOMEM; the caller must call live_reader_free() in both cases.
 */
int live_reader_begin(struct live_reader *live, struct session *session, const struct drain_more *more);

/* live_reader_round - visit new records. Return: 0 or -ENOMEM. */
int live_reader_round(struct live_reader *live, live_reader_visit *visit, void *data);

/*
 * live_reader_skip - leave out what was not visited, up to the packets that are open now. Records that are skipped count as missed, once the
 * records behind them are visited.
 */
void live_reader_skip(struct live_reader *live);

/* live_reader_missed - records that were overwritten or damaged before they were visited. */
uint64_t live_reader_missed(const struct live_reader *live);

void live_reader_free(struct live_reader *live);

#endif
