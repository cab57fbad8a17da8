/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Headers of the C library, as the shared sources need them in the kernel. */
#include <linux/build_bug.h>
