/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A second file of the same object: its sites join with those of the first. */
#include "shared.h"

void other_file(int value)
{
	trace_in_header(value, "other");
}
