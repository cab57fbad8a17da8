/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The parsed printf format of an event: the conversion of each argument, and the name of its field. Recording and
 * reading both use this parser, so a field has the same name in both.
 */
#ifndef BURIN_WIRE_WIRE_FORMAT_H
#define BURIN_WIRE_WIRE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/wire_event.h"

enum {
	FORMAT_FIELD_NAME_MAX = 63,
};

struct format_field {
	char name[FORMAT_FIELD_NAME_MAX + 1]; /* unique in the event: an identifier */
	uint8_t type;			      /* enum wire_type */
	uint8_t element;		      /* of an array: the type of its elements */
	char conversion;		      /* d i u x X o c s p a A e E f F g G */
	uint16_t spec;			      /* the conversion in the format: byte offset of its '%' ... */
	uint16_t spec_bytes;		      /* ... and its bytes, conversion letter included */
	uint16_t enum_bytes; /* of an identifier in braces directly behind an integer's conversion; 0: none */
};

struct format {
	unsigned count;
	struct format_field fields[WIRE_ARGS_MAX];
};

/*
 * format_parse - parse a format and check it against the types of the arguments.
 * @text: the format, NUL-terminated; may come from an untrusted source
 * @types: 4 bits per argument as in struct wire_event
 * @out: filled in
 * @why: on failure, the reason as a static phrase; may be NULL
 *
 * Context: any thread, signal-safe; allocates nothing.
 * Return: 0, or -EINVAL: `*` outside `%.*s`, `%n`, an unknown or unfinished conversion, more or fewer conversions than
 * arguments, more than WIRE_ARGS_MAX, a conversion that cannot print its argument's type (%s of a number, %d
 * of a string or of a floating-point number), a text longer than WIRE_FORMAT_MAX.
 */
int format_parse(const char *text, uint64_t types, struct format *out, const char **why);

/*
 * format_conversion_next - the next conversion of a format.
 * @text: the format; may come from an untrusted source
 * @offset: where to begin; receives the offset behind the conversion
 * @field: its spec, spec_bytes and conversion are filled in
 * @why: receives the reason if the conversion is not valid
 * Return: 1; 0: there is none; -EINVAL.
 */
int format_conversion_next(const char *text, size_t *offset, struct format_field *field, const char **why);

/* Whether a format begins with the id of a span: `span_id`, u64, or `span_id_high` and `span_id`, both u64. */
bool format_has_span_id(const struct format *format);

/* Whether a conversion takes a text and its length: %.*s. */
bool format_has_length(const char *text, const struct format_field *field);

/* Bytes of a type in a payload; 0 for types of variable size (str, bytes, array) and for WIRE_END. */
unsigned format_type_bytes(unsigned type);

struct format_type {
	uint8_t type;	 /* enum wire_type */
	uint8_t element; /* of an array */
};

/* format_type_next - take the first argument off a list of types. Return: false: it is empty, or not a list. */
bool format_type_next(uint64_t *types, struct format_type *type);

/* format_types_count - the number of arguments; -EINVAL: not a list of types. */
int format_types_count(uint64_t types);

/* format_text_bytes - the bytes of a str, with its end. Return: 0: it does not end within @left bytes. */
static inline uint32_t format_text_bytes(const void *at, uint32_t left)
{
	const char *nul = (const char *)memchr(at, 0, left);

	return nul ? (uint32_t)(nul - (const char *)at) + 1 : 0;
}

/*
 * format_argument_bytes - the size of an argument in a payload.
 * @at: the argument's first byte, of @left bytes of payload
 * Return: 0: it does not end within them.
 */
uint32_t format_argument_bytes(struct format_type type, const void *at, uint32_t left);

#endif
