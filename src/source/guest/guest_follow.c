/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call instructions are instrumented; see guest_follow.h. */
#include <stddef.h>
#include <string.h>

#include "source/guest/guest_follow.h"
#include "source/guest/guest_open.h"
#include "source/guest/qemu_plugin.h"

enum {
	CALL_BYTES = 5, /* of a direct call without prefixes */
	KNOWN = 1 << 13,
};

static uint64_t known
	[KNOWN]; /* functions of a kernel that do not begin so: to read the guest's memory takes a microsecond */

static uint64_t *place_of(uint64_t address)
{
	return &known[(address >> 4 ^ address >> 17) % KNOWN];
}

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

/* The same. Code of programs is not kept: each may have other code at an address. */
static bool is_known_jump(const struct guest_machine *machine, uint64_t address)
{
	uint64_t *place = place_of(address);

	if (address >> 63 && __atomic_load_n(place, __ATOMIC_RELAXED) == address)
		return false;
	if (is_jump(machine, address))
		return true;
	__atomic_store_n(place, address, __ATOMIC_RELAXED);
	return false;
}

void guest_follow_forget(void)
{
	memset(known, 0, sizeof(known));
}

bool guest_follow(const struct guest_machine *machine, uint64_t target, uint64_t after)
{
	return machine->links || guest_options_function(target) || guest_is_near(GUEST_CALL, target, after) ||
	       is_known_jump(machine, target);
}
