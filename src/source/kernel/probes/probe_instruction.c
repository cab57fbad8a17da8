/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where instructions begin; see probe_instruction.h. */
#include "source/kernel/probes/probe_instruction.h"
#include "source/kernel/probes/x86_instruction.h"

/* The bytes of the instruction that begins there; 0: it is not understood. */
static unsigned probe_instruction_measure(const uint8_t *code, size_t room)
{
#ifdef __x86_64__
	struct x86_instruction one;

	return x86_instruction_parse(code, room, &one) ? one.bytes : 0;
#else
	(void)code;
	return room < 4 ? 0 : 4;
#endif
}

enum probe_refusal probe_instruction_find(const uint8_t *code, size_t bytes, uint64_t at, uint64_t *begin,
					  uint64_t *next)
{
	*begin = *next = 0;
	if (at >= bytes)
		return PROBE_BEHIND;
	while (*next <= at) {
		const unsigned length = probe_instruction_measure(code + *next, bytes - *next);

		if (!length)
			return PROBE_CODE_UNKNOWN;
		*begin = *next;
		*next += length;
	}
	return *begin == at ? PROBE_TAKEN : PROBE_WITHIN;
}
