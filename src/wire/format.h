/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The printf format of an event, taken apart: which conversion prints which argument, and what its field is
 * called. Both wings use it, so that the name of a field is decided in one place.
 */
#ifndef BURIN_WIRE_FORMAT_H
#define BURIN_WIRE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

enum {
	FORMAT_FIELD_NAME_MAX = 63,
};

struct format_field {
	char name[FORMAT_FIELD_NAME_MAX + 1]; /* unique in the event: an identifier */
	uint8_t type;			      /* enum wire_type */
	char conversion;		      /* d i u x X o c s p a A e E f F g G */
	uint16_t spec;			      /* the conversion in the format: byte offset of its '%' ... */
	uint16_t spec_bytes;		      /* ... and its bytes, conversion letter included */
};

struct format {
	unsigned count;
	struct format_field fields[WIRE_ARGS_MAX];
};

/*
 * format_parse - take a format apart and lay it beside the types of the arguments.
 * @text: the format, NUL-terminated; need not come from a friend
 * @types: 4 bits per argument as in struct wire_event
 * @out: filled in
 * @why: on failure, a static phrase that says what is wrong; may be NULL
 *
 * Context: any thread, signal-safe; allocates nothing.
 * Return: 0, or -EINVAL: `*` or `%n`, an unknown or unfinished conversion, more or fewer conversions than
 * arguments, more than WIRE_ARGS_MAX, a conversion that cannot print its argument's type (%s of a number, %d
 * of a string or of a floating-point number), a text longer than WIRE_FORMAT_MAX.
 */
int format_parse(const char *text, uint64_t types, struct format *out, const char **why);

/* Bytes that a type takes in a payload; 0 for those of variable size (str, bytes) and for no type. */
unsigned format_type_bytes(unsigned type);

#endif
