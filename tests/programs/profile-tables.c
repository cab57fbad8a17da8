/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of samples in a trace as text, for the scripts:
 *
 *	image N kind bytes build-id path
 *	task N tid pid since image name path
 *	stack N up image offset
 *	context N task stack
 *
 * Fields are separated by tabs; in texts, bytes that may end a line or a field, or begin an escape, are \\xHH. At the first fault it prints a line to stderr and exits with 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/leb128.h"
#include "wire/wire_profile.h"

static const struct table {
	const char *name, *entry;
	uint32_t magic;
	unsigned numbers, texts; /* the fields of an entry; an image has its build id in between */
} tables[] = { { "images", "image", WIRE_TABLE_IMAGES, 2, 1 },
	       { "tasks", "task", WIRE_TABLE_TASKS, 4, 2 },
	       { "stacks", "stack", WIRE_TABLE_STACKS, 3, 0 },
	       { "contexts", "context", WIRE_TABLE_CONTEXTS, 2, 0 } };

struct entries {
	const unsigned char *at, *end;
	const char *table;
	uint64_t *numbers; /* of all entries in order, if the block has columns */
};

static _Noreturn void fail(const char *table, const char *why)
{
	fprintf(stderr, "%s: %s\n", table, why);
	exit(1);
}

static uint64_t number(struct entries *entries)
{
	uint64_t value;

	if (entries->numbers)
		return *entries->numbers++;
	entries->at = leb128_get(entries->at, entries->end, &value);
	if (!entries->at)
		fail(entries->table, "truncated number");
	return value;
}

/* Read all columns of a block, and transpose them into rows. */
static uint64_t *read_columns(struct entries *entries, uint32_t count, unsigned columns)
{
	uint64_t *rows = calloc((size_t)count * columns, sizeof(*rows));

	if (!rows)
		fail(entries->table, "no memory");
	for (unsigned column = 0; column < columns; column++) {
		uint64_t highest = 0;

		for (uint32_t n = 0; n < count; n++) {
			const uint64_t folded = number(entries);
			const uint64_t value = highest - (folded & 1 ? ~(folded / 2) : folded / 2);

			rows[n * columns + column] = value;
			highest = value > highest ? value : highest;
		}
	}
	return rows;
}

static void print_number(struct entries *entries)
{
	printf("\t%llu", (unsigned long long)number(entries));
}

static const unsigned char *text(struct entries *entries, uint64_t *bytes)
{
	const unsigned char *at;

	*bytes = number(entries);
	if (*bytes > WIRE_TEXT_MAX || *bytes > (uint64_t)(entries->end - entries->at))
		fail(entries->table, "truncated text");
	at = entries->at;
	entries->at += *bytes;
	return at;
}

static void print_text(struct entries *entries)
{
	uint64_t bytes;
	const unsigned char *at = text(entries, &bytes);

	putchar('\t');
	for (uint64_t n = 0; n < bytes; n++)
		if (at[n] < ' ' || at[n] == '\\' || at[n] == 127)
			printf("\\x%02x", at[n]);
		else
			putchar(at[n]);
}

static void print_build_id(struct entries *entries)
{
	uint64_t bytes;
	const unsigned char *at = text(entries, &bytes);

	putchar('\t');
	for (uint64_t n = 0; n < bytes; n++)
		printf("%02x", at[n]);
}

static void print_entry(struct entries *entries, const struct table *table, unsigned long n)
{
	printf("%s\t%lu", table->entry, n);
	for (unsigned k = 0; k < table->numbers; k++)
		print_number(entries);
	if (table->magic == WIRE_TABLE_IMAGES)
		print_build_id(entries);
	for (unsigned k = 0; k < table->texts; k++)
		print_text(entries);
	putchar('\n');
}

static void print_table(const char *trace, const struct table *table)
{
	const char *name = table->name;
	char path[4096];
	struct wire_table header;
	struct wire_block block;
	unsigned long n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/.burin/%s", trace, name);
	file = fopen(path, "rb");
	if (!file || fread(&header, sizeof(header), 1, file) != 1)
		fail(name, "cannot be read");
	if (header.magic != table->magic || header.version != WIRE_TABLE_VERSION || header.reserved)
		fail(name, "invalid header");
	while (fread(&block, sizeof(block), 1, file) == 1) {
		unsigned char *stored = malloc(block.stored + 1), *bytes = malloc(block.bytes + 1);
		struct entries entries = { bytes, bytes + block.bytes, name, NULL };
		uint64_t *rows;

		if (block.bytes > WIRE_BLOCK_MAX || block.stored > block.bytes ||
		    (block.columns && block.columns != table->numbers) || !stored || !bytes)
			fail(name, "invalid block header");
		if (fread(stored, 1, block.stored, file) != block.stored)
			fail(name, "truncated block");
		if (block.stored == block.bytes)
			memcpy(bytes, stored, block.bytes);
		else if (ZSTD_decompress(bytes, block.bytes, stored, block.stored) != block.bytes)
			fail(name, "corrupt compressed block");
		rows = block.columns ? read_columns(&entries, block.entries, block.columns) : NULL;
		entries.numbers = rows;
		for (uint32_t k = 0; k < block.entries; k++)
			print_entry(&entries, table, ++n);
		if (entries.at != entries.end)
			fail(name, "bytes behind the entries");
		free(stored);
		free(bytes);
		free(rows);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (unsigned n = 0; n < sizeof(tables) / sizeof(tables[0]); n++)
		print_table(argv[1], &tables[n]);
	return 0;
}
