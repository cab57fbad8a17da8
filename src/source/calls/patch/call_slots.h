/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls of library functions, in programs that have no hooks (x86-64).
 *
 * An object calls functions of other objects through slots: words with their addresses, which the dynamic linker fills. Here
 * each slot is pointed at a stub, which opens and closes the call as that of a patched function (hook_entry.h). A function
 * has one stub, however many slots lead to it:
 *
 *	movl $number, %r11d;  call begin;  jc 1f;  call *target;  jmp end;  1: jmp *target;  target
 *
 * A slot that is not resolved yet is resolved here: otherwise the dynamic linker would overwrite it at its first call.
 *
 * Slots stay as they are if the function returns twice or to another place (setjmp, vfork, swapcontext), reads its return
 * address (dlopen, dlsym), or unwinds; and if the slot is also read as data: it is a pointer to the function, which programs
 * compare.
 */
#ifndef BURIN_SOURCE_CALLS_PATCH_CALL_SLOTS_H
#define BURIN_SOURCE_CALLS_PATCH_CALL_SLOTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether a function, by its address and number, has a hook, which records its calls already. */
typedef bool call_slots_patched(uint64_t address, uint32_t number);

/*
 * call_slots_load - point an object's slots at stubs, except those of functions with hooks. Slots that could not be are counted in the session.
 * Context: a constructor, before other threads run the object's code.
 */
void call_slots_load(const struct dl_phdr_info *object, call_slots_patched *is_patched);

/* call_slots_forget - an object from @begin to @end was unloaded: other functions may come to lie there. Context: as above. */
void call_slots_forget(uint64_t begin, uint64_t end);

/* call_slots_is_stub - whether an address lies in an area of these stubs. Context: any. */
bool call_slots_is_stub(uint64_t address);

#endif
