/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Events that a running session does not know yet: of a shared object that `controlled` loads, or of a program that it
 * executes, or that joins its session. */
#include <stdlib.h>

#include "burin/burin.h"

void object_c(int n);

__attribute__((visibility("default"))) void object_c(int n)
{
	static const char *const words[] = { "red", "green", "blue" };

	for (int i = 0; i < n; i++) {
		BURIN_TRACE("later.row", "n=%d word=%s ratio=%f", i, words[i % 3], (float)i / 4);
		BURIN_TRACE("later.other", "count=%d", i);
		BURIN_TRACE_LEVEL(5, "later.fine", "n=%d", i);
	}
}

static __attribute__((constructor)) void loaded(void)
{
	BURIN_TRACE("later.first", "n=%d", 1);
	BURIN_TRACE("later.first", "n=%d", 2);
}

int main(int argc, char **argv)
{
	object_c(argc > 1 ? atoi(argv[1]) : 12);
	return 0;
}
