/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program that has never heard of Burin. */
#include <stdio.h>

int main(void)
{
	puts("plain");
	return 5;
}
