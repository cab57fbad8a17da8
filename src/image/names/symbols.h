/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of an ELF image by address: one sorted table from all sources of names (.symtab and .dynsym of the image
 * and of its debug file, the compressed .gnu_debugdata, Go's .gopclntab, the PLT), for binary search.
 *
 * Of several names for one address, those with a size win, then those that are not local, then those with fewer leading
 * underscores. A symbol without a size extends to the next one; within a symbol with a size it is a label and is dropped.
 */
#ifndef BURIN_IMAGE_NAMES_SYMBOLS_H
#define BURIN_IMAGE_NAMES_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

struct symbol {
	uint64_t address, end; /* the image's addresses */
	const char *name;      /* not NUL-terminated: `bytes` long */
	uint32_t bytes;
	uint32_t outer; /* number of the symbol around this one, plus 1; 0: none */
	bool sized, local, weak;
	bool resolver; /* its code finds the function of this name when it is loaded (an IFUNC) */
	bool plt;      /* an entry of the PLT; the name is that of the function it jumps to */
};

struct symbols {
	struct symbol *all; /* by address */
	size_t count, room;
	bool full;    /* has more than the exported names */
	Elf *mini;    /* of .gnu_debugdata */
	char *memory; /* and its bytes */
};

/*
 * symbols_read - make the table.
 * @image, @debug: the image, and its debug file or NULL; both must outlive @symbols, whose names point into them
 * Context: allocates. Return: 0, also for an image without a symbol; -ENOMEM.
 */
int symbols_read(struct symbols *symbols, Elf *image, Elf *debug);
void symbols_free(struct symbols *symbols);

/* symbols_find - the innermost symbol around an address. Return: NULL: none. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address);

/* symbols_add - add a symbol; call symbols_sort() afterwards. Return: 0 or -ENOMEM. */
int symbols_add(struct symbols *symbols, const struct symbol *symbol);
void symbols_sort(struct symbols *symbols);

#endif
