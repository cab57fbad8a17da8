/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The places where a function returns: its return instructions.
 *
 * The kernel's own return probes put another return address on the stack. Where something unwinds through it, an exception or Go's
 * runtime, the program ends. A probe at the return instructions changes nothing; but a function that ends by a jump to another
 * function (a tail call) has none there.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_RETURNS_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_RETURNS_H

#include <stddef.h>
#include <stdint.h>

enum {
	PROBE_RETURNS_MAX = 512, /* of a function */
	PROBE_JUMPS_MAX = 512,
	PROBE_CODE_MAX = 1 << 20,
};

/* Why a function, or its returns, cannot be probed. */
enum probe_refusal {
	PROBE_TAKEN,
	PROBE_WITHOUT_SIZE,
	PROBE_CODE_UNKNOWN,
	PROBE_LEAVES,
	PROBE_NEVER_RETURNS,
	PROBE_CHOSEN_AT_LOAD,
	PROBE_WITHIN,
	PROBE_BEHIND,
	PROBE_NO_CODE,
	PROBE_REFUSALS
};

extern const char *const probe_refusals[PROBE_REFUSALS]; /* phrases: "it ..." */

/* The returns and jumps of a piece of code; offsets from its begin. */
struct probe_returns {
	uint32_t returns[PROBE_RETURNS_MAX];
	unsigned count;
	int64_t jumps
		[PROBE_JUMPS_MAX]; /* to places outside of it: another part of the function, or another function */
	unsigned jump_count;
};

/* probe_returns_find - Return: PROBE_TAKEN; PROBE_CODE_UNKNOWN; PROBE_LEAVES: by an address that it computes. */
enum probe_refusal probe_returns_find(const uint8_t *code, size_t bytes, struct probe_returns *out);

#endif
