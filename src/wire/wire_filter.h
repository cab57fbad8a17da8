/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The filter: a small program that decides by a payload whether the event is recorded (docs/format.md, "Filters"). A
 * header, then tests, then the texts that tests compare with.
 *
 * Each instruction is a test with two targets, one if it holds and one if not. A target is a later test or the verdict,
 * so every program ends. Numbers of all types are tested in one way, as unsigned numbers of their width: is (value -
 * low) modulo 2^width at most `span`? Any of == < <= > >= with a constant is such a range, signed or not; != is == with
 * its targets exchanged. Floating-point numbers are first mapped to integers of the same order (filter_key32,
 * filter_key64), so the traced program's rounding, denormals and exception flags neither matter nor change.
 *
 * A test of bits, of a remainder or of two operands takes two places: a struct wire_filter_more lies behind it.
 */
#ifndef BURIN_WIRE_WIRE_FILTER_H
#define BURIN_WIRE_WIRE_FILTER_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_FILTER_MAX = 512,	/* bytes of a program */
	WIRE_FILTER_ALIGN = 64, /* its size is a multiple of it */

	/* targets that are not tests */
	WIRE_FILTER_NO = 254,
	WIRE_FILTER_YES = 255,
};

/* An operation plus the source of its operand. */
enum wire_filter_op {
	WIRE_FILTER_8, /* an integer of 8, 16, 32, 64 bits: within the range */
	WIRE_FILTER_16,
	WIRE_FILTER_32,
	WIRE_FILTER_64,
	WIRE_FILTER_F32, /* a floating-point number: its key is within the range */
	WIRE_FILTER_F64,
	WIRE_FILTER_TEXT, /* a string: equal to the text */
	WIRE_FILTER_GLOB, /* a string: the text, a glob, matches it */
	WIRE_FILTER_OPS,

	WIRE_FILTER_FIXED = 0, /* in the payload at `offset`: no argument of variable size comes before */
	WIRE_FILTER_WALK = 8,  /* in the payload: argument `arg`, found by walking over those before */
	/* In struct filter_subject at `offset`; with WIRE_FILTER_32, _64 for correlation, _TEXT and _GLOB for names. */
	WIRE_FILTER_SUBJECT = 16,
	WIRE_FILTER_ANY = 24, /* in the payload: any element of array `arg`, found by walking */
	WIRE_FILTER_COUNT =
		32, /* in the payload: the count of array or bytes `arg`, found by walking; with WIRE_FILTER_16 */
	WIRE_FILTER_PLACES = 40,

	WIRE_FILTER_MORE = 64, /* a struct wire_filter_more follows */
};

struct wire_filter_test {
	uint8_t op;	   /* enum wire_filter_op */
	uint8_t arg;	   /* number of the argument, from 0; 0 of the subject */
	uint8_t then;	   /* target if the test holds: a later test, WIRE_FILTER_YES or WIRE_FILTER_NO */
	uint8_t otherwise; /* target if it does not */
	uint16_t offset;   /* bytes; 0 if the operand is found by walking */
	uint16_t reserved;
	uint64_t low;  /* start of the range; or offset of the text from the header's start, bytes */
	uint64_t span; /* end of the range - low; or bytes of the text with its NUL */
};

enum wire_filter_relation {
	WIRE_FILTER_IN_RANGE, /* of `low` and `span`, as an integer of 64 bits; there is no other operand */
	WIRE_FILTER_EQUAL,    /* to the other operand; two texts have only this one */
	WIRE_FILTER_LESS,     /* than the other operand */
	WIRE_FILTER_LESS_EQUAL,
	WIRE_FILTER_GREATER,
	WIRE_FILTER_GREATER_EQUAL,
	WIRE_FILTER_RELATIONS
};

/* A change of the test's operand, an integer, before it is compared. */
enum wire_filter_change {
	WIRE_FILTER_AS_IS,
	WIRE_FILTER_AND,       /* its bits that are 1 in `by` */
	WIRE_FILTER_REMAINDER, /* of its division by `by`, an unsigned number; it has the sign of the operand */
	WIRE_FILTER_CHANGES
};

/* The second half of a test, in the place of the next one. */
struct wire_filter_more {
	uint8_t op;  /* of the other operand: as of a test, without ANY, GLOB and MORE; 0 if there is none */
	uint8_t arg; /* of the other operand */
	uint8_t relation;		  /* enum wire_filter_relation */
	uint8_t change;			  /* enum wire_filter_change */
	uint16_t offset;		  /* of the other operand */
	uint8_t has_sign, other_has_sign; /* 1: the operand is extended to 64 bits by its sign */
	uint64_t by;			  /* 0 without a change */
	uint64_t reserved;
};

struct wire_filter {
	uint32_t checksum; /* FNV-1a, in 32 bits, of the rest of the program */
	uint16_t bytes;	   /* of the program, a multiple of WIRE_FILTER_ALIGN */
	uint16_t tests;	   /* how many, with second halves; at least 1 */
	uint64_t types;	   /* of the event for which it was compiled, as in struct wire_event */
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
static_assert(sizeof(struct wire_filter_more) == sizeof(struct wire_filter_test), "wire_filter_more");
static_assert(offsetof(struct wire_filter_more, offset) == 4, "wire_filter_more.offset");
static_assert(offsetof(struct wire_filter_more, by) == 8, "wire_filter_more.by");
static_assert((int)WIRE_FILTER_TESTS_MAX <= (int)WIRE_FILTER_NO, "a test's number is not a verdict");

/*
 * The bits of a floating-point number as an integer with the same order: negative NaNs, -inf, ..., -0, +0, ...,
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

#endif
