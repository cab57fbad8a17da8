/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The type information of kernels: members and variables in a small one, and in all that damage makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/names/kernel/guest_tasks.h"

enum {
	HEADER = 24,
	INTEGER = 1,
	STRUCTURE = 4,
	UNION = 5,
	VARIABLE = 14,
	SECTION = 15,
};

static uint8_t bytes[1024], strings[512];
static size_t used, string_bytes;

static void put(uint32_t value)
{
	memcpy(bytes + used, &value, sizeof(value));
	used += sizeof(value);
}

static uint32_t text(const char *value)
{
	const size_t at = string_bytes;

	strcpy((char *)strings + at, value);
	string_bytes += strlen(value) + 1;
	return (uint32_t)at;
}

static void put_type(const char *name, uint32_t kind, uint32_t count, uint32_t size)
{
	put(*name ? text(name) : 0);
	put(kind << 24 | count);
	put(size);
}

static void put_three(uint32_t name, uint32_t type, uint32_t place)
{
	put(name);
	put(type);
	put(place);
}

enum kernel {
	OLD,
	NEW, /* from Linux 6.15 on */
	ARM,
};

/* A kernel: a task with its ids in an anonymous union of a structure, and two variables of each CPU. */
static void make(enum kernel kernel)
{
	used = HEADER;
	string_bytes = 1;
	put_type("int", INTEGER, 0, 4); /* 1 */
	put(32);
	put_type("", STRUCTURE, 2, 8); /* 2 */
	put_three(text("pid"), 1, 0);
	put_three(text("tgid"), 1, 32);
	put_type("", UNION, 1, 8); /* 3 */
	put_three(0, 2, 0);
	put_type("task_struct", STRUCTURE, 4, 64); /* 4 */
	put_three(text("stack"), 1, 16 * 8);
	put_three(0, 3, 24 * 8);
	put_three(text("group_leader"), 1, 32 * 8);
	put_three(text("comm"), 1, 40 * 8);
	put_type(kernel == ARM ? "__entry_task" : "current_task", VARIABLE, 0, 1); /* 5 */
	put(1);
	put_type("this_cpu_off", VARIABLE, 0, 1); /* 6 */
	put(1);
	put_type(".data..percpu", SECTION, 2, 64);
	put_three(5, 0x500, 8);
	put_three(6, 0x600, 8);
	put_type("irq_stack", STRUCTURE, 0, 32768);
	if (kernel == OLD)
		put_type("fixed_percpu_data", STRUCTURE, 0, 48);
	memcpy(bytes + used, strings, string_bytes);
	memcpy(bytes,
	       (uint32_t[]){ 0x1eb9f, HEADER, 0, (uint32_t)used - HEADER, (uint32_t)used - HEADER,
			     (uint32_t)string_bytes },
	       HEADER);
	used += string_bytes;
}

static int read_tasks(const void *from, size_t count, struct guest_tasks *tasks)
{
	const int file = memfd_create("types", MFD_CLOEXEC);
	int error;

	assert_true(file >= 0);
	assert_int_equal(write(file, from, count), count);
	error = guest_tasks_read(tasks, file);
	close(file);
	return error;
}

static void a_task(void **state)
{
	struct guest_tasks tasks;

	(void)state;
	make(OLD);
	assert_int_equal(read_tasks(bytes, used, &tasks), 0);
	assert_int_equal(tasks.current, 0x500);
	assert_int_equal(tasks.base, 0x600);
	assert_int_equal(tasks.stack, 16);
	assert_int_equal(tasks.pid, 24);
	assert_int_equal(tasks.tgid, 28);
	assert_int_equal(tasks.leader, 32);
	assert_int_equal(tasks.name, 40);
	assert_int_equal(tasks.stack_bytes, 32768);
}

static void a_task_in_a_register(void **state)
{
	struct guest_tasks tasks;

	(void)state;
	make(ARM);
	assert_int_equal(read_tasks(bytes, used, &tasks), 0);
	assert_int_equal(tasks.current, 0);
	assert_int_equal(tasks.base, 0);
	assert_int_equal(tasks.name, 40);
}

static void refused(void **state)
{
	struct guest_tasks tasks;

	(void)state;
	make(NEW);
	assert_int_equal(read_tasks(bytes, used, &tasks), -ENOTSUP);
	make(OLD);
	assert_int_equal(read_tasks("", 0, &tasks), -ENOEXEC);
	assert_int_equal(read_tasks(bytes, HEADER, &tasks), -ENOEXEC);
	memcpy(bytes + used - string_bytes + 1, "INT", 3);
	memcpy(memmem(bytes, used, "tgid", 4), "TGID", 4);
	assert_int_equal(read_tasks(bytes, used, &tasks), -ENODATA);
}

/* Whatever is damaged: no crash, no endless loop, and one of the known results. */
static void damaged(void **state)
{
	uint8_t *copy = malloc(sizeof(bytes));

	(void)state;
	make(OLD);
	for (size_t at = 0; at < used; at++)
		for (unsigned value = 0; value < 4; value++) {
			struct guest_tasks tasks;
			int error;

			memcpy(copy, bytes, used);
			copy[at] = (uint8_t)(value == 0	  ? 0
					     : value == 1 ? 0xff
					     : value == 2 ? copy[at] ^ 1
							  : 3);
			error = read_tasks(copy, value == 3 ? at : used, &tasks);
			assert_true(error == 0 || error == -ENOEXEC || error == -ENODATA ||
				    error == -ENOTSUP);
		}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_task), cmocka_unit_test(a_task_in_a_register),
					    cmocka_unit_test(refused), cmocka_unit_test(damaged) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
