/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names for the entries of the procedure linkage table. */
#ifndef BURIN_IMAGE_NAMES_PLT_H
#define BURIN_IMAGE_NAMES_PLT_H

#include "image/names/symbols.h"

enum {
	PLT_PARTS = 4,
};

/* plt_parts - where that table lies, in up to PLT_PARTS sections. Return: how many. */
unsigned plt_parts(Elf *image, GElf_Shdr parts[PLT_PARTS]);

/* plt_read - add them to the symbols of an image, after all others. Return: 0 or -ENOMEM. */
int plt_read(struct symbols *symbols, Elf *image);

#endif
