/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* rows N: N records of one event, in a span of time that grows evenly, for queries. */
#include <burin/burin.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const char *const paths[] = { "/", "/login", "/search", "/static" };
	const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;

	for (unsigned long n = 0; n < count; n++)
		BURIN_TRACE("bench.row", "number=%lu size=%u path=%s", n, (unsigned)(n * 2654435761u >> 16),
			    paths[n & 3]);
	return 0;
}
