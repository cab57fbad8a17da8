/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The places of a line of the source: the reverse of lines.h, by the line tables of DWARF. */
#ifndef BURIN_IMAGE_NAMES_LINE_PLACES_H
#define BURIN_IMAGE_NAMES_LINE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct line_places {
	const char *file; /* the end of its path: "parse.c", "src/parse.c" */
	uint32_t line;
	/* Whether an address is code: line tables have functions that the linker dropped. */
	bool (*is_code)(void *data, uint64_t address);
	/*
	 * Receives the address where each piece of code of the line begins, also of inlined copies. Without any, receives the
	 * nearest lines with code before and behind it, with one address of each.
	 */
	void (*found)(void *data, uint64_t address, uint32_t line);
	void *data;
};

/* line_places_find - Context: allocates; one thread per Dwarf. */
void line_places_find(Dwarf *dwarf, const struct line_places *wanted);

#endif
