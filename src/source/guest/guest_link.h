/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same as guest_call.h where calls leave the return address in a register. */
#ifndef BURIN_SOURCE_GUEST_GUEST_LINK_H
#define BURIN_SOURCE_GUEST_GUEST_LINK_H

#include "source/guest/guest_open.h"

/* guest_link_begin - before the first of the following. Return: false: no memory. */
bool guest_link_begin(void);

/* guest_link_instrument_tail - a jump to the begin of a function. */
void guest_link_instrument_tail(struct qemu_instruction *instruction, struct guest_site *site);

/* guest_link_instrument, _return, _jump - record the calls of a site, and their ends. A jump's site has the address of its
 * stub. */
void guest_link_instrument(struct qemu_instruction *instruction, struct guest_site *site);
void guest_link_instrument_return(struct qemu_instruction *instruction, struct guest_site *site);
void guest_link_instrument_jump(struct qemu_instruction *instruction, struct guest_site *site);

/* guest_link_instrument_sp - an instruction that changes the stack pointer. */
void guest_link_instrument_sp(struct qemu_instruction *instruction, const struct guest_instruction *found);

#endif
