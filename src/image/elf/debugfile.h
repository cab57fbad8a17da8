/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Separate files with the debug information of an image, as distributions ship them.
 *
 * They are searched on this machine, by the image's build id, then by its .gnu_debuglink; servers are the subject of
 * debuginfod.h. A file that an image names is opened only if the image's owner could read it.
 */
#ifndef BURIN_IMAGE_ELF_DEBUGFILE_H
#define BURIN_IMAGE_ELF_DEBUGFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "image/elf/image.h"

/*
 * debugfile_find - find and open the debug file of an image.
 * @found: receives its path within @root
 * @path: of the image, absolute within @root
 * @root: the directory that is the root of the image's system; "" for this system
 *
 * The file must have the image's build id or, if the image has none, the checksum of .gnu_debuglink.
 *
 * Return: 0, and the caller closes @out; -ENOENT.
 */
int debugfile_find(struct image *out, char found[PATH_MAX], const struct image *image, const char *path,
		   const char *root);

/* debugfile_path - the path of the debug file for a build id. Return: false, and "", if it is not a valid id. */
bool debugfile_path(char out[PATH_MAX], const unsigned char *id, size_t bytes);

/*
 * debugfile_alternate - find and open the file to which dwz moved common parts of debug information.
 * @image: the file with the rest of it; @path: its path
 * Return: 0, and the caller closes @out; -ENOENT: it needs none, or there is none.
 */
int debugfile_alternate(struct image *out, const struct image *image, const char *path, const char *root);

/* debugfile_alternate_id - the build id of that file. Return: its bytes; 0: it needs none. */
size_t debugfile_alternate_id(const struct image *image, unsigned char id[IMAGE_BUILD_ID_MAX]);

/* The files beside an image that have its debug information. */
struct debugfiles {
	struct image debug, alternate; /* `alternate`: to which dwz moved parts of it */
	bool has_debug, has_alternate;
	char debug_path[PATH_MAX];
};

/* debugfiles_has_lines - whether the file itself has debug information. */
bool debugfiles_has_lines(const struct image *image);

/*
 * debugfiles_open - find and open the debug file of an image, unless that has debug information itself.
 * @lines: also the file to which dwz moved parts
 * @fetched: these two files from a server, if there are none here; -1: there are none
 */
void debugfiles_open(struct debugfiles *files, const struct image *image, const char *path, const char *root,
		     bool lines, const int fetched[2]);

void debugfiles_close(struct debugfiles *files);

/*
 * debugfile_named - open a regular file that another file names.
 * @by: the owner of the file that names it
 * Return: a descriptor; -EACCES: @by could not read it; another negative errno.
 */
int debugfile_named(const char *path, const char *root, uid_t by);

/* debugfile_owner - the owner of an open file; root, if it is not known. */
uid_t debugfile_owner(int file);

/* debugfile_map - open a map or a jitdump of the tree @root. Return: a descriptor or a negative errno. */
int debugfile_map(const char *path, const char *root);

/* debugfile_descriptor - open a regular file of the tree. Return: a descriptor or a negative errno. */
int debugfile_descriptor(const char *path, const char *root);

/* debugfile_open - open an image of the tree. Return: 0 or a negative errno. */
int debugfile_open(struct image *out, const char *path, const char *root);

#endif
