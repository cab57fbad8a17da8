/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of the guest's call and return instructions on its stacks. */
#ifndef BURIN_SOURCE_GUEST_GUEST_CALL_H
#define BURIN_SOURCE_GUEST_GUEST_CALL_H

#include "source/guest/guest_vcpu.h"
#include "source/guest/guest_x86.h"

/* A call instruction. */
struct guest_site {
	uint64_t address, after; /* of the instruction, and of the one behind it */
	uint64_t target;	 /* of a direct call */
	uint64_t known; /* image and number of the target when it was called last: image << 32 | number */
	unsigned target_register;
};

/* guest_call_wait - record nothing until guest_call_instrument_mark(). Context: before the first instruction. */
void guest_call_wait(void);

/* guest_call_instrument - record the calls of a site, by its only store. @kind: one of the three of calls */
void guest_call_instrument(struct qemu_instruction *instruction, enum guest_kind kind,
			   struct guest_site *site);

/* guest_call_instrument_return, _switch - the same for other instructions. */
void guest_call_instrument_return(struct qemu_instruction *instruction);
void guest_call_instrument_switch(struct qemu_instruction *instruction);

/* guest_call_instrument_mark - calls that begin after this instruction are recorded, or not. */
void guest_call_instrument_mark(struct qemu_instruction *instruction, bool records);

/* guest_call_instrument_snapshot - before this instruction is executed for the first time, the recorder writes a snapshot. */
void guest_call_instrument_snapshot(struct qemu_instruction *instruction);

#endif
