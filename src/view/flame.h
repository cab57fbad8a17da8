/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A page that shows a profile's calls, without any other file and without a network (src/view/flame/). */
#ifndef BURIN_VIEW_FLAME_H
#define BURIN_VIEW_FLAME_H

#include "view/profile.h"

/*
 * Writes the page into a buffer. Nodes of less than 0.01 % are left out, and of less than more if there would be too
 * many; the page says so.
 * Return: 0 or -ENOMEM.
 */
int view_flame(const struct view_profile *counted, const char *title, struct view_buffer *out);

#endif
