/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Columns of tables; see name_columns.h. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "view/name_columns.h"
#include "view/symbol_label.h"

enum {
	NAME_BYTES = 4096,
};

static int name_columns_by_text(const void *a, const void *b)
{
	const struct view_label *const *one = a, *const *other = b;

	return strcmp((*one)->text, (*other)->text) ?: strcmp((*one)->name, (*other)->name);
}

static bool name_columns_shorten(struct view_label *label)
{
	char room[NAME_BYTES], *text;

	text = strdup(view_symbol_short(label->name, VIEW_COLUMNS_MAX, label->less, room, sizeof(room)));
	if (!text)
		return false;
	free(label->text);
	label->text = text;
	return true;
}

/* Shorten less what became alike. Return: false: no memory, or no two names are alike. */
static bool set_apart(struct view_label **sorted, size_t count)
{
	bool changed = false, failed = false;

	qsort(sorted, count, sizeof(*sorted), name_columns_by_text);
	for (size_t n = 0, end; n < count && !failed; n = end) {
		bool alike = false;

		for (end = n + 1; end < count && !strcmp(sorted[end]->text, sorted[n]->text); end++)
			alike |= strcmp(sorted[end]->name, sorted[n]->name) != 0;
		for (size_t at = n; alike && at < end; at++) {
			sorted[at]->less++;
			changed |= strcmp(sorted[at]->text, sorted[at]->name) != 0;
		}
	}
	for (size_t n = 0; changed && !failed && n < count; n++)
		failed = sorted[n]->less && !name_columns_shorten(sorted[n]);
	return changed && !failed;
}

void view_labels_free(struct view_label *labels, size_t count)
{
	for (size_t n = 0; labels && n < count; n++)
		free(labels[n].text);
	free(labels);
}

struct view_label *view_labels_make(const char *(*name)(const void *data, size_t row), const void *data,
				    size_t count)
{
	struct view_label *labels = calloc(count + 1, sizeof(*labels));
	struct view_label **sorted = calloc(count + 1, sizeof(*sorted));
	bool failed = !labels || !sorted;

	for (size_t n = 0; n < count && !failed; n++) {
		labels[n].name = name(data, n);
		sorted[n] = &labels[n];
		failed = !name_columns_shorten(&labels[n]);
	}
	while (!failed && set_apart(sorted, count))
		continue;
	free(sorted);
	if (!failed)
		return labels;
	view_labels_free(labels, count);
	return NULL;
}

void view_column(struct view_buffer *out, const char *text, unsigned columns, bool whole)
{
	size_t before = out->used;
	unsigned wide;
	char *safe;

	view_buffer_escape(out, *text ? text : "-");
	if (!columns || !view_buffer_reserve(out, VIEW_COLUMNS_MAX + 8))
		return;
	*view_buffer_reserve(out, 1) = '\0';
	safe = out->bytes + before;
	wide = (unsigned)text_columns(safe);
	if (wide > columns && !whole) {
		/* Truncate at the beginning of a character. */
		unsigned kept = 0;

		while (kept < columns - 1) {
			safe++;
			while ((*safe & 0xc0) == 0x80)
				safe++;
			kept++;
		}
		memcpy(safe, "\xe2\x80\xa6", 3);
		view_buffer_commit(out, safe + 3);
		wide = columns;
	}
	view_buffer_print(out, "%*s", wide > columns ? 2 : (int)(columns - wide) + 2, "");
}

unsigned view_column_wider(unsigned wide, const char *text)
{
	char safe[4 * VIEW_COLUMNS_MAX + 8];
	const unsigned own = (unsigned)text_columns(text_escape_line(safe, sizeof(safe), text));

	wide = own > wide ? own : wide;
	return wide > VIEW_COLUMNS_MAX ? VIEW_COLUMNS_MAX : wide;
}

void view_column_title(struct view_buffer *out, const char *name, unsigned columns)
{
	char title[16];
	size_t at = 0;

	for (; *name && at + 1 < sizeof(title); name++)
		title[at++] = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
	title[at] = '\0';
	view_column(out, title, columns, false);
}
