/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names that the functions of a trace's guests have already: files that are given one after another add to them. */
#ifndef BURIN_CMD_RECORD_NAMES_GUEST_KNOWN_H
#define BURIN_CMD_RECORD_NAMES_GUEST_KNOWN_H

#include "burin/profile.h"
#include "image/names/kernel/guest_names.h"

struct guest_known {
	struct guest_known_function {
		uint32_t image;
		uint64_t begin, size;
		const char *name; /* the profile's */
	} * all;		  /* by image and begin, each once */
	size_t count, room;
};

/* guest_known_is - whether an image is a guest's, by its path. */
bool guest_known_is(const char *image);

/* guest_known_read - collect the names, from a profile that is kept until guest_known_free(). Return: 0 or -ENOMEM. */
int guest_known_read(struct guest_known *known, const struct burin_profile *profile);
void guest_known_free(struct guest_known *known);

/* guest_known_names - those of an image, for guest_names_free(). Return: 0 or -ENOMEM. */
int guest_known_names(const struct guest_known *known, uint32_t image, struct guest_names *names);

#endif
