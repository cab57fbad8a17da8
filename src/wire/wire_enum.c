/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The text of enums (wire_enum.h), which may come from a hostile session or file. */
#include "wire/wire_enum.h"

#include <string.h>

#include "wire/wire_event.h"

static bool is_label(char c)
{
	return (c >= '0' && c <= ':') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       c == '.' || c == '-';
}

/* The size of a name or label; 0: there is none, or it is too long. */
static size_t word_bytes(const char *at)
{
	size_t bytes = 0;

	while (is_label(at[bytes]))
		bytes++;
	return bytes <= WIRE_ENUM_LABEL_MAX ? bytes : 0;
}

/* Read a number. Return: what is behind it; NULL: it is none. */
static const char *read_value(const char *at, int64_t *value)
{
	const bool negative = *at == '-';
	const uint64_t most = (uint64_t)INT64_MAX + negative;
	const char *digits = at += negative;
	uint64_t number = 0;

	for (; *at >= '0' && *at <= '9'; at++) {
		const unsigned digit = (unsigned)(*at - '0');

		if (number > (most - digit) / 10)
			return NULL;
		number = number * 10 + digit;
	}
	*value = (int64_t)(negative ? 0 - number : number);
	return at > digits ? at : NULL;
}

/* Read " LABEL=VALUE". Return: what is behind it; NULL: it is none. */
static const char *read_label(const char *at, struct wire_label *label)
{
	if (*at++ != ' ')
		return NULL;
	label->text = at;
	label->bytes = word_bytes(at);
	at += label->bytes;
	return label->bytes && *at == '=' ? read_value(at + 1, &label->value) : NULL;
}

bool wire_enum_valid(const char *text)
{
	struct wire_label label;

	if (strnlen(text, WIRE_ENUMS_MAX + 1) > WIRE_ENUMS_MAX)
		return false;
	while (*text) {
		const size_t name = word_bytes(text);

		if (!name)
			return false;
		for (text += name; *text != '\n';) {
			text = read_label(text, &label);
			if (!text)
				return false;
		}
		text++;
	}
	return true;
}

const char *wire_enum_find(const char *text, const char *name, size_t bytes)
{
	for (; *text; text = strchr(text, '\n') + 1) {
		const size_t here = word_bytes(text);

		if (here == bytes && memcmp(text, name, bytes) == 0)
			return text + here;
	}
	return NULL;
}

bool wire_enum_next(const char **at, struct wire_label *label)
{
	const char *next = read_label(*at, label);

	if (next)
		*at = next;
	return next != NULL;
}

bool wire_enum_fits(const struct wire_label *label, unsigned bits, bool has_sign)
{
	const int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - has_sign)) - 1;

	return label->value <= most && label->value >= (has_sign ? -most - 1 : 0);
}
