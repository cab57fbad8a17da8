/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_STDLIB_H
#define BURIN_KERNEL_STDLIB_H

#include <linux/stddef.h>

static inline const char *getenv(const char *name)
{
	return NULL;
}

#endif
