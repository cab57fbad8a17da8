/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of an ELF image by address: one sorted table, made once from all that names them (.symtab and .dynsym
 * of the image and of its debug file, the compressed .gnu_debugdata, the PLT), then searched in halves.
 *
 * Where several names stand for one place, those win that have a size, are not local, and begin with fewer underscores.
 * A symbol without a size reaches to the next one; within one that has a size it is a label, and left out.
 */
#ifndef BURIN_IMAGE_SYMBOLS_H
#define BURIN_IMAGE_SYMBOLS_H

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
	bool plt; /* the name is that of the function that an entry of the PLT leads to */
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
 * @image, @debug: the image, and its debug file or NULL; they must outlive @symbols, since names point into them
 * Context: allocates. Return: 0, also for an image without a symbol; -ENOMEM.
 */
int symbols_read(struct symbols *symbols, Elf *image, Elf *debug);
void symbols_free(struct symbols *symbols);

/* symbols_find - the innermost symbol around an address. Return: NULL if there is none. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address);

/* symbols_add - one more symbol; symbols_sort has to follow. Return: 0 or -ENOMEM. */
int symbols_add(struct symbols *symbols, const struct symbol *symbol);
void symbols_sort(struct symbols *symbols);

#endif
