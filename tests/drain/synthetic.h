/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A session without traced programs. The test itself writes into its rings, from one thread and with plain sections, so
 * it knows the contents of each ring. A drain makes a trace, which is compared with the written records.
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
	int directory; /* of the trace */
	char session_path[256];
	char trace[300];
	uint64_t written[SYNTHETIC_RINGS], refused[SYNTHETIC_RINGS];
	uint16_t id_plain, id_text;
	struct drain_totals totals;
	char why[400];
};

void synthetic_begin(struct synthetic *synthetic, const struct session_options *options);

/* synthetic_begin_split - begin with a drain that splits its trace. */
void synthetic_begin_split(struct synthetic *synthetic, const struct session_options *options,
			   struct chunk_limits split);

/* synthetic_write - append records to a ring. @text_max: the longest text */
void synthetic_write(struct synthetic *synthetic, unsigned ring, unsigned records, unsigned text_max);

/*
 * synthetic_check - walk all streams of the current trace. Each must have the records of its ring, from the first one and
 * without gaps. @holes: except for those that its packets count as lost. Return: NULL, or the fault.
 */
const char *synthetic_check(struct synthetic *synthetic, bool holes);

/*
 * synthetic_check_stream - check one stream of the trace at @path.
 * @visit: called for each record, with its number in the ring; may be NULL
 * @next: the lowest number of the first record; set to the number after the last record
 */
const char *synthetic_check_stream(struct synthetic *synthetic, const char *path, unsigned ring, bool holes,
				   void (*visit)(void *data, uint64_t number, uint64_t time), void *data,
				   uint64_t *next);

/* synthetic_kept - records in the trace, counted by the last check. */
uint64_t synthetic_kept(const struct synthetic *synthetic);

/* synthetic_finish - finish the drain and remove the session. */
int synthetic_finish(struct synthetic *synthetic);

/* synthetic_remove - remove the trace. */
void synthetic_remove(struct synthetic *synthetic);
void synthetic_remove_trace(const char *path);

#endif
