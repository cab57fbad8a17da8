/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Linked into each test of cmocka: TEST_CASE in the environment, a glob, chooses some of its cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void __attribute__((constructor)) choose(void)
{
	const char *glob = getenv("TEST_CASE");

	if (glob)
		cmocka_set_test_filter(glob);
}
