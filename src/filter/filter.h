/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Verify and run filters (wire/wire_filter.h). A program comes from shared memory, which other processes may corrupt:
 * copy it to private memory first, verify the copy, and run only the copy.
 */
#ifndef BURIN_FILTER_FILTER_H
#define BURIN_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash.h"
#include "base/number.h"
#include "wire/wire_filter.h"

/*
 * The thread at the tracepoint: facts that a filter can test besides the payload. Their offsets are in programs. A name that
 * is not known is WIRE_NULL, or a null pointer if the filter does not test it.
 */
struct filter_subject {
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t depth; /* 0 if the session does not count it */
	uint64_t correlation;
	const char *thread;  /* the kernel's name of the thread, of 15 bytes at most */
	const char *program; /* the last part of the executable file's path */
};

static_assert(offsetof(struct filter_subject, thread) == 24 && sizeof(struct filter_subject) == 40,
	      "filter_subject");

/* Facts of the subject, as bits. */
enum filter_fact {
	FILTER_PID = 1 << 0,
	FILTER_TID = 1 << 1,
	FILTER_CPU = 1 << 2,
	FILTER_DEPTH = 1 << 3,
	FILTER_CORRELATION = 1 << 4,
	FILTER_THREAD = 1 << 5,
	FILTER_PROGRAM = 1 << 6,
	FILTER_NAMES = FILTER_THREAD | FILTER_PROGRAM,
};

/* filter_facts - the facts that a verified filter tests: enum filter_fact, or'ed. One that is constant tests none. */
unsigned filter_facts(const struct wire_filter *filter);

/* filter_fact_offset - where struct filter_subject has a fact. */
uint8_t filter_fact_offset(unsigned fact);

/* filter_fact_name - the name of a fact in expressions. @fact: one of enum filter_fact */
const char *filter_fact_name(unsigned fact);

/* filter_checksum - of a program's bytes behind its checksum. */
static inline uint32_t filter_checksum(const void *program, size_t bytes)
{
	const size_t own = sizeof(((const struct wire_filter *)program)->checksum);

	return hash_stable((const char *)program + own, bytes < own ? 0 : bytes - own);
}

/*
 * filter_verify - check whether filter_passes() may run a program.
 * @program: private memory, 8-aligned, which no other thread writes
 * @room: bytes of that memory
 * @types: of the event
 *
 * Context: any, signal-safe.
 * Return: 0; -EINVAL: it is not a program; -EBADMSG: its checksum is wrong, perhaps it is half written; -ESTALE: it is
 * for other types.
 */
int filter_verify(const void *program, size_t room, uint64_t types);

/* filter_source - where the operand of a test is: WIRE_FILTER_FIXED, ... */
static inline unsigned filter_source(const struct wire_filter_test *test)
{
	return (test->op & ~(unsigned)WIRE_FILTER_MORE) / WIRE_FILTER_OPS * WIRE_FILTER_OPS;
}

/* filter_more - the second half of a test; NULL: it has none. */
static inline const struct wire_filter_more *filter_more(const struct wire_filter_test *test)
{
	return test->op & WIRE_FILTER_MORE ? (const struct wire_filter_more *)(const void *)(test + 1) : NULL;
}

/* filter_other - the other operand of a test, as a test of its own, so that it can be found. @more: has one */
static inline struct wire_filter_test filter_other(const struct wire_filter_more *more)
{
	return (struct wire_filter_test){ .op = more->op, .arg = more->arg, .offset = more->offset };
}

/* filter_step - the places that a test takes. */
static inline unsigned filter_step(const struct wire_filter_test *test)
{
	return test->op & WIRE_FILTER_MORE ? 2 : 1;
}

/* filter_op - the operation on arguments of a type; WIRE_FILTER_OPS: none. Strings also have WIRE_FILTER_GLOB. */
unsigned filter_op(unsigned type);

/*
 * filter_offset - bytes of the arguments before argument @arg, or before the first of variable size.
 * @arg: number, from 0; may be one behind the last
 * @fixed: receives true if no argument before @arg is of variable size
 */
unsigned filter_offset(uint64_t types, unsigned arg, bool *fixed);

/*
 * filter_passes - whether a filter accepts a payload.
 * @filter: verified
 * @payload: private memory, of the types for which the filter was verified. If it is not, no byte behind @payload_bytes
 * is read, and a test of a missing argument does not hold
 *
 * Context: any, signal-safe; changes neither errno nor the floating-point unit. A glob takes at most (bytes of the glob)
 * * (bytes of the string) steps.
 */
bool filter_passes(const struct wire_filter *filter, const void *payload, uint32_t payload_bytes,
		   const struct filter_subject *subject);

/*
 * Load eight bytes as two halves. Tracepoints store payloads in whole words, and the payload begins in the middle of a
 * word. A load that spans two recent stores would wait for both.
 */
static inline uint64_t filter_load64(const char *at)
{
	uint64_t low = number_load32(at), high;

	__asm__("" : "+r"(low)); /* otherwise the compiler combines the two loads */
	high = number_load32(at + 4);
	return high << 32 | low;
}

/*
 * filter_quick - the fast version for filters that test only integers at fixed offsets: about a nanosecond per test, no
 * calls.
 * Return: WIRE_FILTER_YES; WIRE_FILTER_NO; any other value: call filter_passes().
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
