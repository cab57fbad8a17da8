/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The filter: a small program that says of a payload whether it is to be recorded (docs/format.md,
 * "Filters"). A header, then tests, then the texts that tests compare with.
 *
 * There is one kind of instruction: a test, and where to go on if it holds and if it does not. Going on leads
 * to a later test or to the verdict, so every program ends. Numbers of all types are tested in one way: taken
 * as an unsigned number of their width, is (value - low) modulo 2^width at most `span`? Any of == < <= > >=
 * with a constant is such a range, whether the type has a sign or not; != is == with its two ways exchanged.
 * Floating-point numbers are first mapped to integers of the same order (filter_key32, filter_key64), so that
 * a traced program's rounding, denormals and exception flags neither matter nor change.
 */
#ifndef BURIN_WIRE_FILTER_H
#define BURIN_WIRE_FILTER_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_FILTER_MAX = 512,	/* bytes of a program */
	WIRE_FILTER_ALIGN = 64, /* its size is a multiple of it */

	/* where to go on, besides numbers of tests */
	WIRE_FILTER_NO = 254,
	WIRE_FILTER_YES = 255,
};

/* What is tested: one of the operations, and where the number or the string lies, which is added to it. */
enum wire_filter_op {
	WIRE_FILTER_8, /* an integer of 8, 16, 32, 64 bits: within the range */
	WIRE_FILTER_16,
	WIRE_FILTER_32,
	WIRE_FILTER_64,
	WIRE_FILTER_F32, /* a floating-point number: its key is */
	WIRE_FILTER_F64,
	WIRE_FILTER_TEXT, /* a string: the same as the text */
	WIRE_FILTER_GLOB, /* a string: the text, a glob, matches it */
	WIRE_FILTER_OPS,

	WIRE_FILTER_FIXED = 0, /* in the payload at `offset`: no argument of variable size comes before */
	WIRE_FILTER_WALK = 8,  /* in the payload: argument `arg`, to be walked to */
	WIRE_FILTER_SUBJECT =
		16, /* in struct filter_subject at `offset`; WIRE_FILTER_32, and _64 for correlation */
};

struct wire_filter_test {
	uint8_t op;   /* enum wire_filter_op */
	uint8_t arg;  /* number of the argument, from 0; 0 of the subject */
	uint8_t then; /* number of a later test, WIRE_FILTER_YES or WIRE_FILTER_NO: if the test holds ... */
	uint8_t otherwise; /* ... and if not */
	uint16_t offset;   /* bytes; 0 if walked to */
	uint16_t reserved;
	uint64_t low;  /* a range's beginning; or where the text is, bytes from the header's start */
	uint64_t span; /* the range's end - low; the text's bytes with its NUL */
};

struct wire_filter {
	uint32_t checksum; /* filter_checksum() of all that follows */
	uint16_t bytes;	   /* of the program, a multiple of WIRE_FILTER_ALIGN */
	uint16_t tests;	   /* how many; at least 1 */
	uint64_t types;	   /* of the event that it was compiled for, as in struct wire_event */
	uint16_t prefix;   /* bytes of the arguments before the first of variable size */
	uint16_t reserved[3];
	struct wire_filter_test test[];
};

enum {
	WIRE_FILTER_TESTS_MAX =
		(WIRE_FILTER_MAX - sizeof(struct wire_filter)) / sizeof(struct wire_filter_test),
};

static_assert(sizeof(struct wire_filter) == 24, "wire_filter");
static_assert(offsetof(struct wire_filter, bytes) == 4, "wire_filter.bytes");
static_assert(offsetof(struct wire_filter, types) == 8, "wire_filter.types");
static_assert(offsetof(struct wire_filter, prefix) == 16, "wire_filter.prefix");
static_assert(sizeof(struct wire_filter_test) == 24, "wire_filter_test");
static_assert(offsetof(struct wire_filter_test, offset) == 4, "wire_filter_test.offset");
static_assert(offsetof(struct wire_filter_test, low) == 8, "wire_filter_test.low");
static_assert(offsetof(struct wire_filter_test, span) == 16, "wire_filter_test.span");
static_assert((int)WIRE_FILTER_TESTS_MAX <= (int)WIRE_FILTER_NO, "a test's number is not a verdict");

/*
 * The bits of a floating-point number as an integer that has its order: negative NaNs, -inf, ..., -0, +0, ...,
 * +inf, NaNs.
 */
static inline uint32_t filter_key32(uint32_t bits)
{
	return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static inline uint64_t filter_key64(uint64_t bits)
{
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* FNV-1a of a program's bytes behind its checksum. */
static inline uint32_t filter_checksum(const void *program, size_t bytes)
{
	const unsigned char *byte = (const unsigned char *)program;
	uint32_t hash = 2166136261u;

	for (size_t at = sizeof(uint32_t); at < bytes; at++)
		hash = (hash ^ byte[at]) * 16777619u;
	return hash;
}

#endif
