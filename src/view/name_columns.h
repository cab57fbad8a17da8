/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Columns of tables with names: of functions above all, which may be long. */
#ifndef BURIN_VIEW_NAME_COLUMNS_H
#define BURIN_VIEW_NAME_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "view/buffer.h"

enum {
	VIEW_COLUMNS_MAX = 60, /* of each column but the last */
};

/* A function's name in a table, shortened to fit its column, but not so far that two become alike. */
struct view_label {
	const char *name;
	char *text; /* owned by the label */
	unsigned less;
};

/* view_labels_make - labels for the rows of a table. @name: of a row. Return: the caller frees it; NULL: no memory. */
struct view_label *view_labels_make(const char *(*name)(const void *data, size_t row), const void *data,
				    size_t count);
void view_labels_free(struct view_label *labels, size_t count);

/*
 * view_column - untrusted text in a column of so many characters; 0: the last column, which is not padded.
 * @whole: not truncated
 */
void view_column(struct view_buffer *out, const char *text, unsigned columns, bool whole);

/* view_column_wider - the width of a column that also has this text. */
unsigned view_column_wider(unsigned wide, const char *text);

/* view_column_title - the name of a part in capitals, as the title of its column. */
void view_column_title(struct view_buffer *out, const char *name, unsigned columns);

#endif
