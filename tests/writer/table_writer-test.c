/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables of samples: finishing merges many small blocks into fewer, smaller in total; a damaged file stays as it is. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/leb128.h"
#include "writer/symbols_writer.h"

enum {
	ENTRIES = 20000,
	EACH = 20, /* entries of a block */
};

static const char name[] = ".burin/contexts";

struct place {
	char path[64];
	int directory;
	struct table_writer table;
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->path, "/tmp/burin-table_writer-XXXXXX");
	place->directory = mkdtemp(place->path) ? open(place->path, O_RDONLY | O_DIRECTORY) : -1;
	assert_int_equal(mkdirat(place->directory, ".burin", 0777), 0);
	assert_int_equal(table_writer_begin(&place->table, place->directory, name, WIRE_TABLE_CONTEXTS), 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	table_writer_close(&place->table);
	unlinkat(place->directory, name, 0);
	assert_int_equal(unlinkat(place->directory, ".burin", AT_REMOVEDIR), 0); /* no draft is left */
	close(place->directory);
	rmdir(place->path);
	free(place);
	return 0;
}

static uint64_t task_of(uint32_t n)
{
	return n / 100 + n % 3;
}

static uint64_t stack_of(uint32_t n)
{
	return n % 7 ? UINT64_C(3) * n + 1 : n / 2;
}

static void add(struct table_writer *table, uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n < to; n++) {
		table_writer_number(table, task_of(n));
		table_writer_number(table, stack_of(n));
		assert_int_equal(table_writer_end(table), n + 1);
		if (n % EACH == EACH - 1)
			assert_int_equal(table_writer_flush(table), 0);
	}
	assert_int_equal(table_writer_flush(table), 0);
}

static uint64_t next(const unsigned char **at, const unsigned char *end)
{
	uint64_t value;

	*at = leb128_get(*at, end, &value);
	assert_non_null(*at);
	return value;
}

/* Read a column of a block and compare it with the entries from @first on. */
static void compare_column(const unsigned char **at, const unsigned char *end, uint32_t first,
			   uint32_t entries, uint64_t (*wanted)(uint32_t n))
{
	uint64_t highest = 0;

	for (uint32_t n = first; n < first + entries; n++) {
		const uint64_t value = highest - leb128_unfold(next(at, end));

		assert_int_equal(value, wanted(n));
		highest = value > highest ? value : highest;
	}
}

/* Compare the whole file with the entries that were added. Return: the number of its blocks. */
static unsigned compare(struct place *place)
{
	static unsigned char stored[1 << 20], bytes[1 << 20];
	const unsigned char *at, *end;
	struct wire_block block;
	uint32_t count = 0;
	unsigned blocks = 0;
	FILE *file = fdopen(openat(place->directory, name, O_RDONLY), "rb");

	assert_non_null(file);
	assert_int_equal(fseek(file, sizeof(struct wire_table), SEEK_SET), 0);
	for (; fread(&block, sizeof(block), 1, file) == 1; blocks++, count += block.entries) {
		assert_int_equal(fread(stored, 1, block.stored, file), block.stored);
		if (block.stored < block.bytes)
			assert_int_equal(ZSTD_decompress(bytes, sizeof(bytes), stored, block.stored),
					 block.bytes);
		else
			memcpy(bytes, stored, block.bytes);
		at = bytes;
		end = bytes + block.bytes;
		if (block.columns) {
			compare_column(&at, end, count, block.entries, task_of);
			compare_column(&at, end, count, block.entries, stack_of);
		}
		for (uint32_t n = count; !block.columns && n < count + block.entries; n++) {
			assert_int_equal(next(&at, end), task_of(n));
			assert_int_equal(next(&at, end), stack_of(n));
		}
		assert_ptr_equal(at, end);
	}
	fclose(file);
	assert_int_equal(count, place->table.count);
	return blocks;
}

static void test_small_blocks_become_large(void **state)
{
	struct place *place = *state;
	uint64_t before;

	add(&place->table, 0, ENTRIES);
	assert_int_equal(compare(place), ENTRIES / EACH);
	before = place->table.at;
	table_writer_finish(&place->table, place->directory, name, 2);
	assert_int_equal(compare(place), 1);
	assert_true(place->table.at < before / 4);
}

static void test_goes_on_behind_it(void **state)
{
	struct place *place = *state;

	add(&place->table, 0, ENTRIES);
	table_writer_finish(&place->table, place->directory, name, 0);
	assert_int_equal(compare(place), 1);
	add(&place->table, ENTRIES, ENTRIES + EACH);
	assert_int_equal(compare(place), 2);
	table_writer_finish(&place->table, place->directory, name, 0);
	assert_int_equal(compare(place), 1);
	table_writer_finish(&place->table, place->directory, name, 2);
	add(&place->table, ENTRIES + EACH, ENTRIES + 2 * EACH);
	table_writer_finish(&place->table, place->directory, name, 2);
	assert_int_equal(compare(place), 2);
}

/* When a full block is written, the entries that it refers to are in the file before it. */
static void test_referred_entries_go_first(void **state)
{
	struct place *place = *state;
	struct table_writer *images = &place->table, stacks;
	uint32_t entries = 0;

	assert_int_equal(table_writer_begin(&stacks, place->directory, ".burin/stacks", WIRE_TABLE_STACKS),
			 0);
	stacks.refers[0] = images;
	table_writer_number(images, task_of(0));
	table_writer_number(images, stack_of(0));
	assert_int_equal(table_writer_end(images), 1);
	do {
		assert_int_equal(images->entries, 1); /* not written yet */
		table_writer_number(&stacks, 0);
		table_writer_number(&stacks, 1);
		table_writer_number(&stacks, UINT64_MAX);
		assert_int_equal(table_writer_end(&stacks), ++entries);
	} while (stacks.entries);
	assert_int_equal(images->entries, 0);
	assert_int_equal(compare(place), 1);
	/* If they cannot be written, the block that refers to them is not written either. */
	images->error = -ENOSPC;
	table_writer_number(&stacks, 1);
	assert_int_equal(table_writer_end(&stacks), entries + 1);
	assert_int_equal(table_writer_flush(&stacks), -ENOSPC);
	table_writer_close(&stacks);
	unlinkat(place->directory, ".burin/stacks", 0);
}

/* Each byte of the first block's header and entries is overwritten in turn. */
static void test_damaged_file_stays(void **state)
{
	struct place *place = *state;
	unsigned char odd[] = { 0, 1, 0x7f, 0x80, 0xff }, was;
	uint64_t at = sizeof(struct wire_table);

	add(&place->table, 0, EACH);
	for (; at < place->table.at; at++) {
		for (unsigned n = 0; n < sizeof(odd); n++) {
			const int fd = place->table.fd;
			const uint64_t size = place->table.at;

			assert_int_equal(pread(fd, &was, 1, (off_t)at), 1);
			assert_int_equal(pwrite(fd, &odd[n], 1, (off_t)at), 1);
			table_writer_finish(&place->table, place->directory, name, 2);
			if (place->table.fd == fd) {
				assert_int_equal(place->table.at, size);
				assert_int_equal(pwrite(fd, &was, 1, (off_t)at), 1);
				continue;
			}
			/* The damaged bytes were still valid entries: begin again. */
			table_writer_close(&place->table);
			unlinkat(place->directory, name, 0);
			assert_int_equal(table_writer_begin(&place->table, place->directory, name,
							    WIRE_TABLE_CONTEXTS),
					 0);
			add(&place->table, 0, EACH);
		}
	}
	compare(place);
}

/* A text and a function with its name, in turns, and more of them than are held back: each name comes before its function. */
static void test_symbols_come_by_kind(void **state)
{
	enum {
		NAMES = 400000,
	};
	static unsigned char stored[4 << 20], bytes[4 << 20];
	static const char symbols_name[] = ".burin/symbols";
	struct place *place = *state;
	struct symbols_writer symbols;
	struct wire_block block;
	uint64_t texts = 0, functions = 0, turns = 0, last = WIRE_SYMBOLS_TEXT;
	FILE *file;

	assert_int_equal(symbols_writer_begin(&symbols, place->directory, symbols_name), 0);
	for (uint64_t n = 1; n <= NAMES; n++) {
		unsigned char entry[64], *at = leb128_put(leb128_put(entry, WIRE_SYMBOLS_TEXT), 3);

		memcpy(at, "abc", 3);
		assert_int_equal(symbols_writer_entry(&symbols, entry, (size_t)(at + 3 - entry)), 0);
		at = leb128_put(leb128_put(leb128_put(entry, WIRE_SYMBOLS_FUNCTION), 1), n * 16);
		at = leb128_put(leb128_put(at, 16), n);
		assert_int_equal(symbols_writer_entry(&symbols, entry, (size_t)(at - entry)), 0);
	}
	assert_int_equal(symbols_writer_flush(&symbols), 0);
	symbols_writer_close(&symbols);
	file = fdopen(openat(place->directory, symbols_name, O_RDONLY), "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, sizeof(struct wire_table), SEEK_SET), 0);
	while (fread(&block, sizeof(block), 1, file) == 1) {
		const unsigned char *at = bytes, *end = bytes + block.bytes;

		assert_int_equal(fread(stored, 1, block.stored, file), block.stored);
		assert_int_equal(ZSTD_decompress(bytes, sizeof(bytes), stored, block.stored), block.bytes);
		for (uint32_t n = 0; n < block.entries; n++) {
			const uint64_t kind = next(&at, end);

			turns += kind != last;
			last = kind;
			if (kind == WIRE_SYMBOLS_TEXT) {
				const uint64_t length = next(&at, end);

				at += length;
				texts++;
				continue;
			}
			assert_int_equal(kind, WIRE_SYMBOLS_FUNCTION);
			assert_int_equal(next(&at, end), 1);
			assert_int_equal(next(&at, end), ++functions * 16);
			assert_int_equal(next(&at, end), 16);
			assert_int_equal(next(&at, end), functions);
			assert_in_range(functions, 1, texts);
		}
		assert_ptr_equal(at, end);
	}
	fclose(file);
	unlinkat(place->directory, symbols_name, 0);
	assert_int_equal(texts, NAMES);
	assert_int_equal(functions, NAMES);
	assert_in_range(turns, 3, 10); /* they were written twice at least, and not in turns */
}

/* Without a file entries have numbers, however many there are, and their memory stays bounded. */
static void test_without_a_file(void **state)
{
	struct table_writer table;

	(void)state;
	table_writer_without(&table);
	for (uint32_t n = 1; n <= 200 * ENTRIES; n++) {
		table_writer_number(&table, UINT64_MAX);
		assert_int_equal(table_writer_end(&table), n);
	}
	assert_int_equal(table_writer_flush(&table), 0);
	assert_true(table.room < 16 << 20);
	table_writer_close(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_small_blocks_become_large, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_goes_on_behind_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_referred_entries_go_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_symbols_come_by_kind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_file_stays, set_up, tear_down),
		cmocka_unit_test(test_without_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
