/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rare paths of calls run apart from the program's stack, which may be small: that of a signal handler, or of a coroutine
 * (x86-64). They find a stack in a pool, and give it back.
 *
 * All signals are blocked meanwhile. The kernel knows by the stack pointer whether an alternate stack is in use. So a signal that came
 * while a handler's hook is apart would get the same alternate stack from its begin.
 */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_APART_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_APART_H

#include <stdint.h>

typedef uint64_t call_apart_function(uint64_t first, uint64_t second);

#if defined(__x86_64__) && !defined(CALLS_STATIC)
/*
 * call_apart - call a function on a stack of the pool. It takes two system calls; without the right to make any (ring_silent), or
 * without memory for a stack, as call_here().
 * call_here - call it on this stack, of which it takes 3 KiB more for the vector registers.
 * Both preserve vector registers, which may be arguments or results of the program's functions. Context: any thread, signal
 * handlers. Return: what the function returns.
 */
uint64_t call_apart(call_apart_function *function, uint64_t first, uint64_t second);
uint64_t call_here(call_apart_function *function, uint64_t first, uint64_t second);

/* call_apart_begin - find out how vector registers are saved. Context: before any code is patched. */
void call_apart_begin(void);

/* call_apart_fork - in the child of a fork, which has none of the threads that had a stack. */
void call_apart_fork(void);
#else
/* The hooks are functions of C, whose callers save the vector registers. */
static inline uint64_t call_apart(call_apart_function *function, uint64_t first, uint64_t second)
{
	return function(first, second);
}

static inline void call_apart_begin(void)
{
}

static inline void call_apart_fork(void)
{
}
#endif

#endif
