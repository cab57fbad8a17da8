/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of Go programs. Go needs their names at run time, for panics and its own stacks, so they are in a section of
 * its own (.gopclntab) that no option removes: a Go program without symbols still names its code.
 */
#ifndef BURIN_IMAGE_NAMES_GO_NAMES_H
#define BURIN_IMAGE_NAMES_GO_NAMES_H

#include "image/names/symbols.h"

/*
 * go_names_read - add them to the symbols of an image that has only exported ones, or none. Formats: those of Go 1.2, 1.16,
 * 1.18 and 1.20, each valid until the next. An image of another kind, or a damaged table, adds nothing more.
 * Return: 0 or -ENOMEM.
 */
int go_names_read(struct symbols *symbols, Elf *image);

/*
 * go_names_parse - the same from the section's bytes, which must outlive @symbols. Not sorted.
 * @text, @entry: the address of the section .text, and of the program's first instruction
 */
int go_names_parse(struct symbols *symbols, const void *bytes, size_t size, uint64_t text, uint64_t entry);

#endif
