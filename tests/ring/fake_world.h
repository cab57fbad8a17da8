/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a ring meets in a test: the clock says what the test wants, and memory can be refused. */
#ifndef BURIN_TESTS_RING_FAKE_WORLD_H
#define BURIN_TESTS_RING_FAKE_WORLD_H

#include <stdint.h>

struct fake_world {
	uint64_t clock;
	uint64_t clock_reads;
	int no_memory;	     /* refuse */
	unsigned owner_asks; /* how often a lock's owner was asked for */
};

extern struct fake_world *fake_world;

#endif
