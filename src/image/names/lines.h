/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines and inlined functions of many addresses at once, from DWARF (2 to 5, split or not).
 *
 * Other tools are slow because they look up one address after the other. Here the addresses are sorted and assigned to
 * compilation units. Each unit with addresses is walked once, and only DIEs that contain one are entered.
 */
#ifndef BURIN_IMAGE_NAMES_LINES_H
#define BURIN_IMAGE_NAMES_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

enum {
	LINES_FRAMES_MAX = 256, /* nested inlined functions, at most */
};

struct lines_frame {
	const char *function; /* as the compiler wrote it: see demangle.h; NULL: unknown */
	const char *file;     /* NULL: unknown */
	uint32_t line;	      /* 0: unknown */
};

/* The functions and lines of one address; the texts are valid as long as the Dwarf. */
struct lines_location {
	const struct lines_frame *frames; /* the innermost first */
	unsigned count;			  /* 0: unknown */
	uint64_t begin, end;		  /* of the function; 0, 0: unknown */
};

/*
 * lines_find - the functions and lines of addresses.
 * @addresses: sorted
 * @found: called once for each address, unit by unit
 * Context: allocates; one thread per Dwarf. Return: 0 or -ENOMEM.
 */
int lines_find(Dwarf *dwarf, const uint64_t *addresses, size_t count,
	       void (*found)(void *data, size_t number, const struct lines_location *location), void *data);

#endif
