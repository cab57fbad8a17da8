/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Profiles in the formats of other tools. Each writer appends to a buffer; one whose text may be large writes the
 * buffer to the file in between, and leaves the rest in it.
 */
#ifndef BURIN_EXPORT_EXPORT_H
#define BURIN_EXPORT_EXPORT_H

#include "view/profile.h"

struct export_format {
	const char *name;
	const char *line; /* what it is for, in a few words */
	/* Return: 0; -ENOMEM; a negative errno of writing. */
	int (*write)(const struct view_profile *counted, struct view_buffer *out, int file);
};

extern const struct export_format export_formats[]; /* up to a NULL name */

int export_folded(const struct view_profile *counted, struct view_buffer *out, int file);
int export_speedscope(const struct view_profile *counted, struct view_buffer *out, int file);
int export_callgrind(const struct view_profile *counted, struct view_buffer *out, int file);
int export_pprof(const struct view_profile *counted, struct view_buffer *out, int file);
int export_perf(const struct view_profile *counted, struct view_buffer *out, int file);

#endif
