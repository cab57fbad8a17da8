/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parse a printf format (wire_format.h). The format may come from a hostile file: every step checks one byte before it
 * moves on, and the only loops run along the text and over at most WIRE_ARGS_MAX fields.
 */
#include "wire/wire_format.h"

#include <errno.h>
#include <string.h>

enum {
	WIDTH_DIGITS_MAX = 4, /* of a width or precision: this limits the padding that a reader prints */
};

/* Classes of types, of which a conversion prints one. */
enum field_class {
	CLASS_NONE,
	CLASS_INTEGER,
	CLASS_FLOAT,
	CLASS_TEXT,
	CLASS_POINTER,
};

static const uint8_t type_bytes[16] = {
	[WIRE_BOOL] = 1, [WIRE_I8] = 1,	 [WIRE_I16] = 2,  [WIRE_I32] = 4, [WIRE_I64] = 8,
	[WIRE_U8] = 1,	 [WIRE_U16] = 2, [WIRE_U32] = 4,  [WIRE_U64] = 8, [WIRE_F32] = 4,
	[WIRE_F64] = 8,	 [WIRE_PTR] = 8, [WIRE_CHAR] = 1,
};

static const uint8_t type_class[16] = {
	[WIRE_BOOL] = CLASS_INTEGER, [WIRE_I8] = CLASS_INTEGER,	   [WIRE_I16] = CLASS_INTEGER,
	[WIRE_I32] = CLASS_INTEGER,  [WIRE_I64] = CLASS_INTEGER,   [WIRE_U8] = CLASS_INTEGER,
	[WIRE_U16] = CLASS_INTEGER,  [WIRE_U32] = CLASS_INTEGER,   [WIRE_U64] = CLASS_INTEGER,
	[WIRE_F32] = CLASS_FLOAT,    [WIRE_F64] = CLASS_FLOAT,	   [WIRE_PTR] = CLASS_POINTER,
	[WIRE_STR] = CLASS_TEXT,     [WIRE_BYTES] = CLASS_POINTER, [WIRE_CHAR] = CLASS_INTEGER,
};

unsigned format_type_bytes(unsigned type)
{
	return type < sizeof(type_bytes) ? type_bytes[type] : 0;
}

static enum field_class conversion_class(char c)
{
	switch (c) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c':
		return CLASS_INTEGER;
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		return CLASS_FLOAT;
	case 's':
		return CLASS_TEXT;
	case 'p':
		return CLASS_POINTER;
	default:
		return CLASS_NONE;
	}
}

bool format_type_next(uint64_t *types, struct format_type *type)
{
	*type = (struct format_type){ .type = *types & 15 };
	if (*types == 0)
		return false;
	*types >>= 4;
	if (type->type != WIRE_END)
		return true;
	*type = (struct format_type){ WIRE_ARRAY, *types & 15 };
	*types >>= 4;
	return type_bytes[type->element] != 0;
}

int format_types_count(uint64_t types)
{
	struct format_type type;
	int count = 0;

	while (format_type_next(&types, &type))
		count++;
	return type.type == WIRE_END ? count : -EINVAL;
}

uint32_t format_argument_bytes(struct format_type type, const void *at, uint32_t left)
{
	uint32_t bytes = format_type_bytes(type.type);
	uint16_t count;

	if (type.type == WIRE_STR)
		return format_text_bytes(at, left);
	if (type.type == WIRE_BYTES || type.type == WIRE_ARRAY) {
		if (left < 2)
			return 0;
		memcpy(&count, at, 2);
		bytes = 2 + (type.type == WIRE_ARRAY ? type_bytes[type.element & 15] : 1u) * count;
	}
	return bytes <= left ? bytes : 0;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Part of a word; also bytes of a multi-byte character, so that a word never begins in the middle of one. */
static int is_word(char c)
{
	return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

static const char *skip_digits(const char *at, const char **why)
{
	const char *begin = at;

	while (is_digit(*at))
		at++;
	if (at - begin > WIDTH_DIGITS_MAX)
		*why = "a width or precision of more than four digits";
	return at;
}

/* Skip a length modifier, if there is one. @only: the class of conversions that it is for, CLASS_NONE: all */
static const char *skip_length(const char *at, enum field_class *only)
{
	*only = CLASS_NONE;
	if (*at == 'h' || *at == 'l') {
		*only = CLASS_INTEGER;
		return at[1] == at[0] ? at + 2 : at + 1;
	}
	if (*at == 'j' || *at == 'z' || *at == 't') {
		*only = CLASS_INTEGER;
		return at + 1;
	}
	if (*at == 'L') {
		*only = CLASS_FLOAT;
		return at + 1;
	}
	return at;
}

/* The size of an identifier in braces; 0: there is none. */
static uint16_t enum_bytes(const char *at)
{
	const char *end = at + 1;

	if (*at != '{' || !is_letter(*end))
		return 0;
	while (is_letter(*end) || is_digit(*end))
		end++;
	return *end == '}' ? (uint16_t)(end + 1 - at) : 0;
}

/*
 * Parse one conversion, from its '%'. Fills in spec, spec_bytes and conversion. Return: the text behind it; NULL: not
 * valid, *why is the reason.
 */
static const char *conversion_parse(const char *text, const char *at, struct format_field *field,
				    const char **why)
{
	const char *length, *fault = NULL;
	enum field_class only, class;

	field->spec = (uint16_t)(at - text);
	at++;
	while (*at && strchr("-+ #0'", *at))
		at++;
	at = skip_digits(at, &fault);
	if (*at == '.')
		at = skip_digits(at + 1, &fault);
	if (*at == '*' && at[-1] == '.' && at[1] == 's')
		at++;
	if (*at == '*')
		fault = "a width or precision that is an argument (*), which only %.*s may have";
	if (fault)
		goto bad;
	length = at;
	at = skip_length(at, &only);
	if (*at == 'n') {
		fault = "%n";
		goto bad;
	}
	class = conversion_class(*at);
	if (class == CLASS_NONE) {
		fault = *at ? "an unknown conversion" : "an unfinished conversion";
		goto bad;
	}
	/* `l` before a floating-point conversion means nothing, as in C; wide characters and strings are not
	 * recorded. */
	if (only != CLASS_NONE && (only != class || *at == 'c') &&
	    !(class == CLASS_FLOAT && at - length == 1 && *length == 'l')) {
		fault = "a length modifier that does not go with its conversion";
		goto bad;
	}
	field->conversion = *at++;
	field->spec_bytes = (uint16_t)(at - text - field->spec);
	field->enum_bytes = class == CLASS_INTEGER ? enum_bytes(at) : 0;
	return at;
bad:
	*why = fault;
	return NULL;
}

static int name_taken(const struct format *out, const char *name)
{
	for (unsigned i = 0; i < out->count; i++)
		if (strcmp(out->fields[i].name, name) == 0)
			return 1;
	return 0;
}

/* Name a field "argN", and append `_` until no earlier field has this name. */
static void name_number(struct format *out, char *name)
{
	unsigned number = out->count + 1;
	size_t at = 3;

	memcpy(name, "arg", 3);
	if (number >= 10)
		name[at++] = (char)('0' + number / 10);
	name[at++] = (char)('0' + number % 10);
	name[at] = '\0';
	while (name_taken(out, name) && at < FORMAT_FIELD_NAME_MAX) {
		name[at++] = '_';
		name[at] = '\0';
	}
}

/* Name the next field by the word before "=%", behind `from`, the end of the last conversion. */
static void name_field(const char *from, const char *percent, struct format *out, char *name)
{
	const char *begin, *end = percent - 1;

	if (percent > from && *end == '=') {
		begin = end;
		while (begin > from && is_word(begin[-1]))
			begin--;
		if (begin < end && is_letter(*begin) && end - begin <= FORMAT_FIELD_NAME_MAX) {
			size_t bytes = (size_t)(end - begin), i;

			for (i = 0; i < bytes && (unsigned char)begin[i] < 0x80; i++)
				name[i] = begin[i];
			name[i] = '\0';
			if (i == bytes && !name_taken(out, name))
				return;
		}
	}
	name_number(out, name);
}

static const char *type_fault(struct format_type type, char conversion)
{
	if (type.type == WIRE_END)
		return "more conversions than arguments";
	if (type.type == WIRE_STR && conversion == 'p')
		return "a string under %p";
	if (type_class[type.type == WIRE_ARRAY ? type.element : type.type] != conversion_class(conversion))
		return "a conversion that cannot print its argument";
	return NULL;
}

int format_conversion_next(const char *text, size_t *offset, struct format_field *field, const char **why)
{
	const char *at = text + *offset;

	while (*at && (*at != '%' || at[1] == '%'))
		at += *at == '%' ? 2 : 1;
	*offset = (size_t)(at - text);
	if (!*at)
		return 0;
	at = conversion_parse(text, at, field, why);
	if (!at)
		return -EINVAL;
	*offset = (size_t)(at - text);
	return 1;
}

bool format_has_length(const char *text, const struct format_field *field)
{
	return field->spec_bytes >= 2 && text[field->spec + field->spec_bytes - 2] == '*';
}

static bool field_is(const struct format *format, unsigned n, const char *name)
{
	return n < format->count && format->fields[n].type == WIRE_U64 &&
	       strcmp(format->fields[n].name, name) == 0;
}

bool format_has_span_id(const struct format *format)
{
	return field_is(format, field_is(format, 0, "span_id_high"), "span_id");
}

/* The end of the last `%%` before a conversion: a field's name begins behind it. */
static size_t name_begin(const char *text, size_t from, size_t percent)
{
	for (size_t at = from; at < percent; at++)
		if (text[at] == '%')
			from = ++at + 1;
	return from;
}

int format_parse(const char *text, uint64_t types, struct format *out, const char **why)
{
	const char *fault = NULL;
	size_t at = 0, from = 0;

	out->count = 0;
	if (strnlen(text, WIRE_FORMAT_MAX + 1) > WIRE_FORMAT_MAX) {
		fault = "a format of more than 1023 bytes";
		goto bad;
	}
	for (;; from = at) {
		struct format_field field = { 0 };
		struct format_type type;
		int found = format_conversion_next(text, &at, &field, &fault);

		if (found < 0)
			goto bad;
		if (found == 0)
			break;
		if (out->count == WIRE_ARGS_MAX) {
			fault = "more than 16 conversions";
			goto bad;
		}
		if (!format_type_next(&types, &type) && type.type != WIRE_END)
			fault = "an array of something that cannot be in one";
		else
			fault = type_fault(type, field.conversion);
		field.type = type.type;
		field.element = type.element;
		out->fields[out->count] = field;
		if (fault)
			goto bad;
		name_field(text + name_begin(text, from, field.spec), text + field.spec, out,
			   out->fields[out->count].name);
		out->count++;
	}
	/* All further types must be 0, also those behind a WIRE_END. */
	if (types) {
		fault = "more arguments than conversions";
		goto bad;
	}
	return 0;
bad:
	if (why)
		*why = fault;
	return -EINVAL;
}
