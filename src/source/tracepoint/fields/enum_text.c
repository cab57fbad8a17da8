/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The text of enums; see enum_text.h. */
#include "source/tracepoint/fields/enum_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/wire_enum.h"
#include "wire/wire_format.h"

static const struct burin_enum *find(const char *name, size_t bytes, const struct burin_enum *at,
				     const struct burin_enum *end)
{
	for (; at < end; at++)
		if (strlen(at->name) == bytes && memcmp(at->name, name, bytes) == 0)
			return at;
	return NULL;
}

/* Text in which a separator would be misread becomes a text that is not valid. */
static const char *word(const char *text)
{
	return strpbrk(text, " =\n") ? "?" : text;
}

static size_t size_of(const struct burin_enum *one)
{
	size_t bytes = strlen(one->name) + 2;

	for (const struct burin_label *label = one->labels; label->name; label++)
		bytes += strlen(label->name) + sizeof(" =-9223372036854775808");
	return bytes;
}

/* Append an enum to a text. Return: the longer text; NULL: no memory, and the text is freed. */
static char *append(char *text, const struct burin_enum *one)
{
	const size_t used = text ? strlen(text) : 0, room = used + size_of(one) + 1;
	char *longer = realloc(text, room), *at;

	if (!longer) {
		free(text);
		return NULL;
	}
	at = longer + used;
	at += sprintf(at, "%s", word(one->name));
	for (const struct burin_label *label = one->labels; label->name; label++)
		at += sprintf(at, " %s=%lld", word(label->name), label->value);
	strcpy(at, "\n");
	return longer;
}

/* Whether the text already has the enum. It may not be valid, so only whole names are compared. */
static bool has(const char *text, const char *name, size_t bytes)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, name, bytes) == 0 && (line[bytes] == ' ' || line[bytes] == '\n'))
			return true;
	return false;
}

char *enum_text(const char *format, const struct burin_enum *begin, const struct burin_enum *end)
{
	struct format_field field;
	const char *why;
	char *text = NULL;
	size_t offset = 0;

	while (begin < end && format_conversion_next(format, &offset, &field, &why) > 0) {
		const char *name = format + field.spec + field.spec_bytes + 1;
		const size_t bytes = field.enum_bytes ? field.enum_bytes - 2u : 0;
		const struct burin_enum *one = bytes ? find(name, bytes, begin, end) : NULL;

		if (!one || has(text, name, bytes))
			continue;
		text = append(text, one);
		if (!text)
			return NULL;
	}
	return text;
}
