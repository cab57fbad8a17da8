// SPDX-License-Identifier: MIT OR GPL-2.0-only
// An exception during unwinding; see cases.h.
#include "cases.h"

namespace
{

struct Leaving {
	reached then;
	~Leaving()
	{
		then();
	}
};

__attribute__((noinline)) void thrower(reached then)
{
	Leaving leaving{ then };

	throw 1;
}

} // namespace

void case_throw(reached then)
{
	try {
		thrower(then);
	} catch (int) {
		then();
	}
}
