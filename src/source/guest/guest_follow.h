/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call instructions are instrumented. The others cost nothing. */
#ifndef BURIN_SOURCE_GUEST_GUEST_FOLLOW_H
#define BURIN_SOURCE_GUEST_GUEST_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "source/guest/machines/guest_machine.h"

/*
 * guest_follow - whether the calls of a direct call instruction have to be seen: since its function is selected, or since it
 * is, or calls, a part of an indirect jump, which may go to a selected one (guest_call.h). Where a call may go to a stub
 * (guest_link.h), all have to be.
 * @after: the address behind the instruction
 * Context: the translation of code by a vCPU.
 */
bool guest_follow(const struct guest_machine *machine, uint64_t target, uint64_t after);

/* guest_follow_jump - the same for a jump: whether a function of the recorder's file begins at its target, and is selected. */
bool guest_follow_jump(const struct guest_machine *machine, uint64_t target);

/* guest_follow_forget - the guest's code may be other code now. Context: no vCPU runs. */
void guest_follow_forget(void);

#endif
