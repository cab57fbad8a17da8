/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writing a table that samples refer to (wire/wire_profile.h). Entries are built one by one and go to the file in blocks.
 *
 * An entry exists for readers once its block is written. The caller flushes the blocks before the records that need them.
 * A full block is written at once, after the blocks of the tables that it refers to: a killed recorder leaves no dangling
 * reference. Blocks are therefore many and small, which compresses badly. table_writer_finish() merges them at the end.
 */
#ifndef BURIN_WRITER_TABLE_WRITER_H
#define BURIN_WRITER_TABLE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "wire/wire_profile.h"

struct table_writer {
	int fd;				/* -1: none */
	uint64_t at;			/* bytes of the file */
	unsigned char *block;		/* entries that are not in the file yet */
	size_t bytes, room, sound;	/* `sound`: bytes of complete entries */
	uint32_t entries;		/* of the block */
	uint32_t columns;		/* numbers in an entry, if blocks are stored by column; otherwise 0 */
	struct ZSTD_CCtx_s *zstd;	/* reused: a new one costs more than a small block */
	uint32_t count;			/* entries of the table */
	int error;			/* the first one; nothing is written after it */
	struct table_writer *refers[2]; /* set by the caller: tables that entries refer to, flushed first */
};

/* table_writer_begin - make the file. @directory: of the trace; @name: ".burin/stacks". Return: 0 or -errno. */
int table_writer_begin(struct table_writer *table, int directory, const char *name, uint32_t magic);

/* table_writer_without - a table without a file: entries get numbers, and are kept nowhere. */
void table_writer_without(struct table_writer *table);

/* table_writer_number, table_writer_text - add a field to the entry. A text is cut at WIRE_TEXT_MAX bytes. */
void table_writer_number(struct table_writer *table, uint64_t value);
void table_writer_text(struct table_writer *table, const void *text, size_t bytes);

/* table_writer_entry - add an entry that the caller has encoded. Return: as table_writer_end(). */
uint32_t table_writer_entry(struct table_writer *table, const void *entry, size_t bytes);

/* table_writer_end - complete the entry. Return: its number; 0: it could not be added (->error). */
uint32_t table_writer_end(struct table_writer *table);

/* table_writer_flush - write the block, after those of the tables that it refers to. Return: 0 or ->error. */
int table_writer_flush(struct table_writer *table);

/*
 * table_writer_finish - merge the blocks of a file that is complete. The smaller file replaces the old one by rename. If
 * that fails the old file stays, and nothing is lost.
 * @directory, @name: as for table_writer_begin()
 * @columns: numbers in an entry that has only numbers; 0: it has texts, or is not stored by column
 * Context: takes up to TABLE_WRITER_BLOCK bytes, and the memory that zstd needs for them.
 */
void table_writer_finish(struct table_writer *table, int directory, const char *name, uint32_t columns);

/*
 * table_writer_next - continue in a copy of the file, with all entries and their numbers.
 * @directory, @name: as for table_writer_begin(); the old file stays as it is
 * Return: 0 or ->error.
 */
int table_writer_next(struct table_writer *table, int directory, const char *name);

/* table_writer_close - close the file as it is. */
void table_writer_close(struct table_writer *table);

#endif
