// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A program in C++ whose stacks are known: templates, namespaces, a local class, functions that are inlined. Compiled and
// recorded by attribution.test, which looks for the marked lines.
#include <cstdlib>
#include <ctime>

static volatile unsigned long turns;

static long spent_ms()
{
	timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

namespace truth
{
namespace
{
template <class T> struct box {
	T value;

	[[gnu::always_inline]] inline void turn(unsigned times) const
	{
		for (unsigned n = 0; n < times; n++)
			turns += (unsigned long)value; // here: turn
	}

	template <class U> [[gnu::noinline]] void work(U times) const
	{
		turn((unsigned)times); // here: work
		turns++;
	}
};
} // namespace

[[gnu::noinline]] void outer(long ms)
{
	struct local {
		[[gnu::noinline]] static void inner(long until)
		{
			while (spent_ms() < until)
				box<short>{ 3 }.work(200000L); // here: inner
			turns++;
		}
	};

	local::inner(spent_ms() + ms); // here: outer
	turns++;
}
} // namespace truth

int main(int argc, char **argv)
{
	truth::outer(argc > 1 ? atol(argv[1]) : 0);
	turns++;
}
