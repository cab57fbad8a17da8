/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The writer of tables. */
#include "tables.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/leb128.h"
#include "wire/wire_profile.h"

enum {
	IMAGES,
	TASKS,
	STACKS,
	CONTEXTS,
	SYMBOLS,
	TABLES
};

struct tables {
	char trace[512];
	unsigned per_block;
	uint32_t texts;
	struct one {
		FILE *file;
		unsigned char bytes[1 << 20];
		uint32_t used, entries, count;
	} one[TABLES];
};

#define must(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

static FILE *create(const struct tables *tables, const char *name)
{
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/.burin/%s", tables->trace, name);
	file = fopen(path, "wb");
	must(file);
	return file;
}

struct tables *tables_new(const char *trace, unsigned per_block)
{
	static const char *const names[] = { "images", "tasks", "stacks", "contexts", "symbols" };
	static const uint32_t magics[] = { WIRE_TABLE_IMAGES, WIRE_TABLE_TASKS, WIRE_TABLE_STACKS,
					   WIRE_TABLE_CONTEXTS, WIRE_TABLE_SYMBOLS };
	struct tables *tables = calloc(1, sizeof(*tables));

	must(tables);
	snprintf(tables->trace, sizeof(tables->trace), "%s", trace);
	tables->per_block = per_block;
	for (unsigned n = 0; n < TABLES; n++) {
		struct wire_table header = { magics[n], WIRE_TABLE_VERSION, 0 };

		tables->one[n].file = create(tables, names[n]);
		must(fwrite(&header, sizeof(header), 1, tables->one[n].file) == 1);
	}
	return tables;
}

/* Puts pairs of numbers in columns, each as the highest before it less the number, zigzag. */
static void turn(struct one *one)
{
	static unsigned char turned[sizeof(one->bytes)];
	unsigned char *to = turned;

	for (unsigned column = 0; column < 2; column++) {
		const unsigned char *at = one->bytes, *end = at + one->used;
		int64_t highest = 0;

		for (unsigned n = 0; at < end; n++) {
			uint64_t value;
			int64_t less;

			at = leb128_get(at, end, &value);
			must(at);
			if (n % 2 != column)
				continue;
			less = highest - (int64_t)value;
			must(to < turned + sizeof(turned) - LEB128_MAX);
			to = leb128_put(to, (uint64_t)(less < 0 ? -2 * less - 1 : 2 * less));
			highest = less < 0 ? (int64_t)value : highest;
		}
	}
	one->used = (uint32_t)(to - turned);
	memcpy(one->bytes, turned, one->used);
}

/* Every other block is packed; every other one of contexts has columns. */
static void flush(struct one *one, bool contexts)
{
	static unsigned char packed[2 << 20];
	static unsigned turn_of_all, turn_of_spots;
	struct wire_block block = { .entries = one->entries };
	const unsigned char *bytes = one->bytes;

	if (!one->entries)
		return;
	if (contexts && turn_of_spots++ % 2 == 0) {
		turn(one);
		block.columns = 2;
	}
	block.bytes = block.stored = one->used;
	if (turn_of_all++ % 2) {
		size_t stored = ZSTD_compress(packed, sizeof(packed), one->bytes, one->used, 3);

		if (stored < one->used) {
			block.stored = (uint32_t)stored;
			bytes = packed;
		}
	}
	must(fwrite(&block, sizeof(block), 1, one->file) == 1 &&
	     fwrite(bytes, 1, block.stored, one->file) == block.stored);
	one->used = one->entries = 0;
}

/* Begins an entry; returns where it stands. */
static struct one *begin(struct tables *tables, unsigned which)
{
	struct one *one = &tables->one[which];

	if (one->entries == tables->per_block || one->used > sizeof(one->bytes) - 70000)
		flush(one, which == CONTEXTS);
	one->entries++;
	one->count++;
	return one;
}

static void number(struct one *one, uint64_t value)
{
	one->used = (uint32_t)(leb128_put(one->bytes + one->used, value) - one->bytes);
}

static void text(struct one *one, const char *value)
{
	number(one, strlen(value));
	memcpy(one->bytes + one->used, value, strlen(value));
	one->used += (uint32_t)strlen(value);
}

uint32_t tables_image(struct tables *tables, unsigned kind, const char *build_id, const char *path)
{
	struct one *one = begin(tables, IMAGES);

	number(one, kind);
	number(one, 4096);
	text(one, build_id);
	text(one, path);
	return one->count;
}

uint32_t tables_task(struct tables *tables, uint32_t tid, uint32_t pid, uint32_t image, const char *name,
		     const char *path)
{
	struct one *one = begin(tables, TASKS);

	number(one, tid);
	number(one, pid);
	number(one, 0);
	number(one, image);
	text(one, name);
	text(one, path);
	return one->count;
}

uint32_t tables_stack(struct tables *tables, uint32_t caller, uint32_t image, uint64_t offset)
{
	struct one *one = begin(tables, STACKS);

	number(one, one->count - caller);
	number(one, image);
	number(one, offset);
	return one->count;
}

uint32_t tables_spot(struct tables *tables, uint32_t task, uint32_t stack)
{
	struct one *one = begin(tables, CONTEXTS);

	number(one, task);
	number(one, stack);
	return one->count;
}

uint32_t tables_text(struct tables *tables, const char *value)
{
	struct one *one = begin(tables, SYMBOLS);

	number(one, WIRE_SYMBOLS_TEXT);
	text(one, value);
	return ++tables->texts;
}

void tables_place(struct tables *tables, uint32_t image, uint64_t offset, uint64_t start, uint64_t size,
		  uint32_t inlined, uint32_t inlined_line, uint32_t name, uint32_t file, uint32_t line)
{
	struct one *one = begin(tables, SYMBOLS);

	number(one, WIRE_SYMBOLS_LOCATION);
	number(one, image);
	number(one, offset);
	number(one, start);
	number(one, size);
	number(one, inlined ? 2 : 1);
	if (inlined) {
		number(one, inlined);
		number(one, file);
		number(one, inlined_line);
	}
	number(one, name);
	number(one, file);
	number(one, line);
}

void tables_function(struct tables *tables, uint32_t image, uint64_t start, uint64_t size, uint32_t name)
{
	struct one *one = begin(tables, SYMBOLS);

	number(one, WIRE_SYMBOLS_FUNCTION);
	number(one, image);
	number(one, start);
	number(one, size);
	number(one, name);
}

void tables_state(struct tables *tables, uint32_t image, unsigned state, const char *hint)
{
	struct one *one = begin(tables, SYMBOLS);

	number(one, WIRE_SYMBOLS_IMAGE);
	number(one, image);
	number(one, state);
	text(one, hint);
}

void tables_finish(struct tables *tables, const char *profile)
{
	FILE *file = create(tables, "profile");

	must(fputs(profile, file) >= 0 && !fclose(file));
	for (unsigned n = 0; n < TABLES; n++) {
		flush(&tables->one[n], n == CONTEXTS);
		must(!fclose(tables->one[n].file));
	}
	free(tables);
}
