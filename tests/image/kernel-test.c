/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of the running kernel: those that it prints for single addresses are those of its list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/names/kernel/kernel_lookup.h"
#include "image/names/kernel/kernel_names.h"

enum {
	SAMPLED = 2000, /* functions */
};

static void read_or_skip(struct kernel_names *names)
{
	const int error = kernel_names_read(names, "/proc/kallsyms", "/proc/modules");

	if (error) {
		print_message("skip  the kernel's names: %s\n", strerror(-error));
		skip();
	}
}

/* @offsets: of code of a module or the kernel; about SAMPLED, and all of them if there are fewer. Return: how many. */
static size_t choose(const struct kernel_names *names, unsigned module, uint64_t *offsets)
{
	const size_t step = names->count / SAMPLED + 1;
	size_t count = 0, seen = 0;

	for (size_t n = 0; n + 1 < names->count && count + 2 <= 2 * SAMPLED; n++) {
		const struct kernel_name *name = &names->all[n];
		const uint64_t size = names->all[n + 1].address - name->address;

		if (name->module != module || (module == 0 && seen++ % step))
			continue;
		offsets[count++] = name->address - names->modules[module].base;
		if (size > 1) { /* its last byte */
			offsets[count] = offsets[count - 1] + size - 1;
			count++;
		}
	}
	return count;
}

/* Return: how many were compared; 0: the kernel does not run our program. */
static size_t compare(const struct kernel_names *names, unsigned module, bool sizes)
{
	static uint64_t offsets[2 * SAMPLED];
	static struct kernel_function functions[2 * SAMPLED];
	const char *label = names->modules[module].name;
	size_t count = choose(names, module, offsets);
	struct arena texts = { 0 };
	int error = kernel_lookup(label, offsets, count, functions, &texts);
	size_t named = 0;

	if (error)
		print_message("skip  %s: %s\n", label, strerror(-error));
	for (size_t n = 0; n < count && !error; n++) {
		uint64_t begin, size;
		const char *name = kernel_names_find(names, label, offsets[n], &begin, &size);

		if (!functions[n].name) { /* code of the kernel's start, which is gone */
			assert_int_equal(module, 0);
			assert_null(name);
			continue;
		}
		named++;
		assert_non_null(name);
		assert_string_equal(functions[n].name, name);
		assert_int_equal(functions[n].begin, begin);
		if (sizes)
			assert_int_equal(functions[n].size, size);
		assert_in_range(offsets[n] - functions[n].begin, 0, functions[n].size - 1);
	}
	arena_free(&texts);
	return error ? 0 : named;
}

static void names_are_those_of_the_list(void **state)
{
	struct kernel_names names;
	size_t compared;

	(void)state;
	read_or_skip(&names);
	compared = compare(&names, 0, true);
	/* The list has no end of a module's code: the last function's size differs. */
	for (unsigned n = 1; n < names.module_count && compared; n++)
		if (names.modules[n].base)
			compare(&names, n, false);
	kernel_names_free(&names);
	if (!compared)
		skip();
	assert_in_range(compared, SAMPLED / 2, 2 * SAMPLED);
}

/* An address outside of the kernel's code may be of a program that is replaced: it has no name. */
static void other_code_has_no_name(void **state)
{
	const uint64_t inside = 0x1000, outside[] = { 0x1000, UINT64_C(1) << 30, UINT64_MAX - 0xfff };
	static uint64_t many[KERNEL_LOOKUP_MAX + 1];
	struct kernel_function functions[3];
	struct arena texts = { 0 };
	int error;

	(void)state;
	error = kernel_lookup("", &inside, 1, functions, &texts);
	if (error == 0) {
		assert_int_equal(kernel_lookup("", outside, 3, functions, &texts), 0);
		assert_non_null(functions[0].name);
		assert_null(functions[1].name);
		assert_null(functions[2].name);
		assert_int_equal(kernel_lookup("", many, KERNEL_LOOKUP_MAX + 1, functions, &texts), -E2BIG);
	}
	assert_int_not_equal(kernel_lookup("[no_such_module]", &inside, 1, functions, &texts), 0);
	arena_free(&texts);
	if (error)
		skip();
}

/* Nor by the list, where the kernel's last function has no end. A function behind _etext is of the kernel's start, and gone. */
static void code_behind_the_kernels_has_no_name(void **state)
{
	static const char list[] =
		"ffffffff81000000 T _stext\nffffffff81001000 T first\nffffffff82200000 T _etext\n"
		"ffffffff837f8910 T _einittext\n"
		"ffffffffc0001000 t of_module\t[some]\nffffffffc0022000 t bpf_prog_01\t[bpf]\n";
	const struct {
		uint64_t offset;
		const char *name;
	} wanted[] = { { 0x1010, "first" },  { 0x11fffff, "first" }, { 0x1200000, NULL },
		       { 0x27f8910, NULL },  { 0x3f000000, NULL },   { 0x3f001010, NULL },
		       { 0x3f022010, NULL }, { 0x3f700000, NULL } };
	char path[] = "/tmp/burin-names-XXXXXX", modules[] = "/tmp/burin-modules-XXXXXX";
	const int file = mkstemp(path), other = mkstemp(modules);
	struct kernel_names names;
	uint64_t begin, size;

	(void)state;
	assert_true(file >= 0 && other >= 0);
	dprintf(file, "%s", list);
	dprintf(other, "some 8192 1 - Live 0xffffffffc0000000\n");
	assert_int_equal(kernel_names_read(&names, path, modules), 0);
	for (unsigned n = 0; n < sizeof(wanted) / sizeof(wanted[0]); n++) {
		const char *name = kernel_names_find(&names, "", wanted[n].offset, &begin, &size);

		if (wanted[n].name)
			assert_string_equal(name, wanted[n].name);
		else
			assert_null(name);
	}
	assert_string_equal(kernel_names_find(&names, "[some]", 0x1800, &begin, &size), "of_module");
	kernel_names_free(&names);
	close(file);
	close(other);
	unlink(path);
	unlink(modules);
}

/* A module that is loaded has a line, also where its address is hidden. */
static void modules_are_listed(void **state)
{
	char path[] = "/tmp/burin-modules-XXXXXX";
	const int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	dprintf(file, "ext4 999 1 - Live 0xffffffffc0000000\nhidden 16384 0 - Live 0x0000000000000000\n");
	assert_true(kernel_names_lists(path, "[ext4]"));
	assert_true(kernel_names_lists(path, "[hidden]"));
	assert_false(kernel_names_lists(path, "[ext]"));
	assert_false(kernel_names_lists(path, "[bpf_prog_0123456789abcdef]"));
	assert_false(kernel_names_lists(path, "ext4"));
	close(file);
	unlink(path);
	assert_false(kernel_names_lists(path, "[ext4]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_listed),
		cmocka_unit_test(names_are_those_of_the_list),
		cmocka_unit_test(other_code_has_no_name),
		cmocka_unit_test(code_behind_the_kernels_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
