/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The usual begin and end of a function, near its object (x86-64).
 *
 * The code of hook_entry.h lies in a library, which stubs reach by indirect jumps. Where a processor does not predict these,
 * two of them cost as much as the rest of a call. So each area of stubs begins with a copy of this code, which they reach
 * directly. It does all that a call needs, also one that is off, only counted, too deep, or too short; in rare cases, such as a
 * thread's first call, it jumps to call_entry_begin or call_entry_end.
 *
 * The same for the functions that code compiled with -finstrument-functions calls (hook_instrument.c).
 */
#ifndef BURIN_SOURCE_CALLS_HOOKS_HOOK_NEAR_H
#define BURIN_SOURCE_CALLS_HOOKS_HOOK_NEAR_H

#include <stdint.h>

enum {
	HOOK_NEAR_BYTES = 3072, /* room for the copy */
};

/* Where a copy's parts are, counted from its begin. */
struct hook_near {
	uint64_t begin, end;  /* for stubs */
	uint64_t enter, exit; /* for calls of __cyg_profile_func_enter() and _exit() */
};

/*
 * hook_near_put - write the copy.
 * @area: 64-aligned; it has HOOK_NEAR_BYTES, and stays where it is
 * @begin, @end: addresses of the code for all other cases of these two
 * Context: the process is in its session.
 */
struct hook_near hook_near_put(uint8_t *area, uint64_t begin, uint64_t end);

/* Code compiled with -finstrument-functions calls these. They do all that the copy does, too. */
__attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function, void *caller);
__attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function, void *caller);

#endif
