/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * printf for terminals, for all text that a user reads. The format is ours and is printed unchanged. Each string argument
 * counts as foreign and is escaped by text_escape(). So a caller need not escape names, paths or messages, and cannot
 * forget to.
 *
 * Conversions: d i u x X o c s e f g and %%, with flags, width, precision and the lengths hh h l ll z j t. The width of
 * a string counts printed columns; its precision counts bytes of the argument.
 */
#ifndef BURIN_BASE_PRINT_H
#define BURIN_BASE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* Colours, which may be string arguments: they are recognised by their address, which no foreign text has. */
enum print_style {
	PRINT_OFF,
	PRINT_BOLD,
	PRINT_DIM,
	PRINT_WARN,
	PRINT_STYLES
};

extern const char print_styles[PRINT_STYLES][8];

/*
 * print_text, print_arguments - format as snprintf() does, with strings made safe for a terminal.
 * @size: of @out, with the NUL; 0: only measure, @out may be NULL
 *
 * Context: any; allocates nothing. A text that is cut to fit ends with a whole UTF-8 character.
 * Return: the bytes of the whole text, without the NUL.
 */
size_t print_text(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t print_arguments(char *out, size_t size, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

/* print_whole - the largest length up to `bytes` at which a text can be cut without cutting a UTF-8 character. */
size_t print_whole(const char *text, size_t bytes);

#endif
