/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For what runs in every program at its start: texts, numbers and the environment by the plainest means. printf,
 * strtoul and their kin would bring pages of the C library's code and tables into the memory of a program that
 * otherwise has no use for them, some 200 KiB (bench/run BUILD idle).
 */
#ifndef BURIN_BASE_PLAIN_H
#define BURIN_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"

/* A text that is put together from pieces; one that has no room is cut, and said to be. Always NUL-terminated. */
struct plain {
	char *out;
	size_t size; /* of @out, with the NUL; at least 1 */
	size_t used;
	bool cut;
};

static inline void plain_bytes(struct plain *text, const char *piece, size_t bytes)
{
	if (bytes >= text->size - text->used) {
		bytes = text->size - text->used - 1;
		text->cut = true;
	}
	memcpy(text->out + text->used, piece, bytes);
	text->used += bytes;
	text->out[text->used] = 0;
}

static inline void plain_text(struct plain *text, const char *piece)
{
	plain_bytes(text, piece, strlen(piece));
}

static inline void plain_decimal(struct plain *text, uint64_t value)
{
	char digits[NUMBER_DIGITS_MAX];

	plain_bytes(text, digits, (size_t)(number_decimal(digits, value) - digits));
}

static inline void plain_hex(struct plain *text, uint64_t value)
{
	char digits[NUMBER_HEX_MAX];

	plain_bytes(text, digits, (size_t)(number_radix(digits, value, 4, "0123456789abcdef") - digits));
}

/* plain_number - the digits at the head of a text, in base 10 or 16; 0 if there are none. @end: behind them; may be NULL */
static inline uint64_t plain_number(const char *text, unsigned base, const char **end)
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

/* Who runs. By the system call itself: the C library's functions for them lie in pages that few others use. */
static inline uint32_t plain_pid(void)
{
	return (uint32_t)syscall(SYS_getpid);
}

static inline uint32_t plain_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static inline uint32_t plain_user(void)
{
	return (uint32_t)syscall(SYS_geteuid);
}

/* plain_environment - a variable's value; NULL in a program with its owner's rights, whose caller is not to be trusted. */
static inline const char *plain_environment(const char *name)
{
	return getauxval(AT_SECURE) ? NULL : getenv(name);
}

#endif
