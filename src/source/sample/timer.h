/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The other sampler, for where the kernel's is closed: programs sample themselves (wire/timer.h), and what
 * they say is taken out of a session made for that, in the form of the kernel's records. The rest of the
 * way is the same.
 */
#ifndef BURIN_SOURCE_SAMPLE_TIMER_H
#define BURIN_SOURCE_SAMPLE_TIMER_H

#include "drain/intake.h"
#include "drain/table.h"
#include "session/session.h"
#include "source/sample/perf.h"
#include "source/sample/rounds.h"

struct timer {
	struct session session;
	char path[SESSION_PATH_MAX];
	char wanted[SESSION_PATH_MAX + 32]; /* WIRE_TIMER_ENVIRONMENT and its value */
	struct table table;
	struct intake *intakes; /* of each ring */
	char *buffer;		/* of the largest packet */
};

/* timer_open - make the session. @why: if it fails. Return: 0 or -errno. */
int timer_open(struct timer *timer, const struct perf_options *options, char *why, size_t bytes);

/* timer_choice - what of `struct perf` describes the samples, and its rings, which stand for the session's. Return: 0 or -ENOMEM. */
int timer_choice(const struct timer *timer, const struct perf_options *options, struct perf *perf);

/* timer_tick_hz - how many samples of a thread the kernel's tick allows in a second of CPU time, at most. */
unsigned timer_tick_hz(void);

/* timer_sides - the number of the ring of what tells of tasks and mappings; all before it are of samples. */
static inline unsigned timer_sides(const struct timer *timer)
{
	return session_names_index(&timer->session);
}

/* timer_take - what is new in a ring; as perf_ring_take(). */
struct rounds_chunk *timer_take(struct timer *timer, unsigned ring, struct rounds *rounds, size_t *bytes,
				unsigned *fill);

/* timer_lost - what has been lost so far in a ring. */
uint64_t timer_lost(const struct timer *timer, unsigned ring);

/* timer_stop - no more samples. */
void timer_stop(struct timer *timer);

/* timer_settle - nothing more will be taken: what nobody found counts as lost. */
void timer_settle(struct timer *timer);

void timer_close(struct timer *timer);

#endif
