/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Text for users: make foreign bytes safe for a terminal or for JSON; format sizes, durations and counts.
 */
#ifndef BURIN_BASE_TEXT_H
#define BURIN_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum {
	TEXT_ESCAPE_MAX = 4, /* bytes of output for one of input, at most */
	TEXT_JSON_MAX = 6,
	TEXT_UTF8_MAX = 3,
	TEXT_SHORT = 32, /* room for a size, a duration or a count, with its NUL */
};

/*
 * text_escape - make bytes safe for a terminal.
 * @out: room for TEXT_ESCAPE_MAX * @bytes; no NUL is written
 *
 * Printable ASCII and valid UTF-8 stay. A backslash is doubled. Control characters become \n, \t, \r, \e or \xHH; bytes
 * that are not UTF-8 become \xHH. Characters that turn, break or hide text (C1 controls, line and paragraph separators,
 * bidirectional controls, zero-width marks) become \uHHHH or \UHHHHHHHH.
 *
 * Context: any; allocates nothing.
 * Return: the bytes written.
 */
size_t text_escape(char *out, const char *in, size_t bytes);

/*
 * text_escape_line - the same for a string, NUL-terminated, cut to fit.
 * @size: of @out, with the NUL; at least 1
 * Return: @out.
 */
char *text_escape_line(char *out, size_t size, const char *in);

/*
 * text_mask - replace by `?`, in place, the bytes that text_escape() would not keep, but the backslash: for text in a file of
 * lines, which is escaped when it is shown, or read by other tools. Return: @text.
 */
char *text_mask(char *text);

/*
 * text_json - bytes as the content of a JSON string. Bytes that are not UTF-8 become U+FFFD.
 * @out: room for TEXT_JSON_MAX * @bytes; no NUL is written
 * Return: the bytes written.
 */
size_t text_json(char *out, const char *in, size_t bytes);

/* text_utf8 - bytes as UTF-8: those that are not become U+FFFD. @out: room for TEXT_UTF8_MAX * @bytes. Return: the bytes written. */
size_t text_utf8(char *out, const char *in, size_t bytes);

/* text_hex - bytes as two hexadecimal digits each; @out has room for 2 * @bytes. Return: the bytes written. */
size_t text_hex(char *out, const void *in, size_t bytes);

/* text_size, text_duration, text_count - "686.6 MiB", "12.3 ms", "30,000,000"; each returns @out. */
char *text_size(char out[TEXT_SHORT], uint64_t bytes);
char *text_duration(char out[TEXT_SHORT], uint64_t ns);
char *text_count(char out[TEXT_SHORT], uint64_t count);

/* text_plural - "s" behind a noun, or "" for one. */
static inline const char *text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* text_columns - the columns of escaped text on a terminal; each character counts as one. */
size_t text_columns(const char *text);

#endif
