/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The enums that an event's format refers to (docs/format.md, "Enums"), as text: a line for each, its name and then
 * LABEL=VALUE for each value, separated by one blank:
 *
 *	methods GET=0 POST=1
 */
#ifndef BURIN_WIRE_WIRE_ENUM_H
#define BURIN_WIRE_WIRE_ENUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_ENUM_LABEL_MAX = 63, /* bytes of a label and of an enum's name */
};

struct wire_label {
	const char *text; /* not NUL-terminated */
	size_t bytes;
	int64_t value;
};

/* wire_enum_valid - whether a text has that form and is not too long. All other functions need a valid text. */
bool wire_enum_valid(const char *text);

/*
 * wire_enum_find - find an enum.
 * @text: valid; "" has no enum
 * @name: not NUL-terminated
 * Return: where its labels begin, for wire_enum_next(); NULL: it is not there.
 */
const char *wire_enum_find(const char *text, const char *name, size_t bytes);

/* wire_enum_next - read the next label at *@at. Return: false: there is none. */
bool wire_enum_next(const char **at, struct wire_label *label);

/* wire_enum_fits - whether an integer of so many bits can have a label's value. */
bool wire_enum_fits(const struct wire_label *label, unsigned bits, bool has_sign);

#endif
