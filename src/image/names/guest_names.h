/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of a guest's kernel or program: from an ELF file, or from a text such as the guest's own /proc/kallsyms or
 * System.map. A guest's code is known by its addresses only.
 *
 * The code may have been moved as a whole, by KASLR or as a position-independent program. The distance is found by a vote:
 * each recorded address proposes the distances to all functions that have the same place in their page.
 *
 * The file is read with bounds on memory; damaged data gives fewer names.
 */
#ifndef BURIN_IMAGE_NAMES_GUEST_NAMES_H
#define BURIN_IMAGE_NAMES_GUEST_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct guest_name {
	uint64_t address, size; /* size 0: unknown */
	size_t name;		/* offset in the text */
};

struct guest_names {
	struct guest_name *all; /* by address; of several for one address, the first is the function's name */
	size_t count, room;
	char *text;
	size_t bytes;
};

/*
 * guest_names_read - read a file's functions.
 * @file: the caller closes it
 * Return: 0; -ENOEXEC: neither an ELF file with symbols nor such a text; -EFBIG, -ENOMEM, or another -errno.
 */
int guest_names_read(struct guest_names *names, int file);
void guest_names_free(struct guest_names *names);

/* guest_names_shift - how far functions were moved, given the addresses of some. Return: -ENOMEM, or 0 and *shift. */
int guest_names_shift(const struct guest_names *names, const uint64_t *addresses, size_t count,
		      uint64_t *shift);

/*
 * guest_names_map - the functions as a map (jitmap.h), in a file without a name.
 * Return: its descriptor; a negative errno.
 */
int guest_names_map(const struct guest_names *names, uint64_t shift);

#endif
