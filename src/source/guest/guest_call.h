/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest's call and return instructions do to its stacks. */
#ifndef BURIN_SOURCE_GUEST_GUEST_CALL_H
#define BURIN_SOURCE_GUEST_GUEST_CALL_H

#include "source/guest/guest_vcpu.h"

/* A call instruction. */
struct guest_site {
	uint64_t address, after; /* of the instruction, and of the one behind it */
	uint64_t target;	 /* 0: the call is indirect */
	uint64_t known; /* image and number of the target when it was called last: image << 32 | number */
};

/* guest_call_begin - before the first instruction. @records: whether calls are recorded from then on. Return: false: no
 * memory. */
bool guest_call_begin(bool records);

/* guest_call_instrument - record the calls of a site, by its only store. */
void guest_call_instrument(struct qemu_instruction *instruction, struct guest_site *site);

/* guest_call_instrument_return, _switch - the same for other instructions. */
void guest_call_instrument_return(struct qemu_instruction *instruction);
void guest_call_instrument_switch(struct qemu_instruction *instruction);

/* guest_call_instrument_mark - calls that begin after this instruction are recorded, or not. */
void guest_call_instrument_mark(struct qemu_instruction *instruction, bool records);

/* guest_call_instrument_target - code that may be the target of an indirect call. */
void guest_call_instrument_target(struct qemu_block *block);

#endif
