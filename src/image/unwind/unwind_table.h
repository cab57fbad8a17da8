/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The unwind tables of one image. Foreign bytes: whatever they are, each address has a row, be it an unknown one. */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_TABLE_H
#define BURIN_IMAGE_UNWIND_UNWIND_TABLE_H

#include <stdint.h>

#include "image/elf/image.h"
#include "image/unwind/unwind_row.h"

/* The tables of one image, and the rows compiled from them. For one thread at a time. */
struct unwind_table;

/*
 * unwind_table_open - find an image's tables and copy them, so later changes of the file do no harm.
 * @image: may be closed afterwards
 * Return: 0; -ENOENT: it has none; -ENOTSUP: code of another architecture; -ENOMEM.
 */
int unwind_table_open(struct unwind_table **table, const struct image *image);
void unwind_table_close(struct unwind_table *table);

/* unwind_table_bytes - the memory of the tables, without rows, which are few. */
uint64_t unwind_table_bytes(const struct unwind_table *table);

/*
 * unwind_table_extent - the code that the entry for an address covers: mostly a function, even one without a symbol.
 * Return: 0; -ENOENT: there is no entry.
 */
int unwind_table_extent(const struct unwind_table *table, uint64_t address, uint64_t *begin, uint64_t *bytes);

/* unwind_table_row - the row for an address of the image; never NULL; valid until the next call. */
const struct unwind_row *unwind_table_row(struct unwind_table *table, uint64_t address);

/* unwind_table_start - the entry point, if the image is a program. */
uint64_t unwind_table_start(const struct unwind_table *table);

/* unwind_table_expression - the expression that a row refers to. */
struct bytes unwind_table_expression(const struct unwind_table *table, int32_t offset);

#endif
