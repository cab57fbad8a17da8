/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The work of sampled.c, in an object of its own: of the program, or of a library. */
#define SAMPLED_WORK
#include "sampled.h"
