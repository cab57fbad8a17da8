/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All that the ring needs from its environment, in the kernel (src/ring/ring_deps.h is that of programs). Writers exclude
 * each other without restartable sequences: a ring is written on its CPU with interrupts off, and NMIs have rings of
 * their own.
 */
#ifndef BURIN_RING_RING_DEPS_H
#define BURIN_RING_RING_DEPS_H

#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#ifdef __x86_64__
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

#include "wire/wire_session.h"

#define RING_HAVE_RSEQ 0

extern bool ring_silent;
extern enum wire_clock ring_clock_source;
extern const uint64_t *ring_guest_clock;

/* The module gives a ring its memory before it sets the ring's size (kernel/memory.c). */
static inline int ring_have_memory(void *begin, size_t bytes)
{
	(void)begin;
	(void)bytes;
	return 1;
}

/* On if the clock is the processor's counter: then reading it takes no test. */
DECLARE_STATIC_KEY_TRUE(ring_clock_is_tsc);

static __always_inline uint64_t ring_clock(void)
{
#ifdef __x86_64__
	if (static_branch_likely(&ring_clock_is_tsc))
		return __builtin_ia32_rdtsc();
#endif
	return ktime_get_mono_fast_ns();
}

/* No lock of the kernel's rings has an owner that can die. */
static inline int ring_owner_is_dead(uint32_t tid)
{
	(void)tid;
	return 0;
}

static inline int ring_owner_is_zombie(uint32_t tid)
{
	(void)tid;
	return 0;
}

#endif
