/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Texts, numbers and the environment for code that runs at the start of every traced program. printf, strtoul and the
 * like would load pages of the C library's code and tables into a program that may not need them otherwise, some
 * 200 KiB (bench/run BUILD idle).
 */
#ifndef BURIN_BASE_NOLIBC_H
#define BURIN_BASE_NOLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"

/* A text to which pieces are appended. Always NUL-terminated. */
struct nolibc_string {
	char *out;
	size_t size; /* of @out, with the NUL; at least 1 */
	size_t used;
	bool truncated; /* a piece had not enough room */
};

static inline void nolibc_bytes(struct nolibc_string *text, const char *piece, size_t bytes)
{
	if (bytes >= text->size - text->used) {
		bytes = text->size - text->used - 1;
		text->truncated = true;
	}
	memcpy(text->out + text->used, piece, bytes);
	text->used += bytes;
	text->out[text->used] = 0;
}

static inline void nolibc_text(struct nolibc_string *text, const char *piece)
{
	nolibc_bytes(text, piece, strlen(piece));
}

static inline void nolibc_decimal(struct nolibc_string *text, uint64_t value)
{
	char digits[NUMBER_DIGITS_MAX];

	nolibc_bytes(text, digits, (size_t)(number_decimal(digits, value) - digits));
}

static inline void nolibc_hex(struct nolibc_string *text, uint64_t value)
{
	char digits[NUMBER_HEX_MAX];

	nolibc_bytes(text, digits, (size_t)(number_radix(digits, value, 4, "0123456789abcdef") - digits));
}

/* nolibc_number - the digits at the start of a text, in base 10 or 16; 0 if there are none. @end: receives the position
 * behind them; may be NULL */
static inline uint64_t nolibc_number(const char *text, unsigned base, const char **end)
{
	uint64_t value = 0;

	for (unsigned digit;; text++) {
		if (*text >= '0' && *text <= '9')
			digit = (unsigned)(*text - '0');
		else if (base == 16 && *text >= 'a' && *text <= 'f')
			digit = (unsigned)(*text - 'a') + 10;
		else
			break;
		value = value * base + digit;
	}
	if (end)
		*end = text;
	return value;
}

/* By system calls: the C library's functions for them are in pages that a program may not need otherwise. */
static inline uint32_t nolibc_pid(void)
{
	return (uint32_t)syscall(SYS_getpid);
}

static inline uint32_t nolibc_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static inline uint32_t nolibc_user(void)
{
	return (uint32_t)syscall(SYS_geteuid);
}

/* nolibc_environment - a variable's value; NULL in a set-uid program, whose caller is not trusted. Some programs have another getenv(). */
static inline const char *nolibc_environment(const char *name)
{
	for (char **at = getauxval(AT_SECURE) ? NULL : environ; at && *at; at++) {
		size_t n = 0;

		while (name[n] && (*at)[n] == name[n])
			n++;
		if (!name[n] && (*at)[n] == '=')
			return *at + n + 1;
	}
	return NULL;
}

#endif
