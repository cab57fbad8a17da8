/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables of the profile: blocks, entries, numbers, texts; see tables.h. */
#include "read/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/leb128.h"
#include "wire/profile.h"

void *read_vector_add(struct read_vector *vector, size_t bytes)
{
	if (vector->count == vector->room) {
		size_t room = vector->room ? 2 * vector->room : 64;
		void *items = reallocarray(vector->items, room, bytes);

		if (!items)
			return NULL;
		vector->items = items;
		vector->room = room;
	}
	return memset((char *)vector->items + vector->count++ * bytes, 0, bytes);
}

/* Return: behind the number, or NULL. */
static const unsigned char *number_in_column(struct read_entry *entry, uint64_t *value)
{
	const uint32_t column = entry->column;
	const unsigned char *next = leb128_get(entry->in[column].at, entry->end, value);

	*value = entry->in[column].highest - leb128_unfold(*value);
	if (*value > entry->in[column].highest)
		entry->in[column].highest = *value;
	entry->in[column].at = next;
	entry->column = column + 1 < entry->columns ? column + 1 : 0;
	return next;
}

uint64_t read_entry_number(struct read_entry *entry, uint64_t max, const char *what)
{
	const unsigned char *next;
	uint64_t value;

	if (entry->reason)
		return 0;
	next = entry->columns ? number_in_column(entry, &value) : leb128_get(entry->at, entry->end, &value);
	if (!next)
		entry->reason = "the block ends within it, or a number has more than 64 bits";
	else if (value > max)
		entry->reason = what;
	else
		entry->at = next;
	return entry->reason ? 0 : value;
}

/* Find where each column begins: behind as many numbers as there are entries. The last one leads to the block's end. */
static void find_columns(struct read_entry *entry, const struct wire_block *block)
{
	const unsigned char *at = entry->at;

	entry->columns = block->columns;
	for (uint32_t column = 0; column < block->columns; column++) {
		uint32_t left = block->entries;

		entry->in[column].at = at;
		while (left > 0 && at < entry->end)
			left -= !(*at++ & 0x80);
	}
}

const char *read_entry_text(struct read_entry *entry, bool raw, size_t *bytes)
{
	const char *text;

	*bytes = (size_t)read_entry_number(entry, WIRE_TEXT_MAX, "a text of more than 65535 bytes");
	text = (const char *)entry->at;
	if (*bytes > (size_t)(entry->end - entry->at))
		entry->reason = "the block ends within a text";
	else if (!raw && *bytes && memchr(text, '\0', *bytes))
		entry->reason = "a NUL in a text";
	if (entry->reason)
		*bytes = 0;
	entry->at += *bytes;
	return *bytes ? text : "";
}

/* A table on its way into memory. */
struct loading {
	const struct burin_trace *trace;
	const struct read_table *table;
	void *data;
	int file;
	uint64_t size, at; /* of the file, and the block at hand */
	uint64_t total;	   /* bytes of all blocks, uncompressed */
	unsigned char *stored, *bytes;
	size_t stored_room, bytes_room;
	char *rows;
	size_t row_room;
	uint32_t count;
};

static bool block_fault(const struct loading *loading, const char *reason)
{
	read_fault(loading->trace, BURIN_FAULT_TABLE, loading->table->file, loading->at, "%s", reason);
	return false;
}

static int make_room(unsigned char **bytes, size_t *room, size_t wanted)
{
	unsigned char *grown;

	if (*room >= wanted)
		return 0;
	grown = realloc(*bytes, wanted);
	if (!grown)
		return -ENOMEM;
	*bytes = grown;
	*room = wanted;
	return 0;
}

/* Whether the table goes on with a whole block that can be believed. */
static bool next_block(struct loading *loading, struct wire_block *block)
{
	const char *state = burin_trace_recording(loading->trace, "state");
	bool whole = loading->trace->strict && state && !strcmp(state, "finished");

	if (loading->at == loading->size)
		return false;
	if (loading->size - loading->at < sizeof(*block) ||
	    read_fully(loading->file, block, sizeof(*block), loading->at) != sizeof(*block) ||
	    loading->size - loading->at - sizeof(*block) < block->stored)
		return whole && block_fault(loading, "the file ends within this block");
	if (block->bytes > WIRE_BLOCK_MAX || block->stored > block->bytes)
		return block_fault(
			loading,
			"a block of more than 16 MiB, or one that is stored in more bytes than it has");
	if (block->entries > block->bytes / loading->table->entry_bytes_min)
		return block_fault(loading, "more entries than fit the block");
	if (block->columns && block->columns != loading->table->columns)
		return block_fault(loading, "columns that this table does not have");
	if (loading->total + block->bytes > READ_TABLE_BYTES_MAX ||
	    loading->count + (uint64_t)block->entries > UINT32_MAX / 2)
		return block_fault(loading, "the table is too large; from here on it is not read");
	return true;
}

/* The entries of a block, as they were before they were stored. Return: 0; -ENOMEM; -EBADMSG, reported. */
static int unpack(struct loading *loading, const struct wire_block *block)
{
	uint64_t offset = loading->at + sizeof(*block);
	bool packed = block->stored < block->bytes;
	unsigned char **into = packed ? &loading->stored : &loading->bytes;

	if (make_room(&loading->bytes, &loading->bytes_room, block->bytes + 1) ||
	    make_room(&loading->stored, &loading->stored_room, block->stored + 1))
		return -ENOMEM;
	if (read_fully(loading->file, *into, block->stored, offset) != (ssize_t)block->stored) {
		block_fault(loading, "cannot read the block");
		return -EBADMSG;
	}
	if (packed &&
	    ZSTD_decompress(loading->bytes, block->bytes, loading->stored, block->stored) != block->bytes) {
		block_fault(loading, "not a zstd frame of as many bytes as the block says");
		return -EBADMSG;
	}
	return 0;
}

/* Zeroed rows for the entries of a block. */
static int add_rows(struct loading *loading, uint32_t entries)
{
	size_t bytes = loading->table->row_bytes, wanted = loading->count + (size_t)entries;

	if (bytes && wanted > loading->row_room) {
		size_t room = wanted < 2 * loading->row_room ? 2 * loading->row_room : wanted;
		char *rows = reallocarray(loading->rows, room, bytes);

		if (!rows)
			return -ENOMEM;
		loading->rows = rows;
		loading->row_room = room;
	}
	if (bytes && entries)
		memset(loading->rows + loading->count * bytes, 0, entries * bytes);
	return 0;
}

static int take_entries(struct loading *loading, const struct wire_block *block)
{
	const struct read_table *table = loading->table;
	struct read_entry entry = { .at = loading->bytes, .end = loading->bytes + block->bytes };

	find_columns(&entry, block);
	for (uint32_t n = 0; n < block->entries; n++) {
		int result;

		entry.number = loading->count + n + 1;
		if (table->row_bytes)
			entry.row = loading->rows + (entry.number - 1) * table->row_bytes;
		result = table->take(loading->data, &entry);
		if (result)
			return result;
		if (entry.reason) {
			read_fault(loading->trace, BURIN_FAULT_TABLE, table->file, loading->at,
				   "entry %" PRIu32 ": %s", entry.number, entry.reason);
			return 0;
		}
	}
	if (entry.at != entry.end && loading->trace->strict)
		block_fault(loading, "the block goes on behind its entries");
	return 0;
}

static int load_blocks(struct loading *loading)
{
	struct wire_block block;
	int result = 0;

	while (!result && next_block(loading, &block)) {
		result = add_rows(loading, block.entries);
		if (result)
			break;
		result = unpack(loading, &block);
		if (!result)
			result = take_entries(loading, &block);
		if (result == -EBADMSG)
			result =
				0; /* its entries stay unknown, those of the next blocks keep their numbers */
		loading->count += block.entries;
		loading->total += block.bytes;
		loading->at += sizeof(block) + block.stored;
	}
	return result;
}

static int load_file(struct loading *loading)
{
	struct wire_table header;

	if (read_fully(loading->file, &header, sizeof(header), 0) != sizeof(header)) {
		block_fault(loading, "shorter than its header");
		return 0;
	}
	if (header.magic != loading->table->magic || header.version != WIRE_TABLE_VERSION) {
		block_fault(loading, header.magic == loading->table->magic
					     ? "a version of the table that is not known here"
					     : "not a table of this kind");
		return 0;
	}
	if (header.reserved && loading->trace->strict)
		block_fault(loading, "the reserved word is not 0");
	loading->at = sizeof(header);
	return load_blocks(loading);
}

int read_table_load(const struct burin_trace *trace, const struct read_table *table, void *data, void **rows,
		    uint32_t *count)
{
	struct loading loading = { .trace = trace, .table = table, .data = data };
	int result = 0;

	loading.file = read_directory_open(trace, table->file, &loading.size);
	if (loading.file >= 0) {
		result = load_file(&loading);
		close(loading.file);
	} else if (loading.file != -ENOENT) {
		read_fault_file(trace, BURIN_FAULT_TABLE, table->file, loading.file);
	}
	free(loading.stored);
	free(loading.bytes);
	if (result) {
		free(loading.rows);
		loading.rows = NULL;
	}
	if (rows)
		*rows = loading.rows;
	*count = loading.count;
	return result;
}
