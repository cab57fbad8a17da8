/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The loaded objects of this process as images of the session. */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_IMAGES_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

struct call_image {
	uint32_t number; /* in the session */
	uint64_t offset; /* of the address in the image's file; without a file the address */
};

/*
 * call_image_find - the image that an address lies in; it is added to the session if it is new.
 * Context: any thread, signal handlers; may take the dynamic linker's lock. Return: whether there is room for it.
 */
bool call_image_find(uint64_t address, struct call_image *image);

/*
 * call_image_function - the begin of the function that an address lies in. Context: as above.
 * Return: the address itself, if no table of the object has the function.
 */
uint64_t call_image_function(uint64_t address);

#endif
