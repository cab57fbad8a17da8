/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tokens of filter expressions. */
#ifndef BURIN_FILTER_FILTER_LEXER_H
#define BURIN_FILTER_FILTER_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "filter/filter_error.h"
#include "wire/wire_filter.h"

#define FILTER_FACT  '$'      /* in front of the name of a fact: not a field */
#define FILTER_COUNT ".count" /* behind the name of an array: the number of its elements */

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* perhaps with a $ in front */
	TOKEN_NUMBER, /* or a character */
	TOKEN_STRING,
	TOKEN_COMPARISON,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_BITS,	 /* & */
	TOKEN_REMAINDER, /* % */
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_WRONG, /* the error is set */
};

enum comparison {
	COMPARE_EQ,
	COMPARE_NE,
	COMPARE_LT,
	COMPARE_LE,
	COMPARE_GT,
	COMPARE_GE,
};

struct token {
	enum token_kind kind;
	enum comparison comparison;
	size_t offset, bytes;	      /* in the expression */
	long double number;	      /* exact: any integer of 64 bits with its sign, any double */
	char string[WIRE_FILTER_MAX]; /* without its quotes */
	size_t string_bytes;	      /* without NUL */
};

/*
 * filter_token_next - read the token that begins at or after text[offset].
 * Return: false: it is TOKEN_WRONG.
 */
bool filter_token_next(const char *text, size_t offset, struct token *token, struct filter_error *fault);

#endif
