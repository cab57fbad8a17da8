/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What lies where in one address space: executable mappings, in order, none over another.
 *
 * Nobody says that something was unmapped; but what is mapped there later says so by lying over it.
 */
#ifndef BURIN_SOURCE_SAMPLE_MAPPINGS_H
#define BURIN_SOURCE_SAMPLE_MAPPINGS_H

#include <stdint.h>

#include "source/sample/images.h"

struct mapping {
	uint64_t begin, end;
	uint64_t offset; /* in the image, of `begin` */
	struct sample_image *image;
};

struct mappings {
	struct mapping *all;
	unsigned count, room;
	unsigned last; /* that was found: the next address is often near */
};

/* mappings_add - lay a mapping over what is there. Return: 0 or -ENOMEM: nothing has changed. */
int mappings_add(struct mappings *mappings, const struct mapping *mapping);

/* mappings_fill - add the parts of a mapping where nothing is. Return: 0 or -ENOMEM. */
int mappings_fill(struct mappings *mappings, const struct mapping *mapping);

/* mappings_find - what lies at an address; NULL: nothing. Valid until the mappings change. */
const struct mapping *mappings_find(struct mappings *mappings, uint64_t address);

/* mappings_copy - Return: 0 or -ENOMEM: then there are none. */
int mappings_copy(struct mappings *to, const struct mappings *from);

void mappings_clear(struct mappings *mappings);

#endif
