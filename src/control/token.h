/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The words of filter expressions. */
#ifndef BURIN_CONTROL_TOKEN_H
#define BURIN_CONTROL_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "control/where.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_NUMBER, /* a character too */
	TOKEN_STRING,
	TOKEN_COMPARISON,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_WRONG, /* the fault is filled in */
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
	size_t offset, bytes;	      /* where it stands */
	long double number;	      /* exact: any integer of 64 bits with its sign, any double */
	char string[WIRE_FILTER_MAX]; /* without its quotes */
	size_t string_bytes;	      /* without NUL */
};

/*
 * token_next - the token that begins at or after text[offset].
 * Return: false: it is TOKEN_WRONG.
 */
bool token_next(const char *text, size_t offset, struct token *token, struct where_fault *fault);

/* where_blame - fill in a fault. Return: false, for whoever returns that. */
bool where_blame(struct where_fault *fault, size_t offset, size_t bytes, const char *message, ...)
	__attribute__((format(printf, 4, 5)));

#endif
