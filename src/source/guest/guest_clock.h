/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that counts the guest's instructions: if QEMU is deterministic (-icount), two runs have the same trace. Code that
 * QEMU generates counts them, block by block. Before a call or return uses the clock, the count is copied to the session.
 *
 * The count of one vCPU says nothing about that of another one, so there must be only one.
 *
 * Recording can start and stop at times of the guest. They are counted from its first call: instructions by that clock,
 * otherwise nanoseconds of the host.
 */
#ifndef BURIN_SOURCE_GUEST_GUEST_CLOCK_H
#define BURIN_SOURCE_GUEST_GUEST_CLOCK_H

#include "source/guest/guest_options.h"
#include "source/guest/qemu_plugin.h"

/* guest_clock_begin - before the first instruction. Return: false after a message. */
bool guest_clock_begin(const struct qemu_info *info);

/* guest_clock_instrument - count the instructions of a block. */
void guest_clock_instrument(struct qemu_block *block);

extern bool guest_clock_is_slow;

/* guest_clock_set - the slow part of the function below. */
void guest_clock_set(void);

/* guest_clock_update - set the session's clock, and start or stop if it is time to. Context: the vCPU. */
static inline void guest_clock_update(void)
{
	if (__builtin_expect(guest_clock_is_slow, 0))
		guest_clock_set();
}

#endif
