/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code made at run time, as named by its compiler: in a text, `perf-PID.map` (lines of an address, a size and a name,
 * the numbers hexadecimal), or in a jitdump (Linux, tools/perf/Documentation/jitdump-specification.txt), which also has
 * lines, and moves of code.
 *
 * Memory is reused, so the last entry for an address holds. The file is read once, from its beginning, and each entry
 * overwrites the names of the wanted addresses that it covers; no table of all entries is made.
 *
 * A jitdump also has the code itself, at an offset in the file that never changes, while addresses are reused. A reader
 * that follows the dump while it is written (jitdump_next()) identifies code by this offset, so moves change nothing.
 */
#ifndef BURIN_IMAGE_NAMES_JITMAP_H
#define BURIN_IMAGE_NAMES_JITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jitmap_name {
	uint64_t begin, size; /* of the function, addresses */
	const char *name;     /* `bytes` long; NULL: no entry covers the address */
	uint32_t bytes;
	const char *file; /* NUL-terminated; NULL: unknown */
	uint32_t line;
};

struct jitmap {
	char *text; /* the file */
	size_t bytes;
};

/*
 * jitmap_read - read a file into memory.
 * @file: the caller closes it
 * Return: 0, or a negative errno; -EFBIG: larger than a gigabyte.
 */
int jitmap_read(struct jitmap *map, int file);
void jitmap_free(struct jitmap *map);

/*
 * jitmap_find - the names of addresses.
 * @addresses: @count of them, sorted
 * @names: as many, pointing into @map. Reading a jitdump ends at a damaged record; of a text, a damaged line is skipped.
 * Return: false: it was too much work, and the rest was not read.
 */
bool jitmap_find(const struct jitmap *map, const uint64_t *addresses, size_t count,
		 struct jitmap_name *names);

/* jitdump_find - the same for offsets in a jitdump; jitmap_name.begin is an offset too. */
bool jitdump_find(const struct jitmap *map, const uint64_t *offsets, size_t count, struct jitmap_name *names);

struct jitdump_record {
	enum {
		JITDUMP_OTHER,
		JITDUMP_LOAD,
		JITDUMP_MOVE
	} kind;
	uint64_t time; /* ns of CLOCK_MONOTONIC, unless the compiler uses another clock */
	uint64_t address, size;
	uint64_t code; /* LOAD: its offset in the dump */
	uint64_t from; /* MOVE: the old address */
};

/* Bytes of a dump that were read last: a system call for each record would cost more than all else. */
struct jitdump_window {
	uint64_t at;
	size_t bytes; /* 0: nothing */
	char data[4096];
};

/*
 * jitdump_next - the next record of a dump that may still grow.
 * @window: the caller's; valid until the file grows
 * @bytes: the file's size now
 * @at: the record's offset; 0: the beginning; moved to the next one
 * Return: false: there is none yet, or it is not a record.
 */
bool jitdump_next(struct jitdump_window *window, int file, uint64_t bytes, uint64_t *at,
		  struct jitdump_record *record);

#endif
