/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Native stacks: the memory that a thread runs on. Each has a stack of frames of its own.
 *
 * Usually a thread has one, its home. makecontext() makes others, on which any thread may run. All that leaves frames
 * without returning from them, or goes to another native stack, is known by one number: the stack pointer that it sets.
 */
#ifndef BURIN_SOURCE_CALLS_STACK_CALL_NATIVE_H
#define BURIN_SOURCE_CALLS_STACK_CALL_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/wire_call.h"

/* The memory of a native stack that makecontext() made. */
struct call_native {
	uint64_t low, high;	     /* its bytes */
	struct wire_call_frame *top; /* while no thread runs on it: its next free frame */
	uint32_t stack;		     /* number in the session */
	uint32_t pid;		     /* of the process that owns the frames: after a fork not this one */
};

/*
 * call_native_make - a context will begin at the upper end of this memory. Calls that were on it before have ended.
 * Context: any thread, not in signal handlers: may allocate, at the first time.
 */
void call_native_make(const void *memory, size_t bytes);

/*
 * call_native_move - the thread's stack pointer will become `sp`. Switch to the stack that it lies on, and end the calls below
 * it there.
 * Context: any thread, signal handlers.
 */
void call_native_move(uint64_t sp);

/*
 * call_native_target, call_native_jump - the innermost function calls setjmp; a longjmp sets a stack pointer.
 * Functions that were inlined into the one with setjmp have its stack pointer, but end by the longjmp. No compiler inlines a
 * function that calls setjmp, so all those above it end.
 * Context: any thread, signal handlers.
 */
void call_native_target(void);
void call_native_jump(uint64_t sp);

/* call_native_fork - in the child of a fork. Return: the number that its current stack gets; 0: any. */
uint32_t call_native_fork(void);

/* call_native_leave - the thread ends: its calls on the current stack have ended, and it goes home. */
void call_native_leave(void);

#endif
