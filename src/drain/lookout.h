/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Looking at records as they come, without writing them anywhere.
 *
 * A lookout reads rings passively, as a snapshot does, but goes on; each record that is sound is shown once.
 * What was overwritten before it was seen is counted.
 */
#ifndef BURIN_DRAIN_LOOKOUT_H
#define BURIN_DRAIN_LOOKOUT_H

#include "drain/intake.h"
#include "drain/table.h"
#include "session/session.h"

/* A record that was seen. */
struct sighting {
	uint32_t id;
	uint32_t pid; /* 0: not known */
	uint32_t tid;
	uint32_t cpu;
	uint32_t depth; /* of the record's context; 0: it has none */
	uint64_t correlation;
	const char *payload; /* private memory, until the next record */
	uint32_t bytes;
};

typedef void lookout_visit(void *data, const struct sighting *sighting);

struct lookout {
	struct session *session;
	struct table table, names_table;
	struct intake *intakes; /* of each ring */
	struct lookout_thread *threads;
	unsigned thread_count;
	char *buffer;		/* of the largest packet */
	uint64_t since;		/* ticks: what is earlier is not shown */
	uint64_t missed_before; /* what was overwritten, or spoiled, before that */
};

/* lookout_begin - from now on. Return: 0 or -ENOMEM; lookout_free() in any case. */
int lookout_begin(struct lookout *lookout, struct session *session);

/* lookout_round - show what is new. Return: 0 or -ENOMEM. */
int lookout_round(struct lookout *lookout, lookout_visit *visit, void *data);

/* lookout_missed - records that nobody was shown. */
uint64_t lookout_missed(const struct lookout *lookout);

void lookout_free(struct lookout *lookout);

#endif
