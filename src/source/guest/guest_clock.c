/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock that counts the guest's instructions; see guest_clock.h. */
#include <time.h>

#include "source/guest/guest_clock.h"
#include "source/guest/guest_session.h"

enum {
	LOOK_TICKS = 1 << 18, /* from one look at the time to the next: about 0.1 ms */
};

bool guest_clock_is_slow;

static struct qemu_number count; /* of instructions */

/* Whether times are still to come. */
static bool is_waiting(void)
{
	return guest_options.start.time || guest_options.stop.time;
}

bool guest_clock_begin(const struct qemu_info *info)
{
	const bool counts = guest_session.geometry.clock == WIRE_CLOCK_GUEST;

	if (guest_options.start.address || guest_options.start.time)
		guest_record(false);
	guest_clock_is_slow = counts || is_waiting();
	if (counts != guest_options.instructions) {
		guest_session_report("libburin-qemu.so: clock=instructions has to be an option of the "
				     "recording, too; use: "
				     "burin record --guest --guest-clock instructions");
		return false;
	}
	if (!counts)
		return true;
	if (info->system.max_vcpus > 1) {
		guest_session_report("--guest-clock instructions: the count of one processor is no clock of "
				     "%d; use -smp 1",
				     info->system.max_vcpus);
		return false;
	}
	count.scoreboard = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	return true;
}

void guest_clock_instrument(struct qemu_block *block)
{
	if (guest_options.instructions)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, QEMU_ADD, count,
								  qemu_plugin_tb_n_insns(block));
}

/* A mark becomes due once. */
static void look(struct guest_mark *mark, uint64_t now, bool records)
{
	if (!mark->time || now < mark->time)
		return;
	mark->time = 0;
	guest_record(records);
}

static void look_at_both(uint64_t now)
{
	look(&guest_options.start, now, true);
	look(&guest_options.stop, now, false);
	guest_clock_is_slow = guest_options.instructions || is_waiting();
}

/* The host's time. Any vCPU. */
static void look_at_time(void)
{
	static uint64_t next, begin; /* next: ticks */
	const uint64_t ticks = ring_clock();
	struct timespec now;
	uint64_t ns;

	if (ticks < __atomic_load_n(&next, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&next, ticks + LOOK_TICKS, __ATOMIC_RELAXED);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (!begin)
		begin = ns;
	look_at_both(ns - begin);
}

void guest_clock_set(void)
{
	const uint64_t *now;

	if (!guest_options.instructions) {
		look_at_time();
		return;
	}
	now = qemu_plugin_scoreboard_find(count.scoreboard, 0);
	__atomic_store_n(&guest_session.calls.header->guest_clock, *now, __ATOMIC_RELAXED);
	if (is_waiting())
		look_at_both(*now);
}
