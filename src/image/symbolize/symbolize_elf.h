/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The child reads an ELF image. */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_ELF_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_ELF_H

#include "image/symbolize/symbolize_send.h"

/* child_elf - send an ELF image's symbols, and its lines unless the task's level excludes them. Return: 0 or -errno. */
int child_elf(struct child *child);

#endif
