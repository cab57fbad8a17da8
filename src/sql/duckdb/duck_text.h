/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts of statements for DuckDB. */
#ifndef BURIN_SQL_DUCKDB_DUCK_TEXT_H
#define BURIN_SQL_DUCKDB_DUCK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "sql/duckdb/duck_library.h"
#include "view/buffer.h"

void duck_text_put(struct view_buffer *out, const char *text);
/* A name in quotes. */
void duck_text_quote(struct view_buffer *out, const char *name);
/* Ends a text by a NUL. Return: false: no memory. */
bool duck_text_end(struct view_buffer *out);

/* The bytes of the first statement, up to a semicolon that is not within quotes or a comment, or to the end. */
size_t duck_text_statement(const char *text);
/* Whether it has only blanks and comments. */
bool duck_text_is_blank(const char *text);

/*
 * duck_text_casts - a statement whose columns are those of another, as types that Burin prints: decimals as doubles, times, lists and others as texts.
 * Return: false: it is not needed, or no memory; then DuckDB's own types are printed as NULL.
 */
bool duck_text_casts(const char *text, duck_handle statement, struct view_buffer *out);

#endif
