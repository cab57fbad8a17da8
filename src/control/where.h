/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Filter expressions: `len > 1000 && proto == "tcp"` becomes a program for one event (wire/filter.h). The
 * language is told in burin-enable(1).
 */
#ifndef BURIN_CONTROL_WHERE_H
#define BURIN_CONTROL_WHERE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/filter.h"

/* What is wrong with an expression, and where. */
struct where_fault {
	size_t offset; /* bytes from the beginning of the expression */
	size_t bytes;  /* 0: at its end, or the fault is not in the expression */
	char message[400];
};

/*
 * where_compile - an expression to a program.
 * @text: the expression, NUL-terminated
 * @format, @types: the event's; need not come from a friend
 * @out: 8-aligned, WIRE_FILTER_MAX bytes or @room; the program's size is out->bytes
 * @fault: filled in on failure
 *
 * Context: the controlling command; allocates nothing.
 * Return: 0; -EINVAL: there is a fault; -E2BIG: the same, it is too long or too deep.
 */
int where_compile(const char *text, const char *format, uint64_t types, struct wire_filter *out, size_t room,
		  struct where_fault *fault);

/* where_print_fault - two lines: the expression, safe for a terminal, and a mark under the place. */
void where_print_fault(FILE *file, const char *text, const struct where_fault *fault);

#endif
