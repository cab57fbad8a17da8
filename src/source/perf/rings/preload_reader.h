/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The other sampler, used where perf events are closed. Programs sample themselves (wire/wire_preload.h) and write records in
 * the kernel's format into a session of their own. This reads them from there; the rest is as with the kernel's sampler.
 */
#ifndef BURIN_SOURCE_PERF_RINGS_PRELOAD_READER_H
#define BURIN_SOURCE_PERF_RINGS_PRELOAD_READER_H

#include "drain/ring_reader.h"
#include "writer/event_table.h"
#include "session/session.h"
#include "source/perf/rings/perf.h"
#include "source/perf/rings/rounds.h"

struct preload_reader {
	struct session session;
	char path[SESSION_PATH_MAX];
	char wanted[SESSION_PATH_MAX + 32]; /* WIRE_PRELOAD_ENVIRONMENT and its value */
	struct event_table table;
	struct ring_reader *readers; /* of each ring */
	char *buffer;		     /* of the largest packet */
};

/* preload_reader_open - create the session. @why: the reason of an error. Return: 0 or -errno. */
int preload_reader_open(struct preload_reader *self, const struct perf_options *options, char *why,
			size_t bytes);

/* preload_reader_options - fill in the samples' contents, and allocate rings for the session's. Return: 0 or -ENOMEM. */
int preload_reader_options(const struct preload_reader *self, const struct perf_options *options,
			   struct perf *perf);

/* preload_reader_tick_hz - the maximum of samples per thread and second of CPU time, which is the kernel's tick rate. */
unsigned preload_reader_tick_hz(void);

/* preload_reader_side_band - the index of the ring of tasks and mappings; all before it have samples. */
static inline unsigned preload_reader_side_band(const struct preload_reader *self)
{
	return session_names_index(&self->session);
}

/* preload_reader_take - read new records of a ring; as perf_ring_take(). */
struct rounds_chunk *preload_reader_take(struct preload_reader *self, unsigned ring, struct rounds *rounds,
					 size_t *bytes, unsigned *fill);

/* preload_reader_lost - losses so far in a ring. */
uint64_t preload_reader_lost(const struct preload_reader *self, unsigned ring);

/* preload_reader_stop - stop sampling. */
void preload_reader_stop(struct preload_reader *self);

/* preload_reader_settle - nothing more will be read: count unread records as lost. */
void preload_reader_settle(struct preload_reader *self);

void preload_reader_close(struct preload_reader *self);

#endif
