/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin symbols --guest: files with the functions of guests. */
#ifndef BURIN_CMD_RECORD_NAMES_GUEST_SYMBOLS_H
#define BURIN_CMD_RECORD_NAMES_GUEST_SYMBOLS_H

#include <stdbool.h>

#include "cmd/record/names/guest_known.h"
#include "image/symbolize/symbolize_types.h"
#include "view/records/selection.h"

/* Before a distance, instead of '+': the guest may have started again, and then there are others besides. */
#define GUEST_SYMBOLS_FIRST '~'

/* Address spaces of programs for which there are files. */
struct guest_spaces {
	size_t count, unnamed;
	const char *first; /* without names: its image */
	bool failed;	   /* a file could not be read; there was a message */
};

/* guest_symbols_is_path - whether the name of a file is one for --guest: its end stands for nothing else. */
bool guest_symbols_is_path(const char *path);

/* guest_symbols_check - whether values of --guest are valid. Return: 0 or CMD_USAGE. */
int guest_symbols_check(const struct view_globs *files);

/*
 * guest_symbols_open - a map of the functions of an image, if it is a guest's and has names or a file for it: of several, the one by which most of
 * the called functions begin. If it contradicts these names, a line says so; then those hold by which more of the called functions begin.
 * Return: its descriptor, or -1: there is none. @spaces: counted; set to 0 before the first image
 */
int guest_symbols_open(const struct view_globs *files, const struct guest_known *known,
		       const struct symbolize_image *image, struct guest_spaces *spaces);

/* guest_symbols_note - after all images, print a line about address spaces without names. */
void guest_symbols_note(const struct guest_spaces *spaces);

/* guest_symbols_finish - after guest_symbols_check() and all images. Return: 0, or 1 after a message: a value was for no
 * image. */
int guest_symbols_finish(const struct view_globs *files);

#endif
