/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of this process whose code can be changed, so that it calls hook_entry.h (x86-64).
 *
 * Code is patched when an object is loaded, before its constructors run: functions that are to be recorded get a jump to
 * their stub, all others one NOP. So each later change replaces one instruction by one of the same length.
 *
 * Near each object, within the reach of a jump, lies an area of code with its stubs. Nothing there changes afterwards:
 *
 *	   0	8 bytes each: the addresses of call_entry_begin, call_entry_end, call_sled_begin, call_sled_end, call_sled_tail
 *	  64	8 bytes each: jumps through the last three, which sleds reach
 *	 128	a copy of the code of hook_near.h
 *	3200	CALL_PATCH_STUB bytes each: stubs, in the order of the object's patches
 *
 * A stub is:	41 bb NUMBER	e8 begin	0f 82 body	e8 body		e9 end	(27 bytes; see hook_entry.h)
 *
 * Code changes later only from outside, by a command: call_patches is its table (wire/wire_patch.h).
 */
#ifndef BURIN_SOURCE_CALLS_PATCH_CALL_PATCH_H
#define BURIN_SOURCE_CALLS_PATCH_CALL_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "source/calls/patch/call_area.h"
#include "wire/wire_patch.h"

enum {
	CALL_PATCH_STUB = 32,
	CALL_PATCH_RETURN = 22, /* where in a stub the function returns to */
};

extern struct wire_patches call_patches __attribute__((visibility("default")));

#if defined(__x86_64__) && !defined(CALLS_STATIC)
/*
 * call_patch_load - find and patch objects that have been loaded since the last time, and forget those that are gone.
 * Context: the process is in its session. In a constructor, or another function that may take the dynamic linker's lock.
 */
void call_patch_load(void);

/*
 * call_patch_startup - let all objects that are loaded from now on call @ours, which is __gmon_start__(). A program that was linked with -pg has
 * a function of that name; it is found first if the linker has exported it, and then does nothing a second time.
 * Context: no other thread runs.
 */
void call_patch_startup(const void *ours);

/*
 * call_patch_attaching - before and after call_patch_load() in a program whose threads run already: code that they may be inside
 * stays as it is, and is only prepared.
 */
void call_patch_attaching(bool runs);

/* call_patch_is_stub - whether an address lies in an area of stubs. Context: any. */
bool call_patch_is_stub(uint64_t address);
#else
static inline void call_patch_load(void)
{
}

static inline void call_patch_startup(const void *ours)
{
	(void)ours;
}

static inline void call_patch_attaching(bool runs)
{
	(void)runs;
}
#endif

#endif
