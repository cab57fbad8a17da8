/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts that need no ELF file: kernel names, maps of code made at run time, demangling, packages, texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/names/demangle.h"
#include "image/names/go_names.h"
#include "image/names/jitmap.h"
#include "image/names/kernel/kernel_names.h"
#include "image/elf/packages.h"
#include "image/symbolize/texts.h"

static char folder[] = "/tmp/burin-parts-XXXXXX";

static const char *written(const char *name, const void *bytes, size_t count)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	FILE *out;

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, count, out), count);
	assert_int_equal(fclose(out), 0);
	return path;
}

static const char *text(const char *name, const char *content)
{
	return written(name, content, strlen(content));
}

/* ---- Go */

enum {
	GO_POINTER = 8,
};

struct go_table {
	unsigned char bytes[256];
	size_t size;
};

static void go_put(struct go_table *table, uint64_t value, size_t bytes)
{
	memcpy(table->bytes + table->size, &value, bytes);
	table->size += bytes;
}

/* A table with the functions main.main and main.hot, of 32 bytes each from 0x1000 on. */
static struct go_table go_table(uint32_t magic, uint64_t text)
{
	const bool first = magic == 0xfffffffb, absolute = first || magic == 0xfffffffa;
	const size_t size = absolute ? 8 : 4, count = first ? 1 : absolute ? 7 : 8;
	const size_t index = 8 + count * GO_POINTER, functions = 5 * size,
		     names = index + functions + 2 * (size + 4);
	uint64_t words[8] = { 2 };
	struct go_table table = { .size = 0 };

	if (!first) {
		words[2] = absolute ? names : text;
		words[3] = names;
		words[count - 1] = index;
	}
	go_put(&table, magic, 4);
	go_put(&table, (uint64_t)GO_POINTER << 24 | 1 << 16, 4);
	for (size_t n = 0; n < count; n++)
		go_put(&table, words[n], GO_POINTER);
	for (unsigned n = 0; n < 3; n++) {
		go_put(&table, (absolute ? 0x1000 : 0) + n * 32, size);
		if (n < 2)
			go_put(&table, functions + n * (size + 4) + (first ? index : 0), size);
	}
	for (unsigned n = 0; n < 2; n++) {
		go_put(&table, (absolute ? 0x1000 : 0) + n * 32, size);
		go_put(&table, n * 10 + (first ? names : 0), 4);
	}
	memcpy(table.bytes + table.size, "main.main\0main.hot", 19);
	table.size += 19;
	return table;
}

static bool go_has(const struct symbols *symbols, uint64_t address, const char *name)
{
	const struct symbol *symbol = symbols_find(symbols, address);

	return symbol && symbol->bytes == strlen(name) && !memcmp(symbol->name, name, symbol->bytes);
}

static void go_functions_have_names_in_each_format(void **state)
{
	static const uint32_t formats[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		const struct go_table table = go_table(formats[n], 0x1000);
		struct symbols symbols = { 0 };

		assert_int_equal(go_names_parse(&symbols, table.bytes, table.size, 0, 0), 0);
		symbols_sort(&symbols);
		assert_int_equal(symbols.count, 2);
		assert_true(symbols.full);
		assert_true(go_has(&symbols, 0x1000, "main.main"));
		assert_true(go_has(&symbols, 0x103f, "main.hot"));
		assert_null(symbols_find(&symbols, 0x1040));
		symbols_free(&symbols);
	}
}

/* Position-independent programs have 0 there, and a relocation. */
static void go_text_is_found_by_the_entry_point(void **state)
{
	const struct go_table table = go_table(0xfffffff1, 0);
	struct symbols symbols = { 0 };

	(void)state;
	assert_int_equal(go_names_parse(&symbols, table.bytes, table.size, 0x4000, 0x4008), 0);
	assert_int_equal(symbols.count, 0); /* no function begins there: C's linker made the program */
	assert_int_equal(go_names_parse(&symbols, table.bytes, table.size, 0x4000, 0x4020), 0);
	symbols_sort(&symbols);
	assert_true(go_has(&symbols, 0x4020, "main.hot"));
	symbols_free(&symbols);
}

/* Each prefix, and each byte set to its worst: nothing is read outside (the sanitizers' build sees that). */
static void damaged_go_tables_name_less(void **state)
{
	const struct go_table table = go_table(0xfffffff1, 0x1000);

	(void)state;
	for (size_t n = 0; n < table.size; n++) {
		for (unsigned whole = 0; whole < 2; whole++) {
			const size_t size = whole ? table.size : n;
			unsigned char *copy = malloc(size + 1);
			struct symbols symbols = { 0 };

			assert_non_null(copy);
			memcpy(copy, table.bytes, size);
			if (whole)
				copy[n] = 0xff;
			assert_int_equal(go_names_parse(&symbols, copy, size, 0, 0), 0);
			assert_in_range(symbols.count, 0, 2);
			symbols_free(&symbols);
			free(copy);
		}
	}
}

/* ---- kernel */

static void kernel_functions_have_names(void **state)
{
	struct kernel_names names;
	uint64_t begin, size;

	(void)state;
	assert_int_equal(kernel_names_read(&names,
					   text("kallsyms", "ffffffff81000000 T _stext\n"
							    "ffffffff81000000 T other_name_of_it\n"
							    "ffffffff81000400 t later\n"
							    "ffffffff81000200 T earlier\n"
							    "ffffffff81000300 D data\n"
							    "ffffffffc0001010 t in_a_module\t[some]\n"
							    "ffffffffc0002000 t in_another\t[other]\n"),
					   text("modules", "some 16384 0 - Live 0xffffffffc0001000\n"
							   "other 16384 1 some, Live 0xffffffffc0002000\n")),
			 0);
	assert_string_equal(kernel_names_find(&names, NULL, 0x10, &begin, &size), "_stext");
	assert_string_equal(kernel_names_find(&names, "", 0x3ff, &begin, &size), "earlier");
	assert_int_equal(begin, 0x200);
	assert_int_equal(size, 0x200);
	assert_string_equal(kernel_names_find(&names, "[some]", 0x20, &begin, &size), "in_a_module");
	assert_int_equal(begin, 0x10);
	assert_string_equal(kernel_names_find(&names, "[other]", 0, &begin, &size), "in_another");
	assert_null(kernel_names_find(&names, "[some]", 0xf, &begin, &size));
	assert_null(kernel_names_find(&names, "[none]", 0, &begin, &size));
	kernel_names_free(&names);
}

/* More text than the first buffer holds, as of a kernel with many modules; and lines that are not symbols. */
static void long_lists_are_read_whole(void **state)
{
	enum {
		COUNT = 300000
	};
	struct kernel_names names;
	uint64_t begin, size;
	char *list = malloc((size_t)COUNT * 48), *at = list, name[32];

	(void)state;
	assert_non_null(list);
	at += sprintf(at, "ffffffff81000000 T _stext\n\n81000000 T short\nffffffff81000000 "
			  "T\nffffffff81000000 TT two\n");
	for (unsigned n = 1; n < COUNT; n++)
		at += sprintf(at, "%016llx t function_%06u\n", 0xffffffff81000000 + 16ULL * n, n);
	assert_true(at - list > 8 << 20);
	assert_int_equal(kernel_names_read(&names, text("kallsyms", list), "/nonexistent"), 0);
	free(list);
	assert_int_equal(names.count, COUNT);
	for (unsigned n = 1; n < COUNT; n += 997) {
		sprintf(name, "function_%06u", n);
		assert_string_equal(kernel_names_find(&names, NULL, 16 * n + 15, &begin, &size), name);
	}
	kernel_names_free(&names);
}

static void restricted_addresses_are_refused(void **state)
{
	struct kernel_names names;

	(void)state;
	assert_int_equal(
		kernel_names_read(&names,
				  text("kallsyms", "0000000000000000 T _stext\n0000000000000000 T a\n"),
				  "/nonexistent"),
		-EPERM);
	assert_int_equal(kernel_names_read(&names, "/nonexistent", "/nonexistent"), -ENOENT);
}

/* ---- code made at run time */

static void read_map(struct jitmap *map, const char *path)
{
	const int file = open(path, O_RDONLY);

	assert_true(file >= 0);
	assert_int_equal(jitmap_read(map, file), 0);
	close(file);
}

static void assert_name(const struct jitmap_name *name, const char *wanted)
{
	if (!wanted) {
		assert_null(name->name);
		return;
	}
	assert_non_null(name->name);
	assert_int_equal(name->bytes, strlen(wanted));
	assert_memory_equal(name->name, wanted, name->bytes);
}

static void last_in_a_map_wins(void **state)
{
	const uint64_t addresses[] = { 0xfff, 0x1000, 0x1010, 0x1018, 0x1040, 0x2000, 0x5000 };
	struct jitmap_name names[7];
	struct jitmap map;

	(void)state;
	read_map(&map, text("perf-1.map", "1000 20 first\n"
					  "1000 20 second with blanks\n"
					  "nonsense\n"
					  "1018 4 within\n"
					  "0x2000 0x10 prefixed\n"
					  "ffffffffffffffff ffffffffffffffff wraps\n"
					  "5000 10 not ended"));
	jitmap_find(&map, addresses, 7, names);
	assert_name(&names[0], NULL);
	assert_name(&names[1], "second with blanks");
	assert_name(&names[2], "second with blanks");
	assert_int_equal(names[2].begin, 0x1000);
	assert_int_equal(names[2].size, 0x20);
	assert_name(&names[3], "within");
	assert_name(&names[4], NULL);
	assert_name(&names[5], "prefixed");
	assert_name(&names[6], NULL);
	jitmap_free(&map);
}

static unsigned char dump[4096];
static size_t dumped;

static void put32(uint32_t value)
{
	memcpy(dump + dumped, &value, sizeof(value));
	dumped += sizeof(value);
}

static void put64(uint64_t value)
{
	memcpy(dump + dumped, &value, sizeof(value));
	dumped += sizeof(value);
}

static void put_string(const char *string)
{
	strcpy((char *)dump + dumped, string);
	dumped += strlen(string) + 1;
}

static size_t begin_record(uint32_t kind)
{
	const size_t at = dumped;

	put32(kind);
	put32(0);
	put64(1234);
	return at;
}

static void end_record(size_t at)
{
	const uint32_t bytes = (uint32_t)(dumped - at);

	memcpy(dump + at + 4, &bytes, sizeof(bytes));
}

static void put_load(uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	const size_t at = begin_record(0);

	put64(0); /* pid, tid */
	put64(address);
	put64(address);
	put64(size);
	put64(index);
	put_string(name);
	dumped += size; /* the code */
	end_record(at);
}

static void make_dump(void)
{
	size_t at;

	put32(0x4a695444);
	put32(1);
	put32(40);
	for (unsigned n = 0; n < 7; n++)
		put32(0);
	put_load(0x1000, 0x40, 1, "old");
	at = begin_record(2); /* lines */
	put64(0x2000);
	put64(3);
	put64(0x2000);
	put32(10);
	put32(0);
	put_string("a.js");
	put64(0x2010);
	put32(11);
	put32(0);
	put_string("\xff");
	put64(0x2018);
	put32(3);
	put32(0);
	put_string("b.js");
	end_record(at);
	put_load(0x2000, 0x20, 2, "with lines");
	put_load(0x1000, 0x20, 3, "new");
	at = begin_record(1); /* move */
	put64(0);
	put64(0x1000);
	put64(0x1000);
	put64(0x3000);
	put64(0x20);
	put64(3);
	end_record(at);
	put_load(0x4000, 0x10, 4, "cut off");
}

static void jitdump_names_moves_and_lines(void **state)
{
	const uint64_t addresses[] = { 0x1008, 0x1028, 0x2004, 0x2014, 0x201f, 0x3001, 0x4000 };
	struct jitmap_name names[7];
	struct jitmap map;

	(void)state;
	dumped = 0;
	make_dump();
	read_map(&map, written("jit-1.dump", dump, dumped - 1));
	jitmap_find(&map, addresses, 7, names);
	assert_name(&names[0], "new");
	assert_name(&names[1], "old");
	assert_name(&names[2], "with lines");
	assert_int_equal(names[2].line, 10);
	assert_string_equal(names[2].file, "a.js");
	assert_int_equal(names[3].line, 11);
	assert_string_equal(names[3].file, "a.js");
	assert_int_equal(names[4].line, 3);
	assert_string_equal(names[4].file, "b.js");
	assert_name(&names[5], "new");
	assert_int_equal(names[5].begin, 0x3000);
	assert_name(&names[6], NULL);
	jitmap_free(&map);
}

/* Code is identified by its offset in the dump, even if its address is reused. */
static void a_dump_is_followed_while_it_is_written(void **state)
{
	const uint64_t wanted[][5] = { /* kind, address, size, offset of the code, from */
				       { JITDUMP_LOAD, 0x1000, 0x40, 100, 0 },
				       { JITDUMP_OTHER, 0, 0, 0, 0 },
				       { JITDUMP_LOAD, 0x2000, 0x20, 0, 0 },
				       { JITDUMP_LOAD, 0x1000, 0x20, 0, 0 },
				       { JITDUMP_MOVE, 0x3000, 0x20, 0, 0x1000 }
	};
	const char *const names[] = { "old", "with lines", "new" };
	struct jitdump_record record;
	uint64_t at = 0, offsets[3], places[3];
	struct jitmap_name found[3];
	struct jitmap map;
	unsigned count = 0, loads = 0;
	const char *path;
	int file;

	(void)state;
	dumped = 0;
	make_dump();
	path = written("jit-1.dump", dump, dumped - 1);
	file = open(path, O_RDONLY);
	assert_true(file >= 0);
	for (uint64_t bytes = 0; bytes < dumped; bytes++) { /* while it grows */
		struct jitdump_window window = { .bytes = 0 };

		if (!jitdump_next(&window, file, bytes, &at, &record))
			continue;
		assert_true(count < 5);
		assert_int_equal(record.kind, wanted[count][0]);
		if (record.kind != JITDUMP_OTHER) {
			assert_int_equal(record.time, 1234);
			assert_int_equal(record.address, wanted[count][1]);
			assert_int_equal(record.size, wanted[count][2]);
			assert_int_equal(record.from, wanted[count][4]);
		}
		if (record.kind == JITDUMP_LOAD) {
			assert_int_equal(record.code + record.size, bytes);
			offsets[loads++] = record.code;
		}
		count++;
	}
	assert_int_equal(count, 5);
	assert_int_equal(offsets[0], wanted[0][3]);
	memcpy(places, offsets, sizeof(places));
	places[1] += 0x14;
	read_map(&map, path);
	jitdump_find(&map, places, 3, found);
	for (unsigned n = 0; n < 3; n++) {
		assert_name(&found[n], names[n]);
		assert_int_equal(found[n].begin, offsets[n]);
	}
	assert_int_equal(found[1].line, 11);
	assert_string_equal(found[1].file, "a.js");
	jitmap_free(&map);
	close(file);
}

/* Random bytes in a dump: no read beyond its end (checked by valgrind and sanitizers). */
static void damaged_dumps_crash_nobody(void **state)
{
	const uint64_t addresses[] = { 0x1008, 0x1028, 0x2004, 0x2014, 0x201f, 0x3001, 0x4000 };
	uint64_t random = 42;

	(void)state;
	dumped = 0;
	make_dump();
	for (unsigned round = 0; round < 20000; round++) {
		struct jitmap_name names[7];
		struct jitmap map = { malloc(dumped + 1), dumped };

		assert_non_null(map.text);
		memcpy(map.text, dump, dumped);
		map.text[dumped] = 0;
		for (unsigned n = 0; n < 3; n++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			map.text[40 + (random >> 33) % (dumped - 40)] = (char)(random >> 24);
		}
		map.bytes -= (random >> 40) % 64;
		jitmap_find(&map, addresses, 7, names);
		jitdump_find(&map, addresses, 7, names);
		jitmap_free(&map);
	}
}

/* Entries that all cover all addresses, and endless moves of code: the work is limited, which is reported. */
static void much_work_ends(void **state)
{
	enum {
		COUNT = 20000,
		LINE = 18, /* bytes */
	};
	uint64_t *addresses = calloc(COUNT, sizeof(*addresses));
	struct jitmap_name *names = calloc(COUNT, sizeof(*names));
	struct jitmap map = { malloc(COUNT * LINE + 1), COUNT * LINE };

	(void)state;
	assert_true(addresses && names && map.text);
	for (unsigned n = 0; n < COUNT; n++) {
		addresses[n] = n;
		memcpy(map.text + (size_t)n * LINE, "00000000 fffff aa\n", LINE);
	}
	assert_false(jitmap_find(&map, addresses, COUNT, names));
	assert_name(&names[COUNT - 1], "aa");
	assert_true(jitmap_find(&map, addresses, 1, names));
	jitmap_free(&map);
	free(addresses);
	free(names);
}

/* ---- the rest */

static void names_are_demangled_within_bounds(void **state)
{
	char out[DEMANGLE_OUT_MAX], *long_name = malloc(20000);

	(void)state;
	assert_true(demangle(out, "_ZN3foo3barIiEEvT_") > 0);
	assert_string_equal(out, "foo::bar<int>(int)");
	assert_true(demangle(out, "_RNvCs1234_7mycrate3foo") > 0);
	assert_string_equal(out, "mycrate::foo");
	assert_true(demangle(out, "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE") > 0);
	assert_string_equal(out, "core::fmt::Formatter::pad");
	assert_true(demangle(out, "_ZN3foo3barEv.cold") > 0);
	assert_int_equal(demangle(out, "main"), 0);
	assert_int_equal(demangle(out, "_Z!"), 0);
	assert_int_equal(demangle(out, ""), 0);
	assert_non_null(long_name);
	/* Each argument refers to the previous one twice: a short name that expands to 2^40 characters. */
	strcpy(long_name, "_Z1fI1AI1BIiiE1CIS1_S1_E");
	for (unsigned n = 0; n < 24; n++)
		sprintf(long_name + strlen(long_name), "1CIS%X_S%X_E", n + 2, n + 2);
	strcat(long_name, "EEvv");
	assert_true(demangle(out, long_name) < DEMANGLE_OUT_MAX);
	memset(long_name, 'a', 19999);
	memcpy(long_name, "_Z19990", 7);
	long_name[19999] = 0;
	assert_int_equal(demangle(out, long_name), 0);
	snprintf(long_name, 20000, "_Z8000%08000d", 1);
	memset(long_name + 6, 'a', 8000);
	strcpy(long_name + 8006, "v");
	assert_true(demangle(out, long_name) == DEMANGLE_OUT_MAX - 1);
	assert_string_equal(out + DEMANGLE_OUT_MAX - 4, "…");
	free(long_name);
}

static void packages_are_found_by_their_lists(void **state)
{
	struct packages_file files[] = { { .path = "/usr/lib/libone.so" },
					 { .path = "/lib/libtwo.so" },
					 { .path = "/usr/lib/libtwo.so" },
					 { .path = "/opt/three" } };
	char debug[PACKAGES_NAME_MAX + 16];

	(void)state;
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("var", 0700) | mkdir("var/lib", 0700) | mkdir("var/lib/dpkg", 0700) |
				 mkdir("var/lib/dpkg/info", 0700),
			 0);
	text("var/lib/dpkg/info/one.list", "/.\n/lib\n/lib/libone.so\n");
	text("var/lib/dpkg/info/two:amd64.list", "/usr/lib/libtwo.so\n");
	text("var/lib/dpkg/info/two:amd64.md5sums", "/opt/three\n");
	packages_find(files, 4, folder);
	assert_string_equal(files[0].package, "one");
	assert_string_equal(files[1].package, "two");
	assert_string_equal(files[2].package, "two");
	assert_string_equal(files[3].package, "");
	packages_debug(debug, "two");
	assert_string_equal(debug, "two-dbgsym");
	packages_debug(debug, "libc6");
	assert_string_equal(debug, "libc6-dbg");
}

static void texts_keep_their_numbers(void **state)
{
	struct texts texts = { 0 };
	char name[32];
	bool fresh;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned n = 0; n < 10000; n++) {
			const int bytes = snprintf(name, sizeof(name), "text %u", n);

			assert_int_equal(texts_number(&texts, name, (size_t)bytes, &fresh), n + 1);
			assert_int_equal(fresh, round == 0);
		}
	}
	assert_int_equal(texts.count, 10000);
	texts_free(&texts);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(go_functions_have_names_in_each_format),
		cmocka_unit_test(go_text_is_found_by_the_entry_point),
		cmocka_unit_test(damaged_go_tables_name_less),
		cmocka_unit_test(kernel_functions_have_names),
		cmocka_unit_test(long_lists_are_read_whole),
		cmocka_unit_test(restricted_addresses_are_refused),
		cmocka_unit_test(last_in_a_map_wins),
		cmocka_unit_test(jitdump_names_moves_and_lines),
		cmocka_unit_test(a_dump_is_followed_while_it_is_written),
		cmocka_unit_test(damaged_dumps_crash_nobody),
		cmocka_unit_test(much_work_ends),
		cmocka_unit_test(names_are_demangled_within_bounds),
		cmocka_unit_test(packages_are_found_by_their_lists),
		cmocka_unit_test(texts_keep_their_numbers),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
