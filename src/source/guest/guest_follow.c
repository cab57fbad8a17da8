/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call instructions are instrumented; see guest_follow.h. */
#include <stddef.h>

#include "source/guest/guest_follow.h"
#include "source/guest/guest_open.h"
#include "source/guest/qemu_plugin.h"

enum {
	CALL_BYTES = 5, /* of a direct call without prefixes */
};

/* Whether the code at an address begins with a call over a few bytes, as indirect jumps do that are made of calls. */
static bool is_jump(const struct guest_machine *machine, uint64_t address)
{
	static __thread struct qemu_bytes *bytes;
	struct guest_instruction first;

	if (!bytes)
		bytes = g_byte_array_new();
	if (!qemu_plugin_read_memory_vaddr(address, bytes, CALL_BYTES))
		return false;
	first = machine->decode(bytes->data, CALL_BYTES, address);
	return guest_is_near(first.kind, first.target, address + CALL_BYTES);
}

bool guest_follow(const struct guest_machine *machine, uint64_t target, uint64_t after)
{
	return machine->links || guest_options_function(target) || guest_is_near(GUEST_CALL, target, after) ||
	       is_jump(machine, target);
}
