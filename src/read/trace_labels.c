/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names that a field's values have: those of the enum that follows its conversion (docs/format.md, "Enums"). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/trace.h"
#include "wire/wire_enum.h"

struct read_label {
	int64_t value;
	char text[WIRE_ENUM_LABEL_MAX + 1];
};

static int trace_labels_compare(const void *a, const void *b)
{
	const struct read_label *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

int read_labels_load(struct burin_trace *trace, struct read_field *field, const char *format,
		     const char *enums)
{
	const char *name = format + field->parsed.spec + field->parsed.spec_bytes + 1;
	const char *begin =
		field->parsed.enum_bytes ? wire_enum_find(enums, name, field->parsed.enum_bytes - 2u) : NULL;
	struct wire_label label;
	unsigned count = 0;

	if (!begin)
		return 0;
	field->named = true;
	for (const char *at = begin; wire_enum_next(&at, &label);)
		count++;
	if (read_memory_take(trace, ".burin/events", 0, count * sizeof(*field->labels)))
		return 0;
	field->labels = calloc(count ? count : 1, sizeof(*field->labels));
	if (!field->labels)
		return -ENOMEM;
	for (const char *at = begin; wire_enum_next(&at, &label);) {
		struct read_label *next = &field->labels[field->label_count++];

		next->value = label.value;
		memcpy(next->text, label.text, label.bytes);
	}
	qsort(field->labels, field->label_count, sizeof(*field->labels), trace_labels_compare);
	return 0;
}

const char *burin_field_label(const struct burin_field *field, int64_t value)
{
	const struct read_field *read = (const struct read_field *)field;
	const struct read_label key = { .value = value }, *found = NULL;

	if (read->label_count)
		found = bsearch(&key, read->labels, read->label_count, sizeof(key), trace_labels_compare);
	return found ? found->text : NULL;
}
