/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The child gives up its rights before it reads foreign bytes. */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_CONFINE_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_CONFINE_H

#include "image/symbolize/symbolize_send.h"

/* child_confine - give up all rights. @files: the open files to keep, in any order */
void child_confine(struct child *child, const int *files, unsigned count);

#endif
