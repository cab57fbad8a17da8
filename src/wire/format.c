/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Takes a printf format apart (format.h). The format may come from a hostile file: every step looks at one
 * byte before it moves on, and the only loops run along the text and over at most WIRE_ARGS_MAX fields.
 */
#include "wire/format.h"

#include <errno.h>
#include <string.h>

enum {
	WIDTH_DIGITS_MAX = 4, /* of a width or precision: what a reader pads a field to is bounded */
};

/* What kinds of type a conversion prints. */
enum class {
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

static enum class conversion_class(char c) {
	switch (c){ case 'd' : case 'i' : case 'u' : case 'x' : case 'X' : case 'o' : case 'c' :
			    return CLASS_INTEGER;
		    case 'a' : case 'A' : case 'e' : case 'E' : case 'f' : case 'F' : case 'g' : case 'G' :
			    return CLASS_FLOAT;
		    case 's' : return CLASS_TEXT;
		    case 'p' : return CLASS_POINTER;
		    default : return CLASS_NONE;
}
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Part of a word; bytes of a multi-byte character too, so that a word never begins in the middle of one. */
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

/* A length modifier and its class of conversions; "" for none. */
static const char *skip_length(const char *at, enum class *only)
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

/*
 * One conversion, from its '%'. Fills in spec, spec_bytes and conversion, and returns what follows; or NULL,
 * with *why.
 */
static const char *conversion_parse(const char *text, const char *at, struct format_field *field,
				    const char **why)
{
	const char *length, *fault = NULL;
	enum class only, class;

	field->spec = (uint16_t)(at - text);
	at++;
	while (*at && strchr("-+ #0'", *at))
		at++;
	at = skip_digits(at, &fault);
	if (*at == '.')
		at = skip_digits(at + 1, &fault);
	if (*at == '*')
		fault = "a width or precision that is an argument (*)";
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

/* "argN", and should somebody have called an earlier field that, with as many `_` as it takes. */
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

/* Names the next field: the word between `from`, where the last conversion ended, and "=%". */
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

static const char *type_fault(unsigned type, char conversion)
{
	if (type == WIRE_END)
		return "more conversions than arguments";
	if (type == WIRE_STR && conversion == 'p')
		return "a string under %p";
	if (type_class[type] != conversion_class(conversion))
		return "a conversion that cannot print its argument";
	return NULL;
}

int format_parse(const char *text, uint64_t types, struct format *out, const char **why)
{
	const char *fault = NULL, *at = text, *from = text;

	out->count = 0;
	if (strnlen(text, WIRE_FORMAT_MAX + 1) > WIRE_FORMAT_MAX) {
		fault = "a format of more than 1023 bytes";
		goto bad;
	}
	while (*at) {
		struct format_field *field;
		const char *percent = at;

		if (*at != '%') {
			at++;
			continue;
		}
		if (at[1] == '%') {
			at += 2;
			from = at;
			continue;
		}
		if (out->count == WIRE_ARGS_MAX) {
			fault = "more than 16 conversions";
			goto bad;
		}
		field = &out->fields[out->count];
		memset(field, 0, sizeof(*field));
		field->type = (uint8_t)(out->count < 16 ? types >> (4 * out->count) & 15 : 0);
		at = conversion_parse(text, at, field, &fault);
		if (!at)
			goto bad;
		fault = type_fault(field->type, field->conversion);
		if (fault)
			goto bad;
		name_field(from, percent, out, field->name);
		out->count++;
		from = at;
	}
	/* What is left of the types must be nothing, behind an end too. */
	if (out->count < WIRE_ARGS_MAX && types >> (4 * out->count)) {
		fault = "more arguments than conversions";
		goto bad;
	}
	return 0;
bad:
	if (why)
		*why = fault;
	return -EINVAL;
}
