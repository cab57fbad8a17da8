/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names and source files of functions in a session. */
#ifndef BURIN_CMD_CONTROL_LISTING_NAMES_H
#define BURIN_CMD_CONTROL_LISTING_NAMES_H

#include "base/containers/arena.h"
#include "control/call_listing.h"
#include "control/target.h"
#include "image/symbolize/symbolize.h"

struct listing_names {
	struct arena arena;
	const char **texts; /* by number, from 1 */
	size_t count, room;
	struct listed_function **order; /* by image and offset */
	struct call_listing *listing;
};

/*
 * listing_names_find - set the names of a listing, from the images' files; NULL: unknown.
 * @target: of the session. It names the images. If it is another user's, root opens only what that user could read.
 * Context: forks (image/symbolize/symbolize.h). Return: 0 or a negative errno.
 */
int listing_names_find(struct listing_names *names, struct call_listing *listing,
		       const struct target *target);

/*
 * listing_names_open - as root, open the images that another user's session names with the rights of that user, in the root directory
 * of its process. Images that the user could not read have no file.
 * Return: false: the session is root's, or the caller is not root.
 */
bool listing_names_open(const struct target *target, struct symbolize_image *images, size_t count);

/* listing_names_free - the names of the listing are gone. */
void listing_names_free(struct listing_names *names);

#endif
