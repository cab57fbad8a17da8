// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A probed function whose callers are known:
//
//	callers N	kinds::target(int) is called N times by kinds::left(), 2 N by right(), 3 N by a thread in threaded(), 4 N by a
//			forked child in forked()
//	callers wait	the same once, after a line of the input
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kinds
{

int total;

__attribute__((noinline)) int target(int n)
{
	__asm__ volatile("" ::"r"(n) : "memory");
	return n + 1;
}

/* A call is no jump, since its result is of use. */
#define CALLER(name)                                   \
	__attribute__((noinline)) void name(int times) \
	{                                              \
		for (int n = 0; n < times; n++)        \
			total += target(n);            \
	}

CALLER(left)
CALLER(right)
CALLER(threaded)
CALLER(forked)

} // namespace kinds

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "1";
	const int times = strcmp(what, "wait") == 0 ? 1 : atoi(what);

	if (strcmp(what, "wait") == 0 && getchar() == EOF)
		return 1;
	kinds::left(times);
	kinds::right(2 * times);
	std::thread(kinds::threaded, 3 * times).join();
	if (fork() == 0) {
		kinds::forked(4 * times);
		_exit(0);
	}
	wait(nullptr);
	return 0;
}
