/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Errors of filter expressions, for the user. */
#ifndef BURIN_FILTER_FILTER_ERROR_H
#define BURIN_FILTER_FILTER_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An error in an expression. */
struct filter_error {
	size_t offset; /* in the expression */
	size_t bytes;  /* 0: at its end, or not in the expression */
	char message[400];
};

/* filter_error_set - set the error. Return: always false, so that callers can return it. */
bool filter_error_set(struct filter_error *fault, size_t offset, size_t bytes, const char *message, ...)
	__attribute__((format(printf, 4, 5)));

/* filter_error_print - print the expression, safe for a terminal, and a mark under the error. */
void filter_error_print(FILE *file, const char *text, const struct filter_error *fault);

#endif
