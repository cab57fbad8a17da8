/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The function that bench/calls.c calls. NAME: leaf, compiled with hooks, or bare, without. */
int NAME(int value);

int NAME(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}
