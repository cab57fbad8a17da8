/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The Debian packages of files, from dpkg's lists; no program is run. */
#ifndef BURIN_IMAGE_ELF_PACKAGES_H
#define BURIN_IMAGE_ELF_PACKAGES_H

#include <stddef.h>

enum {
	PACKAGES_NAME_MAX = 128, /* bytes, with the NUL */
};

struct packages_file {
	const char *path;		 /* absolute, within the root */
	char package[PACKAGES_NAME_MAX]; /* "": of none, or unknown */
};

/*
 * packages_find - find the packages of files.
 * @root: the directory that is the root of the system; "" for this system
 * Context: reads dpkg's lists until all files are found; all of them have some megabytes, which takes some 10 ms.
 */
void packages_find(struct packages_file *files, size_t count, const char *root);

/* packages_debug - the name of the package with the debug information of a package. */
void packages_debug(char out[PACKAGES_NAME_MAX + 16], const char *package);

#endif
