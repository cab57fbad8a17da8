/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of a guest's kernel and programs by name, before it runs: for the options of `burin record --guest`. */
#ifndef BURIN_CMD_RECORD_GUESTS_GUEST_FUNCTIONS_H
#define BURIN_CMD_RECORD_GUESTS_GUEST_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/names/kernel/guest_names.h"
#include "view/records/selection.h"

struct guest_range {
	uint64_t begin, end; /* end: exclusive */
};

struct guest_functions {
	const char *program;	    /* the file, of --guest-program; NULL: it is that of --guest-kernel */
	struct guest_names names;   /* by guest_names_read() */
	struct guest_range *ranges; /* of those that were selected */
	size_t count, room;
};

void guest_functions_free(struct guest_functions *functions);

/* guest_functions_address - the address of a function. Return: whether there is one. */
bool guest_functions_address(const struct guest_functions *functions, const char *name, uint64_t *address);

/*
 * guest_functions_select - set the ranges of the functions whose names match, in several files. A program in which one matches must lie at its
 * addresses. Return: 0; CMD_USAGE or CMD_FAULTS after a message.
 */
int guest_functions_select(struct guest_functions *files, size_t count, const struct view_globs *globs);

/* guest_functions_were_called - whether one whose name matches is among addresses, in the order of guest_functions_order(). @moved: by
 * KASLR */
bool guest_functions_were_called(const struct guest_functions *functions, const char *glob,
				 const uint64_t *addresses, size_t count, uint64_t moved);
int guest_functions_order(const void *one, const void *other);

#endif
