/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Removing a session left behind: that file and no other, without any effect on the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "control/remains.h"
#include "wire/wire_session.h"

enum {
	OTHER = 61235,
};

static char place[64];
static int directory = -1;
static const uint8_t uuid[16] = "0123456789abcde";

static const char *in_place(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static void put(const char *name)
{
	struct wire_geometry geometry = { 0 };
	const int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	memcpy(geometry.uuid, uuid, sizeof(geometry.uuid));
	assert_true(file >= 0);
	assert_int_equal(write(file, &geometry, sizeof(geometry)), sizeof(geometry));
	close(file);
}

static bool is_there(const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(place, "/tmp/burin-remains-XXXXXX");
	assert_non_null(mkdtemp(place));
	directory = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(directory >= 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	close(directory);
	snprintf(command, sizeof(command), "rm -rf %s", place);
	return system(command);
}

static void sessions(void **state)
{
	static const uint8_t wrong[16] = "another";

	(void)state;
	put("one");
	assert_int_equal(remains_remove_path(in_place("one"), geteuid(), wrong), -EPERM);
	assert_true(is_there("one"));
	assert_int_equal(remains_remove_path(in_place("one"), geteuid(), uuid), 0);
	assert_false(is_there("one"));
	assert_int_equal(remains_remove_path(in_place("one"), geteuid(), uuid), -ENOENT);
	/* Only this name is removed, even if the file has other names and an overwritten uuid. */
	put("two");
	assert_int_equal(linkat(directory, "two", directory, "three", 0), 0);
	assert_int_equal(remains_remove_path(in_place("two"), geteuid(), NULL), 0);
	assert_true(!is_there("two") && is_there("three"));
}

static void others(void **state)
{
	(void)state;
	put("file");
	assert_int_equal(symlinkat("file", directory, "link"), 0);
	assert_int_equal(remains_remove_path(in_place("link"), geteuid(), uuid), -ELOOP);
	assert_int_equal(mkfifoat(directory, "pipe", 0600), 0);
	assert_int_equal(remains_remove_path(in_place("pipe"), geteuid(), NULL), -EPERM);
	assert_int_equal(remains_remove_path(in_place("file"), OTHER, uuid), -EPERM);
	assert_true(is_there("link") && is_there("pipe") && is_there("file"));
	if (geteuid() != 0)
		return;
	assert_int_equal(fchownat(directory, "file", OTHER, OTHER, 0), 0);
	assert_int_equal(remains_remove_path(in_place("file"), 0, uuid), -EPERM);
	assert_true(is_there("file"));
}

/* A device is not opened, since opening one can have effects. This one has no driver, so an attempt would fail. */
static void device(void **state)
{
	(void)state;
	if (mknodat(directory, "node", S_IFCHR | 0600, makedev(240, 77)) != 0)
		skip();
	assert_int_equal(remains_remove_path(in_place("node"), geteuid(), NULL), -EPERM);
	assert_true(is_there("node"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = { CASE(sessions), CASE(others), CASE(device) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
