/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The little of the kernel that its flavour of the ring needs, for a test in a program. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include_next <linux/types.h> /* for the C library's headers, which find this file in its place */
