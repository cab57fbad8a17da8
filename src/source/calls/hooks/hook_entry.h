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
#ifndef BURIN_SOURCE_CALLS_HOOKS_HOOK_ENTRY_H
#define BURIN_SOURCE_CALLS_HOOKS_HOOK_ENTRY_H

#include <stdint.h>

typedef const char call_code[];

extern call_code call_entry_begin, call_entry_end;
extern call_code call_sled_begin, call_sled_end,
	call_sled_tail; /* tail: a jump to another function follows */

/* The same begins in a session whose clock is not the processor's counter. */
extern call_code call_entry_begin_other, call_sled_begin_other;

#if defined(__x86_64__) && !defined(CALLS_STATIC)
/*
 * call_returns_restore, call_returns_replace - the real return addresses of this stack's open calls stand where ours do, and from then on ours
 * again. Calls may end between.
 * call_returns_in_child - the second, in the child of a fork, whose parent may have changed the frames that were copied.
 * call_returns_put_back - the first, in a child that has its parent's frames. @slot, Return: as call_notice()
 */
void call_returns_restore(void);
void call_returns_replace(void);
void call_returns_in_child(void);
uint64_t call_returns_put_back(uint64_t slot);
#else
static inline void call_returns_restore(void)
{
}

static inline void call_returns_replace(void)
{
}

static inline void call_returns_in_child(void)
{
}

static inline uint64_t call_returns_put_back(uint64_t slot)
{
	(void)slot;
	return 0;
}
#endif

#endif
