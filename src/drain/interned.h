/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writing a table of what samples refer to (wire/profile.h): entries are put together one after the other, and go to
 * the file in blocks. An entry exists for readers once its block was written; the caller writes the blocks
 * (interned_flush) before the records that need them. So they are many and small, in which little is said twice: at the
 * end they are put together (interned_finish).
 */
#ifndef BURIN_DRAIN_INTERNED_H
#define BURIN_DRAIN_INTERNED_H

#include <stddef.h>
#include <stdint.h>

#include "wire/profile.h"

struct interned {
	int fd;			   /* -1: none */
	uint64_t at;		   /* bytes of the file */
	unsigned char *block;	   /* entries that are not in the file yet */
	size_t bytes, room, sound; /* `sound`: of whole entries */
	uint32_t entries;	   /* of the block */
	uint32_t columns;	   /* numbers of an entry, if blocks are to lie column by column */
	struct ZSTD_CCtx_s *zstd;  /* kept from block to block: a new one costs more than a small block */
	uint32_t count;		   /* of the table */
	int error;		   /* the first one; nothing is written from then on */
};

/* interned_begin - make the file. @directory: of the trace; @name: ".burin/stacks". Return: 0 or -errno. */
int interned_begin(struct interned *table, int directory, const char *name, uint32_t magic);

/* interned_number, interned_text - the next field of the entry. A text is cut at WIRE_TEXT_MAX bytes. */
void interned_number(struct interned *table, uint64_t value);
void interned_text(struct interned *table, const void *text, size_t bytes);

/* interned_entry - a whole entry that somebody else has put together. Return: as interned_end(). */
uint32_t interned_entry(struct interned *table, const void *entry, size_t bytes);

/* interned_end - the entry is complete. Return: its number; 0: it could not be had (->error). */
uint32_t interned_end(struct interned *table);

/* interned_flush - write what is not in the file yet. Return: 0 or ->error. */
int interned_flush(struct interned *table);

/*
 * interned_finish - nothing is added to this file any more: make it small. The new one replaces it by rename; where
 * that is impossible it stays as it is, which is no loss.
 * @directory, @name: as for interned_begin()
 * @columns: numbers of an entry that has nothing else; 0: it has texts, or is to stay as it is
 * Context: up to INTERNED_BLOCK bytes, and what zstd needs for as many.
 */
void interned_finish(struct interned *table, int directory, const char *name, uint32_t columns);

/*
 * interned_next - go on in a file of its own, with all entries and their numbers.
 * @directory, @name: as for interned_begin(); the file so far stays as it is
 * Return: 0 or ->error.
 */
int interned_next(struct interned *table, int directory, const char *name);

/* interned_close - let go of the file as it is. */
void interned_close(struct interned *table);

#endif
