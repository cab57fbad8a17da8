/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions that are looked at in disassembly, and that are called so that they stay. */
#include "burin/burin.h"

unsigned disabled_numbers(unsigned a, unsigned b);
unsigned disabled_text(const char *text, unsigned b);

__attribute__((noinline)) unsigned disabled_numbers(unsigned a, unsigned b)
{
	BURIN_TRACE("disabled.numbers", "a=%u b=%u", a, b);
	return a + b;
}

__attribute__((noinline)) unsigned disabled_text(const char *text, unsigned b)
{
	BURIN_TRACE("disabled.text", "text=%s b=%u", text, b);
	return b + 1;
}

int main(int argc, char **argv)
{
	return (int)(disabled_numbers((unsigned)argc, 1) + disabled_text(argv[0], 2)) == 0;
}
