/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A filter as it lies in a session: its program, and behind it, for listings, its expression. */
#ifndef BURIN_FILTER_FILTER_ENTRY_H
#define BURIN_FILTER_FILTER_ENTRY_H

#include "filter/filter_compile.h"

struct filter_entry {
	_Alignas(struct wire_filter) char bytes[WIRE_FILTER_MAX + 1024];
	uint32_t size; /* a multiple of WIRE_FILTER_ALIGN; 0: empty */
};

/*
 * filter_entry_make - compile an expression for an event; without its text if that is too long.
 * The arguments, the return value: as of filter_compile().
 */
int filter_entry_make(struct filter_entry *entry, const char *text, const char *format, const char *enums,
		      uint64_t types, struct filter_error *fault);

#endif
