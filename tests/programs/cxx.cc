// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Tracepoints where C++ has them: templates, lambdas, inline functions, constructors of globals, unwinding.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "burin/burin.h"

namespace
{

enum class colour : unsigned char {
	red = 1,
	green = 2
};

struct global {
	global()
	{
		BURIN_TRACE("cxx.constructed", "n=%d", 1);
	}
	~global()
	{
		BURIN_TRACE("cxx.destroyed", "n=%d", 2);
	}
};

global one;

template <class T> void generic(T value)
{
	BURIN_TRACE("cxx.generic", "bytes=%zu", sizeof(value));
}

inline int inlined(int n)
{
	BURIN_TRACE("cxx.inlined", "n=%d", n);
	return n + 1;
}

void throwing(int depth)
{
	BURIN_SCOPE("cxx.scope", "depth=%d", depth);
	if (depth == 3)
		throw std::runtime_error("thrown");
	throwing(depth + 1);
	BURIN_TRACE("cxx.notreached");
}

struct member {
	int value = 5;
	void trace() const
	{
		auto lambda = [this](int n) { BURIN_TRACE("cxx.lambda", "value=%d n=%d", value, n); };

		lambda(6);
	}
};

} // namespace

int main()
{
	std::string name = "a string of its own that is long enough to be on the heap";
	std::vector<std::thread> threads;

	BURIN_TRACE("cxx.types", "b=%d e=%hhu s=%s t=%s f=%f p=%p", true, colour::green, name.c_str(),
		    (name + " and a temporary").c_str(), 1.5f, nullptr);
	BURIN_TRACE("cxx.bytes", "b=%p", BURIN_BYTES(name.data(), 8));
	generic('x');
	generic(1);
	generic(2.0);
	inlined(inlined(1));
	member().trace();
	try {
		throwing(1);
	} catch (const std::exception &caught) {
		BURIN_TRACE("cxx.caught", "what=%s", caught.what());
	}
	for (int n = 0; n < 4; n++)
		threads.emplace_back([n] { BURIN_TRACE("cxx.thread", "n=%d", n); });
	for (auto &thread : threads)
		thread.join();
	BURIN_COUNTER("cxx.counter", threads.size());
	std::puts("done");
	return 0;
}
