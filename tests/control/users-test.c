/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which processes use which sessions (control/session_users.h): the number of mappings read is bounded. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/session_users.h"

static struct stat mapped, other;

static void make_file(struct stat *status, bool map)
{
	char path[] = "/tmp/burin-users-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, status) == 0);
	if (map)
		assert_true(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
	close(fd);
	unlink(path);
}

static int make_files(void **state)
{
	(void)state;
	make_file(&mapped, true);
	make_file(&other, false);
	return 0;
}

static void test_asked(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct users users = { 0 };
	uint64_t lines;

	(void)state;
	if (getenv("TEST_EMULATOR")) /* whose /proc/PID/maps lacks a mapping at times */
		skip();
	assert_true(users_map(&users, self, &mapped));
	lines = users.lines;
	assert_true(lines > 0);
	assert_false(users_map(&users, self, &other));
	assert_int_equal(users.lines, lines); /* read once */
	assert_int_equal(users.unasked, 0);
	users_free(&users);
}

static void test_bounded(void **state)
{
	const uint32_t self = (uint32_t)getpid(), parent = (uint32_t)getppid();
	struct users users = { .lines = USERS_LINES - 70 }; /* this process has more than 70 */

	(void)state;
	assert_true(users_map(&users, self, &other));
	assert_int_equal(users.unasked, 1);
	assert_int_equal(users.lines, USERS_LINES);
	assert_true(users_map(&users, parent, &other));
	assert_int_equal(users.unasked, 2);
	assert_int_equal(users.lines, USERS_LINES);
	users_free(&users);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{ "users: a process's mappings are read once", test_asked, NULL, NULL, NULL },
		{ "users: beyond the bound, unread processes count as users and are counted", test_bounded,
		  NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, make_files, NULL);
}
