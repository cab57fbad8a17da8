/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's part of a stack; see user_stack.h. */
#include <string.h>

#include <linux/perf_event.h>

#include "source/sample/user_stack.h"

enum {
#ifdef __x86_64__
	USER_STACK_IP = 8, /* which of the registers that are asked for (perf_open.c) is the place */
#else
	USER_STACK_IP = 32,
#endif
};

/* Without an unwinder: the innermost frame, and that nothing more is known. */
unsigned user_stack(const struct record_user *user, const struct sample_process *process, uint64_t *pcs,
		    unsigned max, enum wire_cut *cut)
{
	(void)process;
	if (user->abi != PERF_SAMPLE_REGS_ABI_64 || user->register_count <= USER_STACK_IP || max == 0)
		return 0;
	memcpy(pcs, &user->registers[USER_STACK_IP], sizeof(*pcs));
	*cut = WIRE_CUT_TABLES;
	return 1;
}
