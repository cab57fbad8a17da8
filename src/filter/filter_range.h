/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Comparisons of a number with a constant as ranges of integers (wire/wire_filter.h). */
#ifndef BURIN_FILTER_FILTER_RANGE_H
#define BURIN_FILTER_FILTER_RANGE_H

#include "filter/filter_lexer.h"

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
 * range_of - the exact range of the values for which a comparison with a constant is true.
 * @type: of a number (enum wire_type)
 * @comparison: not COMPARE_NE; negate COMPARE_EQ instead
 */
struct range range_of(unsigned type, enum comparison comparison, long double constant);

#endif
