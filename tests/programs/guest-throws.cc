// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A part of guest-init.c: calls that an exception leaves, with destructors on its way. Compiled by tests/harness/guests.py.
#define KNOWN extern "C" __attribute__((noinline))

static volatile int sum;

KNOWN void cleaned(int n)
{
	sum = sum + n;
}

namespace
{
struct cleaner {
	int n;

	~cleaner()
	{
		cleaned(n);
	}
};
} // namespace

KNOWN void thrower(int n)
{
	const cleaner last = { n };

	if (!n)
		throw n;
	thrower(n - 1);
	sum = sum + n;
}

KNOWN void caught(int n)
{
	sum = sum + n;
}

KNOWN void catcher(int n)
{
	try {
		thrower(n);
	} catch (int value) {
		caught(value);
	}
}

extern "C" void run_exceptions();

void run_exceptions()
{
	for (int n = 1; n <= 5; n++)
		catcher(n);
}
