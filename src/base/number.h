/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fast conversion of numbers to digits, of unaligned bytes to numbers, and of users' sizes and durations to numbers.
 * The functions that write digits return the position behind the last one and write no NUL.
 */
#ifndef BURIN_BASE_NUMBER_H
#define BURIN_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	NUMBER_DIGITS_MAX = 20, /* of a u64 in decimal */
	NUMBER_HEX_MAX = 16,
};

/* For qsort(): negative, 0 or positive. */
#define number_order(one, other) (((one) > (other)) - ((one) < (other)))

static inline uint16_t number_load16(const void *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t number_load32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t number_load64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static const char number_pairs[] = "00010203040506070809101112131415161718192021222324"
				   "25262728293031323334353637383940414243444546474849"
				   "50515253545556575859606162636465666768697071727374"
				   "75767778798081828384858687888990919293949596979899";

/* All nine digits, for nanoseconds; value < 10^9. */
static inline char *number_nano(char *out, uint32_t value)
{
	uint32_t high = value / 10000, low = value % 10000; /* 5 and 4 digits */

	out[0] = (char)('0' + high / 10000);
	high %= 10000;
	memcpy(out + 1, number_pairs + high / 100 * 2, 2);
	memcpy(out + 3, number_pairs + high % 100 * 2, 2);
	memcpy(out + 5, number_pairs + low / 100 * 2, 2);
	memcpy(out + 7, number_pairs + low % 100 * 2, 2);
	return out + 9;
}

/* The digits of a value below 10^9, written in place, the last pair first. */
static inline char *number_short(char *out, uint32_t value)
{
	unsigned digits = 1;

	for (uint32_t above = 10; value >= above && digits < 9; above *= 10)
		digits++;
	for (char *at = out + digits; at > out + 1; value /= 100) {
		at -= 2;
		memcpy(at, number_pairs + value % 100 * 2, 2);
	}
	if (digits & 1)
		*out = (char)('0' + value);
	return out + digits;
}

static inline char *number_decimal(char *out, uint64_t value)
{
	const uint64_t billion = 1000000000;

	if (value < billion)
		return number_short(out, (uint32_t)value);
	if (value < billion * billion)
		out = number_short(out, (uint32_t)(value / billion));
	else
		out = number_nano(number_short(out, (uint32_t)(value / (billion * billion))),
				  (uint32_t)(value / billion % billion));
	return number_nano(out, (uint32_t)(value % billion));
}

static inline char *number_signed(char *out, int64_t value)
{
	if (value >= 0)
		return number_decimal(out, (uint64_t)value);
	*out = '-';
	return number_decimal(out + 1, 0 - (uint64_t)value);
}

/* In base 2^bits (3: octal, 4: hexadecimal). @digits: "0123456789abcdef" or the upper-case ones */
static inline char *number_radix(char *out, uint64_t value, unsigned bits, const char *digits)
{
	unsigned count = 1;

	for (uint64_t rest = value >> bits; rest; rest >>= bits)
		count++;
	for (char *at = out + count; at > out; value >>= bits)
		*--at = digits[value & ((1u << bits) - 1)];
	return out + count;
}

/* A unit behind a number. */
struct number_unit {
	const char *name;
	uint64_t factor;
};

/*
 * number_parse - parse a number with a unit: "64K".
 * @units: ends with a NULL name; "" is the unit of a bare number
 * Return: false: it is not such a number, or too large.
 */
static inline bool number_parse(const char *text, const struct number_unit *units, uint64_t *value)
{
	uint64_t digits = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (digits > UINT64_MAX / 10 - 1)
			return false;
		digits = digits * 10 + (uint64_t)(*text - '0');
	}
	for (; units->name; units++) {
		if (strcmp(text, units->name) != 0)
			continue;
		*value = digits * units->factor;
		return digits <= UINT64_MAX / units->factor;
	}
	return false;
}

/* "64K": bytes. */
static inline bool number_parse_size(const char *text, uint64_t *bytes)
{
	static const struct number_unit units[] = { { "", 1 },	      { "K", 1 << 10 }, { "k", 1 << 10 },
						    { "M", 1 << 20 }, { "m", 1 << 20 }, { "G", 1 << 30 },
						    { "g", 1 << 30 }, { NULL, 0 } };

	return number_parse(text, units, bytes);
}

/* "250ms", "10m": nanoseconds. A bare number is not a duration. */
static inline bool number_parse_duration(const char *text, uint64_t *ns)
{
	static const struct number_unit units[] = { { "ns", 1 },
						    { "us", 1000 },
						    { "ms", 1000000 },
						    { "s", 1000000000 },
						    { "m", 60 * UINT64_C(1000000000) },
						    { "h", 3600 * UINT64_C(1000000000) },
						    { NULL, 0 } };

	return number_parse(text, units, ns);
}

#endif
