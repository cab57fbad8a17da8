/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mappings of truncated files: what reads return and guard_truncated() reports, also with larger pages than this system's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file/guard.h"

enum {
	BYTES = 1 << 20,
	LARGE_PAGE = 1 << 16, /* possible on aarch64 */
};

static long page; /* the page size that sysconf() returns; 0: the system's */

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE && page ? page : __real_sysconf(name);
}

/* A mapping, on a boundary of large pages, of a file truncated to nothing. */
static volatile char *cut_mapping(void)
{
	const int file = memfd_create("cut", MFD_CLOEXEC);
	char *room = mmap(NULL, BYTES + LARGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;

	assert_true(file >= 0 && room != MAP_FAILED);
	at = room + (LARGE_PAGE - (uintptr_t)room % LARGE_PAGE) % LARGE_PAGE;
	assert_int_equal(ftruncate(file, BYTES), 0);
	assert_ptr_equal(mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), at);
	memset(at, 1, BYTES);
	assert_int_equal(ftruncate(file, 0), 0);
	close(file);
	return at;
}

static void cut(void **state)
{
	volatile char *at = cut_mapping();
	const char *name;

	(void)state;
	page = 0;
	guard_begin();
	assert_false(guard_truncated((const void *)at, BYTES));
	assert_int_equal(at[BYTES / 2], 0);
	name = guard_unreported();
	assert_non_null(name);
	assert_non_null(strstr(name, "memfd:cut"));
	assert_true(guard_truncated((const void *)at, BYTES));
	assert_null(guard_unreported());
	guard_forget((const void *)at, BYTES);
	assert_false(guard_truncated((const void *)at, BYTES));
	signal(SIGBUS, SIG_DFL);
}

/* The kernel maps whole pages only: the covered part begins at a page's boundary and has at least one page. */
static void large_pages(void **state)
{
	volatile char *at = cut_mapping();

	(void)state;
	page = LARGE_PAGE;
	guard_begin();
	assert_int_equal(at[LARGE_PAGE + LARGE_PAGE / 2 + 1], 0);
	assert_true(guard_truncated((const void *)(at + LARGE_PAGE), 1));
	assert_true(guard_truncated((const void *)(at + 2 * LARGE_PAGE - 1), 1));
	assert_false(guard_truncated((const void *)(at + LARGE_PAGE - 1), 1));
	assert_false(guard_truncated((const void *)(at + 2 * LARGE_PAGE), 1));
	guard_forget((const void *)at, BYTES);
	signal(SIGBUS, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut),
		cmocka_unit_test(large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
