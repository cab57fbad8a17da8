/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* printf that escapes strings; see print.h. snprintf() formats floating-point numbers. */
#include "base/print.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

enum {
	CHUNK = 64,	  /* bytes of a string that are escaped at a time */
	FLOAT_ROOM = 512, /* bytes of a number with its padding, up to 309 digits before the point */
	FLOAT_WIDE = 100, /* largest width and precision */
	OCTAL_DIGITS_MAX = 22,
};

const char print_styles[PRINT_STYLES][8] = {
	[PRINT_OFF] = "\033[0m",
	[PRINT_BOLD] = "\033[1m",
	[PRINT_DIM] = "\033[2m",
	[PRINT_WARN] = "\033[1;33m",
};

struct sink {
	char *out;
	size_t size, used; /* used: including bytes that did not fit */
};

/* The parts between % and the conversion, and that. */
struct directive {
	bool left, zero, plus, blank, alternate; /* - 0 + blank # */
	int width, precision;			 /* precision -1: none */
	char length;				 /* H: hh, L: ll; 0: none */
	char conversion;
};

static void print_put(struct sink *sink, const char *bytes, size_t count)
{
	if (sink->used < sink->size) {
		const size_t room = sink->size - sink->used;

		memcpy(sink->out + sink->used, bytes, count < room ? count : room);
	}
	sink->used += count;
}

static void put_blanks(struct sink *sink, size_t count)
{
	static const char blanks[] = "                                ";

	for (size_t part; count; count -= part) {
		part = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
		print_put(sink, blanks, part);
	}
}

static bool print_continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0;

	for (size_t n = 0; n < bytes; n++)
		columns += !print_continues(text[n]);
	return columns;
}

/* *columns: increased by those that it takes; NULL: they are not counted */
static void put_escaped(struct sink *sink, const char *text, size_t bytes, size_t *columns)
{
	char safe[CHUNK * TEXT_ESCAPE_MAX];

	if (sink->used < sink->size && sink->size - sink->used > bytes * TEXT_ESCAPE_MAX) {
		char *at = sink->out + sink->used;
		const size_t count = text_escape(at, text, bytes);

		sink->used += count;
		if (columns)
			*columns += columns_of(at, count);
		return;
	}
	while (bytes) {
		size_t part = bytes < CHUNK ? bytes : CHUNK, count;

		/* Do not cut a character, which has at most three more bytes. */
		while (part < bytes && part > CHUNK - 4 && print_continues(text[part]))
			part--;
		count = text_escape(safe, text, part);
		if (columns)
			*columns += columns_of(safe, count);
		print_put(sink, safe, count);
		text += part;
		bytes -= part;
	}
}

static bool is_style(const char *text)
{
	const uintptr_t first = (uintptr_t)print_styles;

	return (uintptr_t)text >= first && (uintptr_t)text < first + sizeof(print_styles);
}

static void print_put_string(struct sink *sink, const struct directive *directive, const char *text)
{
	struct sink nowhere = { NULL, 0, 0 };
	const size_t wide = directive->width > 0 ? (size_t)directive->width : 0;
	size_t bytes, columns = 0;

	if (!text)
		text = "(null)";
	if (is_style(text)) {
		print_put(sink, text, strlen(text));
		return;
	}
	bytes = directive->precision < 0 ? strlen(text) : strnlen(text, (size_t)directive->precision);
	if (wide && !directive->left) {
		put_escaped(&nowhere, text, bytes, &columns);
		put_blanks(sink, columns < wide ? wide - columns : 0);
	}
	put_escaped(sink, text, bytes, wide && directive->left ? &columns : NULL);
	if (wide && directive->left)
		put_blanks(sink, columns < wide ? wide - columns : 0);
}

static void put_zeros(struct sink *sink, size_t count)
{
	while (count--)
		print_put(sink, "0", 1);
}

static size_t print_digits_of(char *digits, char conversion, uintmax_t value)
{
	char *end = digits;

	if (conversion == 'x')
		end = number_radix(digits, value, 4, "0123456789abcdef");
	else if (conversion == 'X')
		end = number_radix(digits, value, 4, "0123456789ABCDEF");
	else if (conversion == 'o')
		end = number_radix(digits, value, 3, "01234567");
	else
		end = number_decimal(digits, value);
	return (size_t)(end - digits);
}

/* @sign: the prefix; "": none */
static void print_put_integer(struct sink *sink, const struct directive *directive, const char *sign,
			      uintmax_t value)
{
	char digits[OCTAL_DIGITS_MAX];
	size_t count = print_digits_of(digits, directive->conversion, value), zeros = 0, all;
	const size_t wide = (size_t)directive->width, least = (size_t)directive->precision;

	if (directive->precision == 0 && !value)
		count = 0;
	if (directive->precision >= 0 && least > count)
		zeros = least - count;
	all = strlen(sign) + zeros + count;
	if (directive->zero && !directive->left && directive->precision < 0 && wide > all) {
		zeros = wide - all;
		all = wide;
	}
	if (!directive->left)
		put_blanks(sink, wide > all ? wide - all : 0);
	print_put(sink, sign, strlen(sign));
	put_zeros(sink, zeros);
	print_put(sink, digits, count);
	if (directive->left)
		put_blanks(sink, wide > all ? wide - all : 0);
}

static void put_unsigned(struct sink *sink, const struct directive *directive, uintmax_t value)
{
	const char *sign = !directive->alternate || !value ? ""
			   : directive->conversion == 'x'  ? "0x"
			   : directive->conversion == 'X'  ? "0X"
							   : "";

	print_put_integer(sink, directive, sign, value);
}

static void put_signed(struct sink *sink, const struct directive *directive, intmax_t value)
{
	const char *sign = value < 0 ? "-" : directive->plus ? "+" : directive->blank ? " " : "";

	print_put_integer(sink, directive, sign, value < 0 ? 0 - (uintmax_t)value : (uintmax_t)value);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Width and precision are limited, so that the text fits FLOAT_ROOM. */
static void put_float(struct sink *sink, const struct directive *directive, double value)
{
	const int width = directive->width < FLOAT_WIDE ? directive->width : FLOAT_WIDE;
	const int precision = directive->precision < FLOAT_WIDE ? directive->precision : FLOAT_WIDE;
	char spec[16], text[FLOAT_ROOM];
	int count;

	snprintf(spec, sizeof(spec), "%%%s%s%s%s%s*.*%c", directive->left ? "-" : "",
		 directive->zero ? "0" : "", directive->plus ? "+" : "", directive->blank ? " " : "",
		 directive->alternate ? "#" : "", directive->conversion);
	count = snprintf(text, sizeof(text), spec, width, precision, value);
	if (count > 0)
		print_put(sink, text, (size_t)count < sizeof(text) ? (size_t)count : sizeof(text) - 1);
}

#pragma GCC diagnostic pop

/* A struct, to pass a va_list by reference: as a parameter it is a pointer on some machines only. */
struct arguments {
	va_list list;
};

static uintmax_t take_unsigned(struct arguments *arguments, char length)
{
	switch (length) {
	case 'H':
		return (unsigned char)va_arg(arguments->list, unsigned);
	case 'h':
		return (unsigned short)va_arg(arguments->list, unsigned);
	case 'l':
		return va_arg(arguments->list, unsigned long);
	case 'L':
		return va_arg(arguments->list, unsigned long long);
	case 'z':
	case 't':
		return va_arg(arguments->list, size_t);
	case 'j':
		return va_arg(arguments->list, uintmax_t);
	default:
		return va_arg(arguments->list, unsigned);
	}
}

static intmax_t take_signed(struct arguments *arguments, char length)
{
	switch (length) {
	case 'H':
		return (signed char)va_arg(arguments->list, int);
	case 'h':
		return (short)va_arg(arguments->list, int);
	case 'l':
		return va_arg(arguments->list, long);
	case 'L':
		return va_arg(arguments->list, long long);
	case 'z':
	case 't':
		return va_arg(arguments->list, ptrdiff_t);
	case 'j':
		return va_arg(arguments->list, intmax_t);
	default:
		return va_arg(arguments->list, int);
	}
}

static int print_take_size(const char **at, struct arguments *arguments)
{
	int value = 0;

	if (**at == '*') {
		++*at;
		return va_arg(arguments->list, int);
	}
	for (; **at >= '0' && **at <= '9'; ++*at)
		value = value * 10 + **at - '0';
	return value;
}

/* Return: the position behind the conversion. */
static const char *print_parse(struct directive *directive, const char *at, struct arguments *arguments)
{
	*directive = (struct directive){ .precision = -1 };
	for (; *at && strchr("-+ #0", *at); at++) {
		directive->left |= *at == '-';
		directive->zero |= *at == '0';
		directive->plus |= *at == '+';
		directive->blank |= *at == ' ';
		directive->alternate |= *at == '#';
	}
	directive->width = print_take_size(&at, arguments);
	if (directive->width < 0) {
		directive->left = true;
		directive->width = -directive->width;
	}
	if (*at == '.') {
		at++;
		directive->precision = print_take_size(&at, arguments);
	}
	if (*at && strchr("hlzjt", *at)) {
		directive->length = *at++;
		if (*at == directive->length) {
			directive->length = *at == 'h' ? 'H' : 'L';
			at++;
		}
	}
	directive->conversion = *at;
	return *at ? at + 1 : at;
}

static void print_convert(struct sink *sink, struct directive *directive, struct arguments *arguments)
{
	char byte;

	switch (directive->conversion) {
	case 's':
		print_put_string(sink, directive, va_arg(arguments->list, const char *));
		return;
	case 'c':
		byte = (char)va_arg(arguments->list, int);
		directive->precision = 1;
		print_put_string(sink, directive, (char[]){ byte, '\0' });
		return;
	case '%':
		print_put(sink, "%", 1);
		return;
	default:
		break;
	}
	if (strchr("di", directive->conversion))
		put_signed(sink, directive, take_signed(arguments, directive->length));
	else if (strchr("efgEG", directive->conversion))
		put_float(sink, directive, va_arg(arguments->list, double));
	else
		put_unsigned(sink, directive, take_unsigned(arguments, directive->length));
}

size_t print_whole(const char *text, size_t bytes)
{
	size_t begin = bytes;

	while (begin && bytes - begin < 3 && print_continues(text[begin - 1]))
		begin--;
	/* The last character is incomplete if its first byte needs more bytes than follow. */
	if (begin) {
		const unsigned char first = (unsigned char)text[begin - 1];
		const size_t wanted = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0;

		if (wanted > bytes - begin)
			return begin - 1;
	}
	return bytes;
}

size_t print_arguments(char *out, size_t size, const char *format, va_list list)
{
	struct sink sink = { out, size, 0 };
	struct directive directive;
	struct arguments arguments;

	va_copy(arguments.list, list);
	while (*format) {
		const size_t plain = strcspn(format, "%");

		print_put(&sink, format, plain);
		format += plain;
		if (*format) {
			format = print_parse(&directive, format + 1, &arguments);
			print_convert(&sink, &directive, &arguments);
		}
	}
	va_end(arguments.list);
	if (size)
		out[sink.used < size ? sink.used : print_whole(out, size - 1)] = '\0';
	return sink.used;
}

size_t print_text(char *out, size_t size, const char *format, ...)
{
	va_list arguments;
	size_t bytes;

	va_start(arguments, format);
	bytes = print_arguments(out, size, format, arguments);
	va_end(arguments);
	return bytes;
}
