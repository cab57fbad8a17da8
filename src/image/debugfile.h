/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files that hold the debug information of an image apart from it, as distributions ship them.
 *
 * They are found on this machine only, by the image's build id, then by its .gnu_debuglink. No server is asked.
 */
#ifndef BURIN_IMAGE_DEBUGFILE_H
#define BURIN_IMAGE_DEBUGFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdw.h>

#include "image/image.h"

/*
 * debugfile_find - find and open the debug file of an image.
 * @found: where it lies within @root
 * @path: of the image, absolute, as within @root
 * @root: where the tree of files begins that the image belongs to; "" for this system's
 *
 * A file counts if it has the image's build id, or, of an image without one, the checksum of .gnu_debuglink.
 *
 * Return: 0, and @out is the caller's to close; -ENOENT.
 */
int debugfile_find(struct image *out, char found[PATH_MAX], const struct image *image, const char *path,
		   const char *root);

/* debugfile_path - where a debug file with this build id should lie. Return: false, and "", if there is no such id. */
bool debugfile_path(char out[PATH_MAX], const unsigned char *id, size_t bytes);

/*
 * debugfile_alternate - give DWARF the file that dwz moved its common parts to.
 * @path: of the file that @dwarf was read from
 * Return: true, and @out is to be closed after @dwarf and the Dwarf at @alternate are ended; false: it needs none,
 * or there is none.
 */
bool debugfile_alternate(struct image *out, Dwarf **alternate, Dwarf *dwarf, const char *path,
			 const char *root);

/* debugfile_descriptor - open a regular file of the tree @root, nothing else. Return: a descriptor or a negative errno. */
int debugfile_descriptor(const char *path, const char *root);

/* debugfile_open - the same as an image. Return: 0 or a negative errno. */
int debugfile_open(struct image *out, const char *path, const char *root);

#endif
