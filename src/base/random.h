/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Numbers to draw by, the same in each run: xorshift64*. They are no secret. */
#ifndef BURIN_BASE_RANDOM_H
#define BURIN_BASE_RANDOM_H

#include <stdint.h>

#define RANDOM_BEGIN 88172645463325252u

/* random_next - 48 bits. @state: RANDOM_BEGIN at first */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717u >> 16;
}

#endif
