/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The unwind tables of one image. Foreign bytes: whatever they are, each address has a row, be it an unknown one. */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_TABLE_H
#define BURIN_IMAGE_UNWIND_UNWIND_TABLE_H

#include <stdint.h>

#include "image/elf/image.h"
#include "image/unwind/unwind_meter.h"
#include "image/unwind/unwind_row.h"

/* The tables of one image, and the rows compiled from them. For one thread at a time. */
struct unwind_table;

/*
 * unwind_table_open - find an image's tables and copy them, so later changes of the file do no harm.
 * @image: may be closed afterwards
 * Return: 0; -ENOENT: it has none; -ENOTSUP: code of another architecture; -ENOMEM.
 */
int unwind_table_open(struct unwind_table **table, const struct image *image);
/*
 * unwind_table_open_file - the same, but entries are read from the file when they are needed, and seldom kept. A file that
 * changes meanwhile gives wrong callers, or none. An image in memory, or compressed tables, are copied.
 * @image: must live as long as the table
 * @meter: of this table and others, must live as long as they; where it permits no work, rows are unknown and not kept.
 *	NULL: without a limit
 */
int unwind_table_open_file(struct unwind_table **table, const struct image *image,
			   struct unwind_meter *meter);
void unwind_table_close(struct unwind_table *table);

/* unwind_table_bytes - the memory of a table, with the rows of now, without what unwind_table_shrink() frees. */
uint64_t unwind_table_bytes(const struct unwind_table *table);

/* unwind_table_shrink - free the entries that were read from the file. Expressions are not valid any more. */
void unwind_table_shrink(struct unwind_table *table);

/*
 * unwind_table_extent - the code that the entry for an address covers: mostly a function, even one without a symbol.
 * Return: 0; -ENOENT: there is no entry.
 */
int unwind_table_extent(struct unwind_table *table, uint64_t address, uint64_t *begin, uint64_t *bytes);

/* unwind_table_row - the row for an address of the image; never NULL; valid until the next call. */
const struct unwind_row *unwind_table_row(struct unwind_table *table, uint64_t address);

/* unwind_table_start - the entry point, if the image is a program. */
uint64_t unwind_table_start(const struct unwind_table *table);

/* unwind_table_expression - the expression that a row refers to; valid until the next call of any function. */
struct bytes unwind_table_expression(const struct unwind_table *table, int32_t offset);

#endif
