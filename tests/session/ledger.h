/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The reading side of a case: all rings of the session are read, every record is compared with what its
 * writer must have written, and the books are balanced: what was recorded was read once, or is counted as
 * lost.
 */
#ifndef BURIN_TESTS_SESSION_LEDGER_H
#define BURIN_TESTS_SESSION_LEDGER_H

#include "ring/copy.h"
#include "session/session.h"
#include "traced.h"

enum {
	LEDGER_THREADS = 65536,
};

struct ledger_ring {
	struct ring_cursor cursor;
	uint64_t known; /* records read or overwritten */
	uint64_t time;
	uint64_t shift; /* see below */
	uint32_t epoch; /* of the first record of the packet */
};

struct ledger {
	struct session view;
	struct ledger_ring *rings;
	char *copy;
	unsigned char **seen; /* of each writer: a bit for each record */
	uint64_t *room;	      /* in bits */
	uint64_t read, overwritten, extended;
	uint64_t names_read;
	uint16_t id_plain, id_data;
	uint32_t *threads, *recorders; /* announced; seen to have recorded something */
	unsigned thread_count, recorder_count;
	uint32_t last_recorder;
	uint32_t unannounced;	    /* a thread that recorded something and was never announced ... */
	unsigned unannounced_count; /* ... and how many there are */
	/*
	 * The breakpoint test makes packets look as if they were 2^33 ticks old (by subtracting that from the
	 * times in their headers), after raising board->epoch: then records of the packet's first epoch are
	 * read with a time that is too early by that, and all others must be right.
	 */
	uint64_t age;
	bool times_loose; /* the clock was tampered with: only the order is checked */
	char why[300];
};

void ledger_open(struct ledger *ledger, const char *path);
void ledger_close(struct ledger *ledger);

/* ledger_read - read what there is. Return: records. */
uint64_t ledger_read(struct ledger *ledger);

/* ledger_lost - what the writers counted as lost, by any cause. */
uint64_t ledger_lost(const struct ledger *ledger);

/*
 * ledger_balance - read to the end and close the books, all writers having stopped or died.
 * Return: NULL, or what is wrong.
 */
const char *ledger_balance(struct ledger *ledger);

/* ledger_summary - "N read, ...". */
const char *ledger_summary(const struct ledger *ledger);

#endif
