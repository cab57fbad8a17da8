/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Filter expressions: `len > 1000 && proto == "tcp"` becomes a program for one event (wire/wire_filter.h).
 * burin-enable(1) describes the language.
 */
#ifndef BURIN_FILTER_FILTER_COMPILE_H
#define BURIN_FILTER_FILTER_COMPILE_H

#include <stddef.h>
#include <stdint.h>

#include "filter/filter_error.h"
#include "wire/wire_filter.h"

/*
 * filter_compile - compile an expression.
 * @text: the expression, NUL-terminated
 * @format, @types: of the event; may be invalid
 * @enums: to which the format refers; valid (wire/wire_enum.h)
 * @out: 8-aligned, of @room bytes, at most WIRE_FILTER_MAX; out->bytes is the program's size
 * @fault: set on failure
 *
 * Context: any thread, not a signal handler; no malloc, about 10 KiB of stack at most. The expression may be hostile: its length
 * bounds the time. Numbers are read in the locale and the rounding mode of the thread.
 * Return: 0; -EINVAL: there is an error; -E2BIG: the expression is too long or too deep; -ENOMEM.
 */
int filter_compile(const char *text, const char *format, const char *enums, uint64_t types,
		   struct wire_filter *out, size_t room, struct filter_error *fault);

/* filter_check - check an expression as far as is possible without an event. Return: as filter_compile(). */
int filter_check(const char *text, struct filter_error *fault);

#endif
