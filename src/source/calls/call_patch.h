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
 *	3072	CALL_PATCH_STUB bytes each: stubs, in the order of the object's patches
 *
 * A stub is:	41 bb NUMBER	e8 begin	0f 82 body	e8 body		e9 end	(27 bytes; see hook_entry.h)
 *
 * To patch from outside (ptrace): call_patches of libburin-calls.so lists the objects; struct call_patch has the place, its
 * length and both texts of the code. Threads must be stopped, and none may be inside the instruction, which is only
 * possible for one that is stopped at its first byte.
 */
#ifndef BURIN_SOURCE_CALLS_CALL_PATCH_H
#define BURIN_SOURCE_CALLS_CALL_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/calls/call_area.h"

enum {
	CALL_PATCH_BYTES = 16, /* room for a text; the longest is a sled's, 11 bytes */
	CALL_PATCH_STUB = 32,
	CALL_PATCH_RETURN = 22, /* where in a stub the function returns to */
	CALL_PATCH_OBJECTS = 4096,
};

struct call_patch {
	uint64_t address;  /* of the instruction */
	uint64_t stub;	   /* 0: it has none */
	uint32_t function; /* number in the session; 0: of all of the object, both texts are the same */
	uint8_t bytes;	   /* of the instruction */
	bool on, wanted;   /* wanted: by call_patch_apply(), during a change */
	uint8_t reserved;
	uint8_t off_text[CALL_PATCH_BYTES], on_text[CALL_PATCH_BYTES];
};

struct call_patch_object {
	uint64_t begin, end; /* of the object in memory; end == 0: it was unloaded */
	uint64_t area, area_bytes;
	struct call_patch *patches;
	uint64_t count;
	bool has_slots; /* call_slots.h has seen it */
};

struct call_patches {
	uint64_t objects; /* in use, unloaded ones too */
	struct call_patch_object object[CALL_PATCH_OBJECTS];
};

extern struct call_patches call_patches __attribute__((visibility("default")));

#if defined(__x86_64__)
/*
 * call_patch_load - find and patch objects that have been loaded since the last time, and forget those that are gone.
 * Context: the process is in its session. In a constructor, or another function that may take the dynamic linker's lock.
 */
void call_patch_load(void);

/*
 * call_patch_apply - patch all functions whose switch is not WIRE_CALL_OFF, and no other.
 * Other threads may run the code meanwhile. A call that is open when its function is switched off ends as usual.
 * Context: any thread, not signal-safe. Return: functions that could not be changed; they are as before, and the switch
 * alone decides about their calls: WIRE_CALL_OFF costs some ns, others are not recorded if the function is not patched.
 */
size_t call_patch_apply(void);

/* call_patch_is_stub - whether an address lies in an area of stubs. Context: any. */
bool call_patch_is_stub(uint64_t address);
#else
static inline void call_patch_load(void)
{
}

static inline size_t call_patch_apply(void)
{
	return 0;
}
#endif

#endif
