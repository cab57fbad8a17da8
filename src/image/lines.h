/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines and inlined functions of many addresses at once, from DWARF (2 to 5, split or not).
 *
 * Asking for one address after the other is what makes others slow. Here the addresses are sorted and dealt out to
 * compilation units; each unit that has any is walked once, going down only where code is that was asked for.
 */
#ifndef BURIN_IMAGE_LINES_H
#define BURIN_IMAGE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

enum {
	LINES_FRAMES_MAX = 256, /* functions inlined into one another, at most */
};

struct lines_frame {
	const char *function; /* as the compiler wrote it: see demangle.h; NULL: unknown */
	const char *file;     /* NULL: unknown */
	uint32_t line;	      /* 0: unknown */
};

/* What is known of one address; the texts live as long as the Dwarf. */
struct lines_place {
	const struct lines_frame *frames; /* the innermost first */
	unsigned count;			  /* 0: nothing is known */
	uint64_t begin, end;		  /* of the function; 0, 0: unknown */
};

/*
 * lines_find - what is known of addresses.
 * @addresses: sorted
 * @told: called once for each address, unit by unit
 * Context: allocates; one thread for a Dwarf. Return: 0 or -ENOMEM.
 */
int lines_find(Dwarf *dwarf, const uint64_t *addresses, size_t count,
	       void (*told)(void *data, size_t number, const struct lines_place *place), void *data);

#endif
