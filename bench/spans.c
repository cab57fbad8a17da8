/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* spans COUNT: so many spans, half of them within another one. A pause now and then lets the recorder keep up. */
#include <stdlib.h>
#include <time.h>

#include <burin/burin.h>

enum {
	PAUSE_EVERY = 20000,
};

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	const long count = argc > 1 ? atol(argv[1]) : 2;

	for (long n = 0; n < count / 2; n++) {
		BURIN_BEGIN("outer", "path=%d", (int)(n % 8));
		BURIN_BEGIN("inner");
		BURIN_END("inner");
		BURIN_END("outer");
		if (n % PAUSE_EVERY == 0)
			nanosleep(&pause, NULL);
	}
	return 0;
}
