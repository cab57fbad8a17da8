/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds the names and lines of a whole profile at once. The input is images and locations in them, the output is entries
 * of the table of symbols (docs/format.md, "Samples").
 *
 * The files are foreign, and the library that reads their DWARF was not made for hostile ones. So each image is read by a
 * child process without rights (confine.h), which may crash, hang, or need too much memory. Then its results so far are
 * kept, another child does the rest without the debug information, and the image's hint reports what happened. The
 * children also use all processors. All images together have a deadline: locations without a name by then get none, and
 * the hints report that.
 */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_H

#include "image/symbolize/symbolize_types.h"

/*
 * symbolize - name all locations of all images.
 * Context: forks; waits for its own children only. Return: 0; -ECANCELED: by progress(); a negative errno.
 */
int symbolize(const struct symbolize_image *images, size_t count, const struct symbolize_options *options,
	      struct symbolize_counts *counts);

#endif
