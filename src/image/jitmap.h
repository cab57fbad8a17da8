/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code made at run time, as the makers of it tell: in a text, `perf-PID.map` (lines of an address, a size and a name,
 * the numbers hexadecimal), or in a jitdump (Linux, tools/perf/Documentation/jitdump-specification.txt), which also has
 * lines, and code that moves.
 *
 * Memory is used again: whoever told last of an address is believed. So the file is read once, from its beginning, and
 * each entry is written over those of the wanted addresses that it covers; no table of it is made.
 *
 * A jitdump has the code itself, too. Where it lies in the file is one place for ever, whatever lay before or will lie at
 * the address: who follows the dump while it is written (jitdump_next()) knows code by that, and moves change nothing.
 */
#ifndef BURIN_IMAGE_JITMAP_H
#define BURIN_IMAGE_JITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jitmap_name {
	uint64_t begin, size; /* of the function, addresses */
	const char *name;     /* `bytes` long; NULL: nobody told of the address */
	uint32_t bytes;
	const char *file; /* NUL-terminated; NULL: unknown */
	uint32_t line;
};

struct jitmap {
	char *text; /* the file */
	size_t bytes;
};

/*
 * jitmap_read - take a file into memory.
 * @file: stays the caller's
 * Return: 0, or a negative errno; -EFBIG: larger than a gigabyte.
 */
int jitmap_read(struct jitmap *map, int file);
void jitmap_free(struct jitmap *map);

/*
 * jitmap_find - what it says of addresses.
 * @addresses: @count of them, sorted
 * @names: as many, which point into @map. What is damaged ends the reading of a jitdump, and costs a line of a text.
 */
void jitmap_find(const struct jitmap *map, const uint64_t *addresses, size_t count,
		 struct jitmap_name *names);

/* jitdump_find - the same of offsets in a jitdump: jitmap_name.begin is one, too. */
void jitdump_find(const struct jitmap *map, const uint64_t *offsets, size_t count, struct jitmap_name *names);

struct jitdump_record {
	enum {
		JITDUMP_OTHER,
		JITDUMP_LOAD,
		JITDUMP_MOVE
	} kind;
	uint64_t time; /* ns of CLOCK_MONOTONIC, unless the maker has another clock */
	uint64_t address, size;
	uint64_t code; /* LOAD: its offset in the dump */
	uint64_t from; /* MOVE: where it was */
};

/*
 * jitdump_next - the next record of a dump that may still be written.
 * @bytes: how long the file is now
 * @at: where to go on; 0: at the beginning
 * Return: false: there is none yet, or what follows is no record.
 */
bool jitdump_next(int file, uint64_t bytes, uint64_t *at, struct jitdump_record *record);

#endif
