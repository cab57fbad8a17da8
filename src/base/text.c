/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Make foreign bytes safe. The common case, printable ASCII, is one table look-up and one store a byte.
 */
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

static bool text_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '"';
}

/* Whether all eight bytes are text_plain(). */
static bool plain_word(const unsigned char *at)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x80 * ones;
	uint64_t word, quotes, slashes;

	memcpy(&word, at, sizeof(word));
	quotes = word ^ '"' * ones;
	slashes = word ^ '\\' * ones;
	return !((word | (word + ones) | (word - 0x20 * ones) | (quotes - ones) | (slashes - ones)) & tops);
}

static bool text_continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Decode the UTF-8 character at the beginning of @in. Return: its bytes; 0: it is not valid (overlong, surrogate, beyond
 * U+10FFFF, cut). */
static size_t utf8_character(const unsigned char *in, size_t bytes, uint32_t *code)
{
	if (in[0] < 0x80) {
		*code = in[0];
		return 1;
	}
	if (in[0] >= 0xc2 && in[0] < 0xe0 && bytes >= 2 && text_continues(in[1])) {
		*code = (in[0] & 0x1fu) << 6 | (in[1] & 0x3fu);
		return 2;
	}
	if (in[0] >= 0xe0 && in[0] < 0xf0 && bytes >= 3 && text_continues(in[1]) && text_continues(in[2])) {
		*code = (in[0] & 0xfu) << 12 | (in[1] & 0x3fu) << 6 | (in[2] & 0x3fu);
		return *code >= 0x800 && (*code < 0xd800 || *code > 0xdfff) ? 3 : 0;
	}
	if (in[0] >= 0xf0 && in[0] < 0xf5 && bytes >= 4 && text_continues(in[1]) && text_continues(in[2]) &&
	    text_continues(in[3])) {
		*code = (in[0] & 7u) << 18 | (in[1] & 0x3fu) << 12 | (in[2] & 0x3fu) << 6 | (in[3] & 0x3fu);
		return *code >= 0x10000 && *code <= 0x10ffff ? 4 : 0;
	}
	return 0;
}

/* Valid characters that change the text around them. */
static bool text_mischievous(uint32_t code)
{
	return (code >= 0x80 && code < 0xa0) ||	     /* C1: a terminal's controls in one character */
	       code == 0xad || code == 0x61c ||	     /* soft hyphen, Arabic letter mark */
	       (code >= 0x200b && code <= 0x200f) || /* zero width, left-to-right and right-to-left marks */
	       (code >= 0x2028 && code <= 0x202e) || /* separators, embeddings and overrides */
	       (code >= 0x2060 && code <= 0x206f) || /* invisible operators, isolates */
	       code == 0xfeff ||		     /* byte order mark */
	       (code >= 0xfff9 && code <= 0xfffb) || /* annotations */
	       (code >= 0xe0000 && code <= 0xe0fff); /* tags */
}

static char *escape_hex(char *out, unsigned char byte)
{
	*out++ = '\\';
	*out++ = 'x';
	*out++ = hex_digits[byte >> 4];
	*out++ = hex_digits[byte & 15];
	return out;
}

static char *escape_code(char *out, uint32_t code)
{
	*out++ = '\\';
	*out++ = code > 0xffff ? 'U' : 'u';
	for (int shift = code > 0xffff ? 28 : 12; shift >= 0; shift -= 4)
		*out++ = hex_digits[code >> shift & 15];
	return out;
}

static char *escape_control(char *out, unsigned char byte)
{
	static const char letters[] = "\aa\bb\tt\nn\vv\ff\rr\033e\\\\";

	for (const char *at = letters; *at; at += 2) {
		if ((unsigned char)*at == byte) {
			*out++ = '\\';
			*out++ = at[1];
			return out;
		}
	}
	return escape_hex(out, byte);
}

/* Escape one character of @in. Return: its bytes in @in. */
static size_t escape_one(char **out, const unsigned char *in, size_t bytes)
{
	uint32_t code;
	size_t taken;

	if (*in == '"') {
		*(*out)++ = '"';
		return 1;
	}
	taken = utf8_character(in, bytes, &code);
	if (taken <= 1) {
		*out = taken && (code < 0x20 || code == '\\') ? escape_control(*out, *in)
							      : escape_hex(*out, *in);
		return 1;
	}
	if (text_mischievous(code)) {
		*out = escape_code(*out, code);
	} else {
		memcpy(*out, in, taken);
		*out += taken;
	}
	return taken;
}

size_t text_escape(char *out, const char *in, size_t bytes)
{
	const unsigned char *from = (const unsigned char *)in;
	char *to = out;

	for (size_t at = 0; at < bytes;) {
		if (text_plain(from[at]))
			*to++ = (char)from[at++];
		else
			at += escape_one(&to, from + at, bytes - at);
	}
	return (size_t)(to - out);
}

char *text_mask(char *text)
{
	size_t left = strlen(text), taken;

	for (char *at = text; left; at += taken, left -= taken) {
		uint32_t code = 0;
		const size_t whole = utf8_character((const unsigned char *)at, left, &code);

		taken = whole ? whole : 1;
		if (!whole || code < 0x20 || code == 0x7f || text_mischievous(code))
			memset(at, '?', taken);
	}
	return text;
}

char *text_escape_line(char *out, size_t size, const char *in)
{
	const unsigned char *from = (const unsigned char *)in;
	size_t left = strlen(in), used = 0;
	char one[12], *end;

	while (left) {
		size_t taken;

		end = one;
		taken = escape_one(&end, from, left);
		if (text_plain(*from)) {
			one[0] = (char)*from;
			end = one + 1;
			taken = 1;
		}
		if (used + (size_t)(end - one) >= size)
			break;
		memcpy(out + used, one, (size_t)(end - one));
		used += (size_t)(end - one);
		from += taken;
		left -= taken;
	}
	out[used] = '\0';
	return out;
}

static char *json_one(char *out, uint32_t code)
{
	static const char letters[] = "\bb\tt\nn\ff\rr\"\"\\\\";

	for (const char *at = letters; *at; at += 2) {
		if ((unsigned char)*at == code) {
			*out++ = '\\';
			*out++ = at[1];
			return out;
		}
	}
	if (code > 0xffff) {
		out = escape_code(out, 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + (code & 0x3ff);
	}
	return escape_code(out, code);
}

size_t text_json(char *out, const char *in, size_t bytes)
{
	const unsigned char *from = (const unsigned char *)in;
	char *to = out;

	for (size_t at = 0; at < bytes;) {
		uint32_t code;
		size_t taken;

		if (bytes - at >= 8 && plain_word(from + at)) {
			memcpy(to, from + at, 8);
			to += 8;
			at += 8;
			continue;
		}
		if (text_plain(from[at])) {
			*to++ = (char)from[at++];
			continue;
		}
		taken = utf8_character(from + at, bytes - at, &code);
		if (!taken)
			code = 0xfffd;
		if (taken > 1 && !text_mischievous(code)) {
			memcpy(to, from + at, taken);
			to += taken;
		} else {
			to = json_one(to, code);
		}
		at += taken ? taken : 1;
	}
	return (size_t)(to - out);
}

size_t text_utf8(char *out, const char *in, size_t bytes)
{
	const unsigned char *from = (const unsigned char *)in;
	char *to = out;

	for (size_t at = 0, taken; at < bytes; at += taken) {
		const uint64_t tops = 0x8080808080808080;
		uint64_t word = tops;
		uint32_t code;

		if (bytes - at >= sizeof(word))
			memcpy(&word, from + at, sizeof(word));
		taken = word & tops ? utf8_character(from + at, bytes - at, &code) : sizeof(word);
		memcpy(to, taken ? in + at : "\xef\xbf\xbd", taken ? taken : 3);
		to += taken ? taken : 3;
		taken += !taken;
	}
	return (size_t)(to - out);
}

size_t text_hex(char *out, const void *in, size_t bytes)
{
	const unsigned char *from = in;

	for (size_t at = 0; at < bytes; at++) {
		out[2 * at] = hex_digits[from[at] >> 4];
		out[2 * at + 1] = hex_digits[from[at] & 15];
	}
	return 2 * bytes;
}

char *text_size(char out[TEXT_SHORT], uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	unsigned unit = 0;

	if (bytes < 1024) {
		snprintf(out, TEXT_SHORT, "%u bytes", (unsigned)bytes);
		return out;
	}
	for (; value >= 1023.95 && unit < 5; unit++)
		value /= 1024;
	snprintf(out, TEXT_SHORT, "%.1f %s", value, units[unit]);
	return out;
}

char *text_duration(char out[TEXT_SHORT], uint64_t ns)
{
	if (ns < 1000)
		snprintf(out, TEXT_SHORT, "%u ns", (unsigned)ns);
	else if (ns < 1000000)
		snprintf(out, TEXT_SHORT, "%.3g us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(out, TEXT_SHORT, "%.3g ms", (double)ns / 1e6);
	else if (ns < 60000000000)
		snprintf(out, TEXT_SHORT, "%.2f s", (double)ns / 1e9);
	else if (ns < 3600000000000)
		snprintf(out, TEXT_SHORT, "%u min %02u s", (unsigned)(ns / 60000000000),
			 (unsigned)(ns / 1000000000 % 60));
	else
		snprintf(out, TEXT_SHORT, "%llu h %02u min", (unsigned long long)(ns / 3600000000000),
			 (unsigned)(ns / 60000000000 % 60));
	return out;
}

char *text_count(char out[TEXT_SHORT], uint64_t count)
{
	char digits[TEXT_SHORT];
	int bytes = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *to = out;

	for (int at = 0; at < bytes; at++) {
		if (at && (bytes - at) % 3 == 0)
			*to++ = ',';
		*to++ = digits[at];
	}
	*to = '\0';
	return out;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += !text_continues((unsigned char)*text);
	return columns;
}
