/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of call and return instructions on the guest's stacks, where calls store the return address on the stack. */
#ifndef BURIN_SOURCE_GUEST_GUEST_CALL_H
#define BURIN_SOURCE_GUEST_GUEST_CALL_H

#include "source/guest/guest_open.h"

/* guest_call_instrument - record the calls of a site, by its only store. @is_shared: see guest_options_is_shared() */
void guest_call_instrument(struct qemu_instruction *instruction, struct guest_site *site, bool is_shared);

/* guest_call_instrument_return, _return_far, _switch - the same for other instructions. */
void guest_call_instrument_return_far(struct qemu_instruction *instruction);
void guest_call_instrument_return(struct qemu_instruction *instruction, bool is_shared);
void guest_call_instrument_switch(struct qemu_instruction *instruction);

/* guest_call_instrument_tail - a jump to the begin of a function. */
void guest_call_instrument_tail(struct qemu_instruction *instruction, struct guest_site *site);

/* guest_call_instrument_jump - an instruction that loads the stack pointer. @next: the one behind it in its block; NULL: none */
void guest_call_instrument_jump(struct qemu_instruction *instruction, struct qemu_instruction *next);

/* guest_call_instrument_mark - calls that begin after this instruction are recorded, or not. */
void guest_call_instrument_mark(struct qemu_instruction *instruction, bool records);

/* guest_call_instrument_snapshot - before this instruction is executed for the first time, the recorder writes a snapshot. */
void guest_call_instrument_snapshot(struct qemu_instruction *instruction);

#endif
