/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Running filters (wire/filter.h). A program comes from shared memory, which anybody may scribble upon: copy
 * it into private memory first, verify the copy, and run nothing but the copy.
 */
#ifndef BURIN_SESSION_FILTER_H
#define BURIN_SESSION_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "wire/filter.h"

/* Who passes the tracepoint: what a filter can ask for besides the payload. */
struct filter_subject {
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t depth; /* 0 where the session does not count it */
	uint64_t correlation;
};

/*
 * filter_verify - whether a program is sound, that is, whether filter_passes() may run it.
 * @program: private memory, 8-aligned, that nobody else writes to
 * @room: bytes there are
 * @types: of the event that it is for
 *
 * Context: any, signal-safe.
 * Return: 0; -EINVAL: it is not a program; -EBADMSG: its checksum is wrong, it may be half written; -ESTALE: it
 * is for other types.
 */
int filter_verify(const void *program, size_t room, uint64_t types);

/* filter_op - the operation on arguments of a type, WIRE_FILTER_OPS if there is none; strings know
 * WIRE_FILTER_GLOB as well. */
unsigned filter_op(unsigned type);

/*
 * filter_offset - bytes in a payload of the arguments before one, or before the first of variable size.
 * @arg: number, from 0; may be one behind the last
 * @fixed: set: whether it is the former
 */
unsigned filter_offset(uint64_t types, unsigned arg, bool *fixed);

/*
 * filter_passes - whether a payload is to be recorded.
 * @filter: verified
 * @payload: private memory; of the types that the filter was verified for, but if it is not, nothing is read
 * behind @payload_bytes, and a test of an argument that is not there does not hold
 *
 * Context: any, signal-safe; touches neither errno nor the floating-point unit. A glob takes at most its bytes * the string's steps.
 */
bool filter_passes(const struct wire_filter *filter, const void *payload, uint32_t payload_bytes,
		   const struct filter_subject *subject);

/*
 * Eight bytes as two halves. Tracepoints store payloads a word at a time, the first beginning in the middle of
 * one, and a load that spans two words just stored has to wait for both.
 */
static inline uint64_t filter_load64(const char *at)
{
	uint64_t low = number_load32(at), high;

	__asm__("" : "+r"(low)); /* or the compiler makes one load of them */
	high = number_load32(at + 4);
	return high << 32 | low;
}

/*
 * filter_quick - the same for a filter that asks for integers at fixed places only, as fast as may be: about a
 * nanosecond for each, no calls.
 * Return: WIRE_FILTER_YES; WIRE_FILTER_NO; anything else: ask filter_passes().
 */
static inline __attribute__((always_inline)) unsigned
filter_quick(const struct wire_filter *filter, const char *payload, uint32_t payload_bytes)
{
	unsigned next = 0;

	if (__builtin_expect(payload_bytes < filter->prefix, 0))
		return WIRE_FILTER_NO;
	do {
		const struct wire_filter_test *test = &filter->test[next];
		const char *at = payload + test->offset;
		bool holds;

		if (test->op == WIRE_FILTER_32)
			holds = (uint32_t)(number_load32(at) - test->low) <= test->span;
		else if (test->op == WIRE_FILTER_64)
			holds = filter_load64(at) - test->low <= test->span;
		else if (test->op == WIRE_FILTER_8)
			holds = (uint8_t)(*(const uint8_t *)at - test->low) <= test->span;
		else if (test->op == WIRE_FILTER_16)
			holds = (uint16_t)(number_load16(at) - test->low) <= test->span;
		else
			return next;
		next = holds ? test->then : test->otherwise;
	} while (next < WIRE_FILTER_NO);
	return next;
}

#endif
