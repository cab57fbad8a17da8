/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of samples in a trace as text, for the scripts:
 *
 *	image N kind bytes build-id path
 *	task N tid pid since image name path
 *	stack N up image offset
 *
 * Fields are separated by tabs. What does not hold ends it, with a line on stderr and status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/leb128.h"
#include "wire/profile.h"

struct entries {
	const unsigned char *at, *end;
	const char *what;
};

static _Noreturn void wrong(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

static uint64_t number(struct entries *entries)
{
	uint64_t value;

	entries->at = leb128_get(entries->at, entries->end, &value);
	if (!entries->at)
		wrong(entries->what, "a number that does not end");
	return value;
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
		wrong(entries->what, "a text that does not end");
	at = entries->at;
	entries->at += *bytes;
	return at;
}

static void print_text(struct entries *entries)
{
	uint64_t bytes;
	const unsigned char *at = text(entries, &bytes);

	printf("\t%.*s", (int)bytes, (const char *)at);
}

static void print_build_id(struct entries *entries)
{
	uint64_t bytes;
	const unsigned char *at = text(entries, &bytes);

	putchar('\t');
	for (uint64_t n = 0; n < bytes; n++)
		printf("%02x", at[n]);
}

static void print_entry(struct entries *entries, uint32_t magic, unsigned long n)
{
	static const char *const names[] = { "image", "task", "stack" };

	printf("%s\t%lu", names[magic == WIRE_TABLE_IMAGES ? 0 : magic == WIRE_TABLE_TASKS ? 1 : 2], n);
	for (unsigned k = 0; k < (magic == WIRE_TABLE_IMAGES ? 2 : magic == WIRE_TABLE_TASKS ? 4 : 3); k++)
		print_number(entries);
	if (magic == WIRE_TABLE_IMAGES)
		print_build_id(entries);
	if (magic == WIRE_TABLE_TASKS)
		print_text(entries);
	if (magic != WIRE_TABLE_STACKS)
		print_text(entries);
	putchar('\n');
}

static void print_table(const char *trace, const char *name, uint32_t magic)
{
	char path[4096];
	struct wire_table header;
	struct wire_block block;
	unsigned long n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/.burin/%s", trace, name);
	file = fopen(path, "rb");
	if (!file || fread(&header, sizeof(header), 1, file) != 1)
		wrong(name, "cannot be read");
	if (header.magic != magic || header.version != WIRE_TABLE_VERSION || header.reserved)
		wrong(name, "another header");
	while (fread(&block, sizeof(block), 1, file) == 1) {
		unsigned char *stored = malloc(block.stored + 1), *bytes = malloc(block.bytes + 1);
		struct entries entries = { bytes, bytes + block.bytes, name };

		if (block.bytes > WIRE_BLOCK_MAX || block.stored > block.bytes || block.reserved || !stored ||
		    !bytes)
			wrong(name, "a block that cannot be");
		if (fread(stored, 1, block.stored, file) != block.stored)
			wrong(name, "a block that does not end");
		if (block.stored == block.bytes)
			memcpy(bytes, stored, block.bytes);
		else if (ZSTD_decompress(bytes, block.bytes, stored, block.stored) != block.bytes)
			wrong(name, "bytes that are not compressed so");
		for (uint32_t k = 0; k < block.entries; k++)
			print_entry(&entries, magic, ++n);
		if (entries.at != entries.end)
			wrong(name, "bytes behind the entries");
		free(stored);
		free(bytes);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	print_table(argv[1], "images", WIRE_TABLE_IMAGES);
	print_table(argv[1], "tasks", WIRE_TABLE_TASKS);
	print_table(argv[1], "stacks", WIRE_TABLE_STACKS);
	return 0;
}
