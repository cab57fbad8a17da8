/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A session without traced programs: the test writes into its rings itself, one thread, plain sections, so
 * that it knows exactly what is in which ring; a drain makes a trace of it; and the trace is compared with
 * what was written.
 */
#ifndef BURIN_TESTS_DRAIN_SYNTHETIC_H
#define BURIN_TESTS_DRAIN_SYNTHETIC_H

#include "drain/drain.h"
#include "harness.h"
#include "walk.h"

enum {
	SYNTHETIC_RINGS = 64,
};

struct synthetic {
	struct session session; /* the recorder's view */
	struct session writer;	/* all its rings are written under locks */
	struct drain drain;
	char session_path[256];
	char trace[300];
	uint64_t written[SYNTHETIC_RINGS], refused[SYNTHETIC_RINGS];
	uint16_t id_plain, id_text;
	struct drain_totals totals;
	char why[400];
};

void synthetic_begin(struct synthetic *synthetic, const struct session_options *options);

/* The same, with a drain that splits its trace. */
void synthetic_begin_split(struct synthetic *synthetic, const struct session_options *options,
			   struct chunk_limits split);

/* synthetic_write - append records to a ring: the text is up to so many bytes. */
void synthetic_write(struct synthetic *synthetic, unsigned ring, unsigned records, unsigned text_max);

/*
 * synthetic_check - walk all streams of the trace as they are now: each holds what was written to its ring,
 * from the first record on and without holes (@holes: but for what its packets count as lost). Return: NULL,
 * or what is wrong.
 */
const char *synthetic_check(struct synthetic *synthetic, bool holes);

/*
 * synthetic_check_stream - one stream of the trace at @path; the first record is not earlier than @next.
 * @visit: called for each record, with its number in the ring; may be NULL
 * @next: set to what follows the last record
 */
const char *synthetic_check_stream(struct synthetic *synthetic, const char *path, unsigned ring, bool holes,
				   void (*visit)(void *data, uint64_t number, uint64_t time), void *data,
				   uint64_t *next);

/* Records in the trace, by the last check. */
uint64_t synthetic_kept(const struct synthetic *synthetic);

/* synthetic_finish - drain_finish, and remove the session. */
int synthetic_finish(struct synthetic *synthetic);

/* synthetic_remove - remove the trace. */
void synthetic_remove(struct synthetic *synthetic);
void synthetic_remove_trace(const char *path);

#endif
