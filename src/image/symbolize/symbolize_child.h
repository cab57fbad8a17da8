/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The child process that reads one image (symbolize_messages.h). */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_CHILD_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_CHILD_H

#include "image/symbolize/symbolize_messages.h"

/*
 * symbolize_child - read the image and send all messages.
 * @asks: a socket for requests: a path goes to the parent; an int comes back, 0 with a descriptor, or a negative errno
 * Context: allocates, and frees little, since the process ends soon. Return: 0 or a negative errno.
 */
int symbolize_child(const struct child_task *task, int pipe, int asks);

#endif
