/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions that bench/calls.c calls. NAME: leaf, compiled with hooks, or bare, without. */
#define NAMED(name, part)  NAMED_(name, part)
#define NAMED_(name, part) name##part

int NAME(int value);
int NAMED(NAME, _nest)(int value);
int NAMED(NAME, _deep)(int value);

/* The compiler must neither inline calls nor make them loops. */
#define KEPT __attribute__((noinline))

KEPT int NAME(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

/* Five calls: this one, and four of the one above. */
KEPT int NAMED(NAME, _nest)(int value)
{
	for (int n = 0; n < 4; n++)
		value += NAME(value);
	return value;
}

/* As many calls as the value, each in the one before. */
KEPT int NAMED(NAME, _deep)(int value)
{
	int below = 0;

	if (value > 1)
		below = NAMED(NAME, _deep)(value - 1);
	__asm__ volatile("" : "+r"(below));
	return below;
}
