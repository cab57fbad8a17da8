/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_TESTS_RING_TIMEKEEPING_H
#define BURIN_TESTS_RING_TIMEKEEPING_H

#include "../../fake_world.h"

static inline uint64_t ktime_get_mono_fast_ns(void)
{
	fake_world->clock_reads++;
	return fake_world->clock;
}

#endif
