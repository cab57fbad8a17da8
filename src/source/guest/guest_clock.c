/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock that counts the guest's instructions; see guest_clock.h. */
#include "source/guest/guest_clock.h"
#include "source/guest/guest_session.h"

static struct qemu_number count; /* of instructions */

bool guest_clock_begin(const struct qemu_info *info)
{
	const bool counts = guest_session.geometry.clock == WIRE_CLOCK_GUEST;

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

void guest_clock_set(void)
{
	const uint64_t *now = qemu_plugin_scoreboard_find(count.scoreboard, 0);

	__atomic_store_n(&guest_session.calls.header->guest_clock, *now, __ATOMIC_RELAXED);
}
