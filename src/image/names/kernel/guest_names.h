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
#ifndef BURIN_IMAGE_NAMES_KERNEL_GUEST_NAMES_H
#define BURIN_IMAGE_NAMES_KERNEL_GUEST_NAMES_H

#include <stdbool.h>
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
	size_t bytes, text_room;
	bool fixed; /* an ELF file that is not position-independent: a program has its functions at their addresses */
};

/*
 * guest_names_read - read a file's functions. A kernel without symbols has those that it has of itself (kallsyms.h).
 * @file: not packed (kernel_file.h); the caller closes it
 * Return: 0; -ENOEXEC: neither an ELF file with functions nor such a text; -EUCLEAN: a kernel whose own functions cannot be
 * read; -EFBIG, -ENOMEM, or another -errno.
 */
int guest_names_read(struct guest_names *names, int file);
void guest_names_free(struct guest_names *names);

enum {
	GUEST_SHIFTS = 16,
};

/* How far functions were moved: a guest that starts again, in one recording, has them elsewhere. */
struct guest_shifts {
	uint64_t all[GUEST_SHIFTS];
	size_t count;
	bool mixed; /* other programs may have had code at the same addresses */
};

/*
 * guest_names_shifts - find how far functions were moved, given the addresses of some, and append it to *shifts. With distances that are known, a
 * further one must explain at least half of the addresses that these do not.
 * Return: 0 or -ENOMEM.
 */
int guest_names_shifts(const struct guest_names *names, const uint64_t *addresses, size_t count,
		       struct guest_shifts *shifts);

/* guest_names_add - add a function behind all others, by its address. @size: known. Return: 0 or -ENOMEM. */
int guest_names_add(struct guest_names *names, uint64_t address, uint64_t size, const char *name);

/* How a file's functions agree with those that are known: at addresses at which functions begin. */
struct guest_agreement {
	size_t begun, known;	 /* addresses at which one of the file's begins; one that is known */
	size_t inside;		 /* addresses from the file's first function to its last one */
	size_t contradicted;	 /* of both: those with different names */
	const char *first, *was; /* of the first: the file's name, and the known one */
};

/* guest_names_agree - compare a file's functions with those that are known. @addresses: that were called */
struct guest_agreement guest_names_agree(const struct guest_names *names, const struct guest_shifts *shifts,
					 const struct guest_names *known, const uint64_t *addresses,
					 size_t count);

/*
 * guest_names_map - the functions as a map (jitmap.h), in a file without a name. If there are several distances or programs, it has those of the
 * addresses that begin a function by one of them: anywhere else two functions may lie.
 * @known: functions that hold where none of the others lies, or none begins and one of these does
 * Return: its descriptor; a negative errno.
 */
int guest_names_map(const struct guest_names *names, const struct guest_shifts *shifts,
		    const struct guest_names *known, const uint64_t *addresses, size_t count);

#endif
