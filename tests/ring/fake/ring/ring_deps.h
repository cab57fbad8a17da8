/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring's world in a test: found before src/ring/ring_deps.h on the include path, so that the ring is the
 * same source. The clock says what the test wants, memory can be refused, and there are no restartable
 * sequences.
 */
#ifndef BURIN_RING_RING_DEPS_H
#define BURIN_RING_RING_DEPS_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../fake_world.h"
#include "wire/wire_session.h"

#define RING_HAVE_RSEQ 0

extern enum wire_clock ring_clock_source;
extern _Bool ring_silent;

static inline int ring_have_memory(void *begin, size_t bytes)
{
	(void)begin;
	(void)bytes;
	return !fake_world->no_memory;
}

static inline uint64_t ring_clock(void)
{
	fake_world->clock_reads++;
	return fake_world->clock;
}

static inline int ring_owner_is_dead(uint32_t tid)
{
	int saved = errno, dead;

	fake_world->owner_asks++;
	dead = kill((pid_t)tid, 0) != 0 && errno == ESRCH;
	errno = saved;
	return dead;
}

static inline int ring_owner_is_zombie(uint32_t tid)
{
	(void)tid;
	return 0;
}

#endif
