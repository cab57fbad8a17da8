/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Profiles in the formats of other tools. Each writer appends to a buffer. A writer of large text flushes the buffer to
 * the file now and then, and leaves the rest in it.
 *
 * Stacks share their callers in a trace, but each line of text repeats them: a trace of some KiB may become terabytes.
 * Formats that are built in memory are bounded by the memory, text formats by `bytes_max`.
 */
#ifndef BURIN_EXPORT_EXPORT_H
#define BURIN_EXPORT_EXPORT_H

#include "view/profile/profile_view.h"

struct export_output {
	struct view_buffer buffer;
	int file;
	uint64_t bytes_max; /* of text */
	uint64_t bytes;	    /* flushed so far */
	uint64_t samples;   /* written completely */
};

struct export_format {
	const char *name;
	const char *line; /* a short description */
	/* Return: 0; -ENOMEM; -EMSGSIZE: more text than `bytes_max`; a negative errno of writing. */
	int (*write)(const struct view_profile *counted, struct export_output *output);
};

extern const struct export_format export_formats[]; /* ends with a NULL name */

int export_folded(const struct view_profile *counted, struct export_output *output);
int export_speedscope(const struct view_profile *counted, struct export_output *output);
int export_callgrind(const struct view_profile *counted, struct export_output *output);
int export_pprof(const struct view_profile *counted, struct export_output *output);
int export_perf(const struct view_profile *counted, struct export_output *output);

#endif
