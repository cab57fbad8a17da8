/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call instructions are instrumented; see guest_follow.h. */
#include <stddef.h>
#include <string.h>

#include "source/guest/guest_follow.h"
#include "source/guest/guest_open.h"
#include "source/guest/qemu_plugin.h"

enum {
	CALL_BYTES = 5,	  /* of a direct call without prefixes */
	LINKED_BYTES = 4, /* of each instruction where calls leave the return address in a register */
	KNOWN = 1 << 13,
};

static uint64_t known
	[KNOWN]; /* functions of a kernel that do not begin so: to read the guest's memory takes a microsecond */

static uint64_t *place_of(uint64_t address)
{
	return &known[(address >> 4 ^ address >> 17) % KNOWN];
}

/* The first instruction at an address. Return: false: it cannot be read. */
static bool read_first(const struct guest_machine *machine, uint64_t address, struct guest_instruction *first)
{
	static __thread struct qemu_bytes *bytes;
	const size_t count = machine->links ? LINKED_BYTES : CALL_BYTES;

	if (!bytes)
		bytes = g_byte_array_new();
	if (!qemu_plugin_read_memory_vaddr(address, bytes, count))
		return false;
	*first = machine->decode(bytes->data, count, address);
	return true;
}

/* Whether the code at an address begins with a call over a few bytes, as indirect jumps do that are made of calls. */
static bool is_jump(const struct guest_machine *machine, uint64_t address)
{
	struct guest_instruction first;

	return read_first(machine, address, &first) &&
	       guest_is_near(first.kind, first.target, address + CALL_BYTES);
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

/*
 * A lone return, such as that to which all functions of Linux jump, is no function. Where its code is not there yet, nothing is known.
 */
bool guest_follow_jump(const struct guest_machine *machine, uint64_t target)
{
	struct guest_instruction first;

	return guest_options_function(target) && guest_session_is_function(target - guest_options.moved) &&
	       read_first(machine, target, &first) && first.kind != GUEST_RETURN;
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
