/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Comparisons of a number with a constant as ranges of integers (wire/filter.h). */
#ifndef BURIN_CONTROL_RANGE_H
#define BURIN_CONTROL_RANGE_H

#include "control/token.h"

enum range_kind {
	RANGE_NEVER,
	RANGE_ALWAYS,
	RANGE_TEST,
};

struct range {
	enum range_kind kind;
	uint64_t low;
	uint64_t span;
};

/*
 * range_of - the values of a type that compare so with a constant; exactly, whatever the two are.
 * @type: a number's (enum wire_type)
 * @comparison: not COMPARE_NE, which is the contrary of COMPARE_EQ
 */
struct range range_of(unsigned type, enum comparison comparison, long double constant);

#endif
