/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which Debian packages files came from, by what dpkg has noted of them; no program is run. */
#ifndef BURIN_IMAGE_PACKAGES_H
#define BURIN_IMAGE_PACKAGES_H

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
 * @root: where the system's tree begins; "" for this one
 * Context: reads all lists of dpkg, some megabytes.
 */
void packages_find(struct packages_file *files, size_t count, const char *root);

/* packages_debug - the name of the package with a package's debug information. */
void packages_debug(char out[PACKAGES_NAME_MAX + 16], const char *package);

#endif
