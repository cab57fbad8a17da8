/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A page that shows a profile's calls. It needs no other file and no network (src/view/profile/flame/). */
#ifndef BURIN_VIEW_PROFILE_FLAME_H
#define BURIN_VIEW_PROFILE_FLAME_H

#include "view/profile/profile_view.h"

/*
 * view_flame - write the page into a buffer. Nodes below 0.01 % are left out; with too many nodes the threshold is higher. The page
 * prints the threshold.
 * Return: 0 or -ENOMEM.
 */
int view_flame(const struct view_profile *counted, const char *title, struct view_buffer *out);

#endif
