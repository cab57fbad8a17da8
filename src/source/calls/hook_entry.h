/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The code that patched functions call at their begin and end (x86-64). call_patch.h has the way there.
 *
 * A function's entry jumps to its stub, which has the function's number:
 *
 *	movl  $number, %r11d
 *	call  begin           call_entry_begin: opens the frame, drops the function's return address; carry: does neither
 *	jc    body
 *	call  body             so the stub's address stands where the caller's stood, and arguments on the stack where they were
 *	jmp   end             call_entry_end: closes the frame, returns to the caller
 *
 * Each call has its return, so the processor predicts all of them. Return addresses are replaced while a call is open;
 * hook_unwind.c restores them for all who read the stack.
 *
 * XRay's sleds are at the begin and at each end of a function. They set %r11d to the number, and reach call_sled_*.
 *
 * These are code, not functions of C: they preserve all registers that a function's arguments or results can be in, and
 * the vector registers. The fast path has no instruction that touches these; slow functions are called by call_apart.h.
 */
#ifndef BURIN_SOURCE_CALLS_HOOK_ENTRY_H
#define BURIN_SOURCE_CALLS_HOOK_ENTRY_H

#include <stdint.h>

typedef const char call_code[];

extern call_code call_entry_begin, call_entry_end;
extern call_code call_sled_begin, call_sled_end,
	call_sled_tail; /* tail: a jump to another function follows */

/* The same begins in a session whose clock is not the processor's counter. */
extern call_code call_entry_begin_other, call_sled_begin_other;

#if defined(__x86_64__) && !defined(CALLS_STATIC)
/* call_returns_begin - prepare hook_unwind.c. Context: after call_stack_begin(), whose handler of forks must come first. */
void call_returns_begin(void);
#else
static inline void call_returns_begin(void)
{
}
#endif

#endif
