/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Addresses for the functions of a trace, which are known by image and offset. The images lie one behind the other in one
 * address space, which all processes share.
 */
#ifndef BURIN_EXPORT_UFTRACE_UFTRACE_IMAGES_H
#define BURIN_EXPORT_UFTRACE_UFTRACE_IMAGES_H

#include "burin/calls.h"
#include "export/uftrace/uftrace_directory.h"

#define UFTRACE_SESSION "0000000000000001"

/* Zero it before use. */
struct uftrace_images {
	uint64_t *addresses; /* by function; [0]: of an unknown one */
	uint32_t count;	     /* of functions */
};

/* uftrace_images_write - choose the addresses; write the map and the symbols. Return: 0 or -errno. */
int uftrace_images_write(struct uftrace_images *images, const struct burin_calls *calls,
			 struct uftrace_directory *directory);

void uftrace_images_free(struct uftrace_images *images);

#endif
