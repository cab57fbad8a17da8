/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Compile formats, and render records with them. The result is what printf would print in the traced program, with
 * these exceptions: strings are made safe for a terminal, byte arrays become hexadecimal digits, other arrays a list of
 * elements, values of an enum their names, and newlines at the end of the format are removed.
 *
 * Rendering reads 8 bytes wherever a field begins, so the owner of a payload keeps 8 readable bytes behind it.
 */
#include "view/records/format_program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "read/trace.h"

enum piece_kind {
	PIECE_LITERAL,
	PIECE_SIGNED, /* decimal, no flags */
	PIECE_UNSIGNED,
	PIECE_HEX,     /* lower case, no flags */
	PIECE_ADDRESS, /* 0x and hex */
	PIECE_INTEGER, /* any other integer */
	PIECE_CHAR,
	PIECE_FLOAT,
	PIECE_STRING,
	PIECE_BYTES,
};

enum {
	VALUE_BYTES = 400,	/* of a number: a double in %f has 309 digits before its point */
	ELEMENT_BYTES = 72,	/* of an integer or its name, with what separates it from the next */
	ELEMENT_WIDTH_MAX = 64, /* of the elements of arrays; wider ones are printed without a width */
};

enum piece_flags {
	FLAG_LEFT = 1,
	FLAG_PLUS = 2,
	FLAG_SPACE = 4,
	FLAG_ALTERNATE = 8,
	FLAG_ZERO = 16,
};

struct view_piece {
	uint8_t kind;			 /* enum piece_kind */
	uint8_t field;			 /* number of the field */
	uint8_t type;			 /* enum burin_type */
	uint8_t flags;			 /* enum piece_flags */
	uint8_t shift;			 /* 64 - bits of the type */
	uint8_t convert;		 /* 64 - bits that the conversion prints */
	bool has_sign;			 /* the type is signed */
	bool is_array;			 /* all else is about an element */
	const struct burin_field *named; /* its values have names; NULL: they have none */
	char conversion;
	uint16_t width;
	int16_t precision; /* -1: none */
	uint32_t bytes;	   /* of the literal */
	const char *text;  /* the literal, or the conversion specification of a float */
};

/* ---- Compiling ---- */

struct compiler {
	struct view_format_program *program;
	char *text; /* the next literal is written here */
};

static struct view_piece *format_program_add_piece(struct compiler *compiler, enum piece_kind kind)
{
	struct view_piece *piece = &compiler->program->pieces[compiler->program->count++];

	*piece = (struct view_piece){ .kind = (uint8_t)kind, .precision = -1 };
	return piece;
}

/* Text between conversions, made safe; `%%` becomes `%`. */
static void add_literal(struct compiler *compiler, const char *from, const char *end)
{
	struct view_piece *piece;
	char *start = compiler->text;

	while (from < end) {
		const char *percent = memchr(from, '%', (size_t)(end - from));
		const char *stop = percent ? percent + 1 : end;

		compiler->text += text_escape(compiler->text, from, (size_t)(stop - from));
		from = percent && stop < end ? stop + 1 : stop; /* a `%` here is always `%%` */
	}
	if (compiler->text == start)
		return;
	piece = format_program_add_piece(compiler, PIECE_LITERAL);
	piece->text = start;
	piece->bytes = (uint32_t)(compiler->text - start);
	compiler->program->bound += piece->bytes;
}

static unsigned parse_decimal(const char **at)
{
	unsigned value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		value = value < 10000 ? value * 10 + (unsigned)(**at - '0') : value;
	return value;
}

/* Parses flags, width and precision. *modified: the bits that hh or h keeps. */
static void parse_spec(struct view_piece *piece, const char *spec, unsigned *modified)
{
	static const char letters[] = "-+ #0";
	const char *letter;

	for (spec++; (letter = *spec ? strchr("-+ #0'", *spec) : NULL); spec++) {
		letter = strchr(letters, *spec);
		if (letter)
			piece->flags |= (uint8_t)(1 << (letter - letters));
	}
	piece->width = (uint16_t)parse_decimal(&spec);
	if (spec[0] == '.' && spec[1] == '*') { /* the string is no longer than it says */
		spec += 2;
	} else if (*spec == '.') {
		spec++;
		piece->precision = (int16_t)parse_decimal(&spec);
	}
	*modified = spec[0] != 'h' ? 64 : spec[1] == 'h' ? 8 : 16;
}

static void set_integer(struct view_piece *piece, unsigned modified)
{
	unsigned bits = 8 * format_type_bytes(piece->type), promoted = bits <= 32 ? 32 : 64;
	bool plain = !piece->flags && !piece->width && piece->precision < 0;

	piece->shift = (uint8_t)(64 - bits);
	piece->has_sign = piece->type >= BURIN_TYPE_I8 && piece->type <= BURIN_TYPE_I64;
	piece->has_sign |= piece->type == BURIN_TYPE_CHAR;
	piece->convert = (uint8_t)(64 - (modified < promoted ? modified : promoted));
	switch (piece->conversion) {
	case 'c':
		piece->kind = PIECE_CHAR;
		break;
	case 'd':
	case 'i':
		piece->kind = plain ? PIECE_SIGNED : PIECE_INTEGER;
		break;
	case 'u':
		piece->kind = plain ? PIECE_UNSIGNED : PIECE_INTEGER;
		break;
	case 'x':
		piece->kind = plain ? PIECE_HEX : PIECE_INTEGER;
		break;
	case 'p':
		piece->kind = plain ? PIECE_ADDRESS : PIECE_INTEGER;
		break;
	default:
		piece->kind = PIECE_INTEGER;
		break;
	}
}

/* Keeps the conversion specification of a float for snprintf, without length modifiers. */
static void set_float(struct compiler *compiler, struct view_piece *piece, const char *spec, unsigned bytes)
{
	piece->kind = PIECE_FLOAT;
	piece->text = compiler->text;
	for (unsigned n = 0; n < bytes; n++)
		if (!strchr("lL'", spec[n]))
			*compiler->text++ = spec[n];
	*compiler->text++ = '\0';
}

/* The output of an element of an array, with what separates it from the next, for each of its bytes. */
static void set_per_byte(struct view_format_program *program, const struct view_piece *piece)
{
	const unsigned element = piece->kind == PIECE_FLOAT ? VALUE_BYTES : ELEMENT_BYTES;
	const unsigned per_byte = (element + ELEMENT_WIDTH_MAX) / format_type_bytes(piece->type) + 1;

	program->per_byte = per_byte > program->per_byte ? per_byte : program->per_byte;
}

static void format_program_add_field(struct compiler *compiler, unsigned number,
				     const struct burin_field *field, const char *spec, unsigned bytes)
{
	struct view_piece *piece = format_program_add_piece(compiler, PIECE_LITERAL);
	unsigned modified, widest;

	piece->field = (uint8_t)number;
	piece->is_array = field->type == BURIN_TYPE_ARRAY;
	piece->type = (uint8_t)(piece->is_array ? field->element : field->type);
	piece->named = ((const struct read_field *)field)->named ? field : NULL;
	piece->conversion = spec[bytes - 1];
	parse_spec(piece, spec, &modified);
	/* A payload may have thousands of elements. */
	if (piece->is_array && (piece->width > ELEMENT_WIDTH_MAX || piece->precision > ELEMENT_WIDTH_MAX)) {
		piece->width = 0;
		piece->precision = -1;
		spec = piece->type == BURIN_TYPE_F32 || piece->type == BURIN_TYPE_F64 ? "%g" : spec;
		bytes = 2;
	}
	switch (piece->type) {
	case BURIN_TYPE_F32:
	case BURIN_TYPE_F64:
		set_float(compiler, piece, spec, bytes);
		break;
	case BURIN_TYPE_STR:
		piece->kind = PIECE_STRING;
		break;
	case BURIN_TYPE_BYTES:
		piece->kind = PIECE_BYTES;
		break;
	default:
		set_integer(piece, modified);
		break;
	}
	widest = piece->precision > (int)piece->width ? (unsigned)piece->precision : piece->width;
	compiler->program->bound += widest + VALUE_BYTES;
	if (piece->is_array)
		set_per_byte(compiler->program, piece);
}

/* For an event without a usable format: each field as name=value. */
static void add_plain_fields(struct compiler *compiler, const struct burin_event *event)
{
	static const char *const specs[] = {
		[BURIN_TYPE_BOOL] = "%u", [BURIN_TYPE_I8] = "%d",    [BURIN_TYPE_I16] = "%d",
		[BURIN_TYPE_I32] = "%d",  [BURIN_TYPE_I64] = "%d",   [BURIN_TYPE_U8] = "%u",
		[BURIN_TYPE_U16] = "%u",  [BURIN_TYPE_U32] = "%u",   [BURIN_TYPE_U64] = "%u",
		[BURIN_TYPE_F32] = "%g",  [BURIN_TYPE_F64] = "%g",   [BURIN_TYPE_PTR] = "%p",
		[BURIN_TYPE_STR] = "%s",  [BURIN_TYPE_BYTES] = "%p", [BURIN_TYPE_CHAR] = "%c",
	};
	const struct burin_field *field;

	for (unsigned n = 0; n < event->fields; n++) {
		char name[FORMAT_FIELD_NAME_MAX + 3];

		field = burin_event_field(event, n);
		snprintf(name, sizeof(name), "%s%s=", n ? " " : "", field->name);
		add_literal(compiler, name, name + strlen(name));
		format_program_add_field(
			compiler, n, field,
			specs[field->type == BURIN_TYPE_ARRAY ? field->element : field->type], 2);
	}
}

static void add_format(struct compiler *compiler, const struct burin_event *event)
{
	const struct read_event *read = read_event_of(event);
	const char *at = event->format, *end = at + strlen(at);

	while (end > at && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	for (unsigned n = 0; n < event->fields; n++) {
		const struct format_field *field = &read->fields[n].parsed;
		const char *spec = event->format + field->spec;

		add_literal(compiler, at, spec);
		format_program_add_field(compiler, n, &read->fields[n].open, spec, field->spec_bytes);
		at = spec + field->spec_bytes + (read->fields[n].named ? field->enum_bytes : 0);
	}
	if (at < end)
		add_literal(compiler, at, end);
}

int view_format_program_compile(struct view_format_program *program, const struct burin_event *event)
{
	struct compiler compiler = { .program = program };
	size_t text =
		TEXT_ESCAPE_MAX * (strlen(event->format) + event->fields * (FORMAT_FIELD_NAME_MAX + 8u)) + 1;

	*program = (struct view_format_program){ .bound = 16, .per_byte = TEXT_ESCAPE_MAX };
	program->pieces = calloc(2 * event->fields + 1, sizeof(*program->pieces));
	program->text = malloc(text);
	if (!program->pieces || !program->text) {
		view_format_program_free(program);
		return -ENOMEM;
	}
	compiler.text = program->text;
	if (read_event_of(event)->spelled)
		add_format(&compiler, event);
	else
		add_plain_fields(&compiler, event);
	return 0;
}

void view_format_program_free(struct view_format_program *program)
{
	free(program->pieces);
	free(program->text);
	*program = (struct view_format_program){ .count = 0 };
}

/* ---- Rendering ---- */

/* The value of a field, extended as its type demands, then reduced to the bits that the conversion prints. */
static inline int64_t load_signed(const struct view_piece *piece, const unsigned char *at)
{
	uint64_t bits = number_load64(at) << piece->shift;

	bits = piece->has_sign ? (uint64_t)((int64_t)bits >> piece->shift) : bits >> piece->shift;
	return (int64_t)(bits << piece->convert) >> piece->convert;
}

static inline uint64_t load_unsigned(const struct view_piece *piece, const unsigned char *at)
{
	uint64_t bits = number_load64(at) << piece->shift;

	bits = piece->has_sign ? (uint64_t)((int64_t)bits >> piece->shift) : bits >> piece->shift;
	return bits << piece->convert >> piece->convert;
}

static char *format_program_pad(char *out, char byte, size_t count)
{
	memset(out, byte, count);
	return out + count;
}

/* Pads a sign or prefix and digits to the width. */
static char *format_program_lay_out(char *out, const struct view_piece *piece, const char *prefix,
				    const char *digits, size_t count)
{
	size_t before = strlen(prefix), zeros = 0, used;

	if (piece->precision >= 0 && (size_t)piece->precision > count)
		zeros = (size_t)piece->precision - count;
	used = before + zeros + count;
	if (piece->precision < 0 && (piece->flags & (FLAG_ZERO | FLAG_LEFT)) == FLAG_ZERO &&
	    piece->width > used) {
		zeros = piece->width - used;
		used = piece->width;
	}
	if (!(piece->flags & FLAG_LEFT) && piece->width > used)
		out = format_program_pad(out, ' ', piece->width - used);
	memcpy(out, prefix, before);
	out = format_program_pad(out + before, '0', zeros);
	memcpy(out, digits, count);
	out += count;
	if ((piece->flags & FLAG_LEFT) && piece->width > used)
		out = format_program_pad(out, ' ', piece->width - used);
	return out;
}

static char *format_program_render_integer(char *out, const struct view_piece *piece, const unsigned char *at)
{
	char digits[24], *end = digits;
	const char *prefix = "";
	uint64_t bits;

	if (piece->conversion == 'd' || piece->conversion == 'i') {
		int64_t value = load_signed(piece, at);

		bits = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
		prefix = value < 0		     ? "-"
			 : piece->flags & FLAG_PLUS  ? "+"
			 : piece->flags & FLAG_SPACE ? " "
						     : "";
	} else {
		bits = load_unsigned(piece, at);
	}
	if (bits || piece->precision) {
		if (piece->conversion == 'x' || piece->conversion == 'p')
			end = number_radix(digits, bits, 4, "0123456789abcdef");
		else if (piece->conversion == 'X')
			end = number_radix(digits, bits, 4, "0123456789ABCDEF");
		else if (piece->conversion == 'o')
			end = number_radix(digits, bits, 3, "01234567");
		else
			end = number_decimal(digits, bits);
	}
	if (piece->conversion == 'p' || ((piece->flags & FLAG_ALTERNATE) && piece->conversion == 'x' && bits))
		prefix = "0x";
	else if ((piece->flags & FLAG_ALTERNATE) && piece->conversion == 'X' && bits)
		prefix = "0X";
	else if ((piece->flags & FLAG_ALTERNATE) && piece->conversion == 'o' && (bits || !piece->precision) &&
		 piece->precision <= end - digits)
		prefix = "0";
	return format_program_lay_out(out, piece, prefix, digits, (size_t)(end - digits));
}

/* Pads the text between start and out to the width. */
static char *pad_text(char *out, char *start, const struct view_piece *piece)
{
	size_t columns = 0, missing;

	if (!piece->width)
		return out;
	for (const char *at = start; at < out; at++)
		columns += (*at & 0xc0) != 0x80;
	if (columns >= piece->width)
		return out;
	missing = piece->width - columns;
	if (piece->flags & FLAG_LEFT)
		return format_program_pad(out, ' ', missing);
	memmove(start + missing, start, (size_t)(out - start));
	format_program_pad(start, ' ', missing);
	return out + missing;
}

static char *format_program_render_text(char *out, const struct view_piece *piece,
					const struct burin_record *record)
{
	uint32_t from = record->offsets[piece->field], bytes = record->offsets[piece->field + 1] - from;
	char *start = out;

	if (piece->kind == PIECE_BYTES) {
		out += text_hex(out, record->payload + from + 2, bytes - 2);
	} else {
		bytes--;
		if (piece->precision >= 0 && bytes > (uint32_t)piece->precision)
			bytes = (uint32_t)piece->precision;
		out += text_escape(out, (const char *)record->payload + from, bytes);
	}
	return pad_text(out, start, piece);
}

static char *render_char(char *out, const struct view_piece *piece, const unsigned char *at)
{
	char *start = out, byte = (char)*at;

	return pad_text(out + text_escape(out, &byte, 1), start, piece);
}

static char *render_float(char *out, const struct view_piece *piece, const unsigned char *at)
{
	unsigned widest = piece->precision > (int)piece->width ? (unsigned)piece->precision : piece->width;
	double value;
	float single;
	int bytes;

	if (piece->type == BURIN_TYPE_F32) {
		memcpy(&single, at, sizeof(single));
		value = (double)single;
	} else {
		memcpy(&value, at, sizeof(value));
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/* The specification is validated: it prints one double and nothing else. */
	bytes = snprintf(out, widest + 400, piece->text, value);
#pragma GCC diagnostic pop
	return bytes > 0 ? out + bytes : out;
}

/* The name of the value at `at`; NULL: it has none. */
static const char *find_label(const struct view_piece *piece, const unsigned char *at)
{
	uint64_t bits = number_load64(at) << piece->shift;

	bits = piece->has_sign ? (uint64_t)((int64_t)bits >> piece->shift) : bits >> piece->shift;
	return !piece->has_sign && bits > INT64_MAX ? NULL : burin_field_label(piece->named, (int64_t)bits);
}

/* A number or character. */
static inline char *render_value(char *out, const struct view_piece *piece, const unsigned char *at)
{
	const char *label = __builtin_expect(piece->named != NULL, 0) ? find_label(piece, at) : NULL;

	if (label)
		return pad_text(stpcpy(out, label), out, piece);
	switch (piece->kind) {
	case PIECE_SIGNED:
		return number_signed(out, load_signed(piece, at));
	case PIECE_UNSIGNED:
		return number_decimal(out, load_unsigned(piece, at));
	case PIECE_ADDRESS:
		*out++ = '0';
		*out++ = 'x';
		return number_radix(out, load_unsigned(piece, at), 4, "0123456789abcdef");
	case PIECE_HEX:
		return number_radix(out, load_unsigned(piece, at), 4, "0123456789abcdef");
	case PIECE_INTEGER:
		return format_program_render_integer(out, piece, at);
	case PIECE_CHAR:
		return render_char(out, piece, at);
	default:
		return render_float(out, piece, at);
	}
}

/* "[1, 2, 3]" */
static char *format_program_render_array(char *out, const struct view_piece *piece, const unsigned char *at)
{
	const unsigned size = format_type_bytes(piece->type), count = number_load16(at);

	*out++ = '[';
	for (unsigned n = 0; n < count; n++) {
		if (n)
			out = stpcpy(out, ", ");
		out = render_value(out, piece, at + 2 + (size_t)n * size);
	}
	*out++ = ']';
	return out;
}

char *view_format_program_render(const struct view_format_program *program, const struct burin_record *record,
				 char *out)
{
	const struct view_piece *piece = program->pieces, *end = piece + program->count;

	for (; piece < end; piece++) {
		const unsigned char *at = record->payload + record->offsets[piece->field];

		if (piece->kind == PIECE_LITERAL) {
			memcpy(out, piece->text, piece->bytes);
			out += piece->bytes;
		} else if (__builtin_expect(piece->is_array, 0)) {
			out = format_program_render_array(out, piece, at);
		} else if (piece->kind == PIECE_STRING || piece->kind == PIECE_BYTES) {
			out = format_program_render_text(out, piece, record);
		} else {
			out = render_value(out, piece, at);
		}
	}
	return out;
}
