/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that code compiled with -finstrument-functions calls at the begin and end of each function.
 *
 * gcc also calls the second when an exception leaves a function, clang does not; then, and after a longjmp, the next end
 * below closes the calls (call_end_slow()).
 */
#include "source/calls/call_thread.h"

#define HOOK __attribute__((visibility("default")))

HOOK void __cyg_profile_func_enter(void *function, void *caller);
HOOK void __cyg_profile_func_exit(void *function, void *caller);

static inline uint64_t stack_pointer(void)
{
	return (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	uint32_t number;

	(void)caller;
	if (*call_site->state == WIRE_OFF)
		return;
	number = call_function_find((uint64_t)(uintptr_t)function);
	if (call_switches[number] != WIRE_CALL_OFF)
		call_begin(number, (uint64_t)(uintptr_t)function, stack_pointer());
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	call_end((uint64_t)(uintptr_t)function, stack_pointer());
}
