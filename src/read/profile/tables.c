/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads tables of the profile; see tables.h. wire/wire_profile.h has the format.
 *
 * A table is foreign and compressed, so a small file may claim to be huge. Before each block is unpacked,
 * three limits hold:
 *
 *	next_block()	its header: sizes, and no more entries than its bytes can have
 *	within_stored()	all blocks together are in proportion to the stored trace
 *	within_memory()	all memory fits the trace's limit; looked at again between entries
 *
 * An entry is taken field by field. The first field that is wrong sets ->reason, and all later ones are 0.
 * Then the rest of the block is not read, since where the next entry begins is not known. Rows that were not
 * read stay zero, and later entries keep their numbers: others refer to them.
 *
 * A file that the recorder has not finished may end within a block. That is a fault only to `burin check`,
 * and only if the trace claims to be finished.
 *
 * Chunks have tables of their own. Their rows lie one behind the other, and ->bases has where those of a
 * chunk begin.
 */
#include "read/profile/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "wire/wire_profile.h"

void *read_vector_add(struct read_vector *vector, size_t bytes)
{
	if (!array_reserve_items(&vector->items, &vector->room, vector->count + 1, bytes, SIZE_MAX, false))
		return NULL;
	return memset((char *)vector->items + vector->count++ * bytes, 0, bytes);
}

/* Return: the byte after the number, or NULL. */
static const unsigned char *number_in_column(struct read_entry *entry, uint64_t *value)
{
	const uint32_t column = entry->column;
	const unsigned char *next = leb128_get(entry->in[column].at, entry->end, value);

	/*
	 * As put_column() of table_writer.c, the other way round. A forged number wraps; its bound is
	 * checked.
	 */
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

/* Finds where each column begins: a column has as many numbers as the block has entries. */
static void find_columns(struct read_entry *entry, const struct wire_block *block)
{
	const unsigned char *at = entry->at;

	entry->columns = block->columns;
	for (uint32_t column = 0; column < block->columns; column++) {
		uint32_t left = block->entries;

		entry->in[column].at = at;
		/*
		 * The last byte of a number has no high bit. If the block ends before, reading a number finds
		 * that.
		 */
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

enum {
	MEMORY_LOOK = 256, /* entries between two checks of memory */
};

/* A table that is being loaded. */
struct loading {
	const struct burin_trace *trace;
	const struct read_table *table;
	const char *name; /* of the file */
	void *data;
	int file;
	uint64_t size, at; /* of the file; offset of the current block */
	uint64_t total;	   /* bytes of all blocks, uncompressed */
	unsigned char *stored, *bytes;
	size_t stored_room, bytes_room;
	char *rows;
	size_t row_room;
	uint32_t count, before; /* entries; those of the chunks before */
	bool full;		/* a limit is exceeded, which has been reported */
};

static bool block_fault(const struct loading *loading, const char *reason)
{
	read_fault(loading->trace, BURIN_FAULT_TABLE, loading->name, loading->at, "%s", reason);
	return false;
}

/* Whether all blocks, uncompressed, are in proportion to the stored trace: a small zstd frame can become huge. */
static bool within_stored(struct loading *loading, const struct wire_block *block)
{
	const struct burin_trace *trace = loading->trace;
	const uint64_t stored = trace->stored + loading->at + block->stored;

	if (loading->total + block->bytes <=
	    trace->memory_max / READ_INFLATION_FREE + stored * READ_INFLATION_MAX)
		return true;
	read_fault(trace, BURIN_FAULT_MEMORY, loading->name, loading->at,
		   "the uncompressed blocks are out of proportion to the trace; from here on the file is not "
		   "read; raise the limit with --memory");
	return false;
}

/* Whether all memory in use plus `more` is within the trace's limit. */
static bool within_memory(struct loading *loading, uint64_t more)
{
	const struct burin_trace *trace = loading->trace;

	more += trace->memory + loading->row_room * loading->table->row_bytes +
		loading->table->memory(loading->data);
	if (more <= trace->memory_max)
		return true;
	read_memory_fault(trace, loading->name, loading->at);
	loading->full = true;
	return false;
}

/* Reads the next block's header. Return: whether there is one, complete and plausible. */
static bool next_block(struct loading *loading, struct wire_block *block)
{
	const char *state = burin_trace_recording(loading->trace, "state");
	bool whole = loading->trace->strict && state && !strcmp(state, "finished");
	ssize_t got;

	if (loading->at == loading->size)
		return false;
	if (loading->size - loading->at < sizeof(*block))
		return whole && block_fault(loading, "the file ends within this block");
	got = read_fully(loading->file, block, sizeof(*block), loading->at);
	if (got < 0)
		return block_fault(loading, "cannot read the block");
	if (got != sizeof(*block) || loading->size - loading->at - sizeof(*block) < block->stored)
		return whole && block_fault(loading, "the file ends within this block");
	if (!block->bytes || !block->entries)
		return block_fault(loading, "an empty block, which no recorder writes");
	if (block->bytes > WIRE_BLOCK_MAX || block->stored > block->bytes)
		return block_fault(
			loading,
			"a block of more than 16 MiB, or stored in more bytes than it has uncompressed");
	if (block->entries > block->bytes / loading->table->entry_bytes_min)
		return block_fault(loading, "more entries than fit the block");
	if (block->columns && block->columns != loading->table->columns)
		return block_fault(loading, "columns that this table does not have");
	if (loading->count + (uint64_t)block->entries > UINT32_MAX / 2)
		return block_fault(loading, "the table is too large; from here on it is not read");
	return within_stored(loading, block);
}

/* Reads and uncompresses the entries of a block. Return: 0; -ENOMEM; -EBADMSG, reported. */
static int tables_unpack(struct loading *loading, const struct wire_block *block)
{
	uint64_t offset = loading->at + sizeof(*block);
	bool packed = block->stored < block->bytes;
	unsigned char **into = packed ? &loading->stored : &loading->bytes;

	if (!array_reserve_max(loading->bytes, loading->bytes_room, block->bytes + 1, WIRE_BLOCK_MAX + 1) ||
	    !array_reserve_max(loading->stored, loading->stored_room, block->stored + 1, WIRE_BLOCK_MAX + 1))
		return -ENOMEM;
	if (read_fully(loading->file, *into, block->stored, offset) != (ssize_t)block->stored) {
		block_fault(loading, "cannot read the block");
		return -EBADMSG;
	}
	if (packed &&
	    ZSTD_decompress(loading->bytes, block->bytes, loading->stored, block->stored) != block->bytes) {
		block_fault(loading, "not a zstd frame of the size in the block's header");
		return -EBADMSG;
	}
	return 0;
}

/* Adds zeroed rows for the entries of a block. */
static int tables_add_rows(struct loading *loading, uint32_t entries)
{
	const size_t bytes = loading->table->row_bytes, wanted = loading->count + (size_t)entries,
		     room = loading->row_room;

	if (!bytes ||
	    (wanted > room && !within_memory(loading, (array_larger(room, wanted, bytes) - room) * bytes)))
		return 0;
	if (!array_reserve_items(&loading->rows, &loading->row_room, wanted, bytes, SIZE_MAX, false))
		return -ENOMEM;
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

		if (n % MEMORY_LOOK == 0 && !within_memory(loading, 0))
			return 0;
		entry.number = loading->count + n + 1;
		entry.own = entry.number - loading->before;
		if (table->row_bytes)
			entry.row = loading->rows + (entry.number - 1) * table->row_bytes;
		result = table->take(loading->data, &entry);
		if (result)
			return result;
		if (entry.reason) {
			read_fault(loading->trace, BURIN_FAULT_TABLE, loading->name, loading->at,
				   "entry %" PRIu32 ": %s", entry.number, entry.reason);
			return 0;
		}
	}
	if (entry.at != entry.end && loading->trace->strict)
		block_fault(loading, "the block has bytes after its entries");
	return 0;
}

static int load_blocks(struct loading *loading)
{
	struct wire_block block;
	int result = 0;

	while (!result && !loading->full && next_block(loading, &block)) {
		result = tables_add_rows(loading, block.entries);
		if (result || loading->full)
			break;
		result = tables_unpack(loading, &block);
		if (!result)
			result = take_entries(loading, &block);
		if (result == -EBADMSG)
			result = 0; /* its entries stay unknown, later entries keep their numbers */
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
		block_fault(loading, header.magic == loading->table->magic ? "an unknown version of the table"
									   : "not a table of this kind");
		return 0;
	}
	if (header.reserved && loading->trace->strict)
		block_fault(loading, "the reserved word is not 0");
	loading->at = sizeof(header);
	return load_blocks(loading);
}

int read_table_load(const struct burin_trace *trace, const struct read_table *table, unsigned chunk,
		    void *data, void **rows, uint32_t *count)
{
	char path[READ_FILE_NAME_MAX];
	struct loading loading = { .trace = trace,
				   .table = table,
				   .name = read_chunk_file(trace, chunk, table->file, path),
				   .data = data,
				   .rows = rows ? *rows : NULL,
				   .row_room = rows && *rows ? *count : 0,
				   .count = rows ? *count : 0,
				   .before = rows ? *count : 0 };
	int result = 0;

	loading.file = read_directory_open(trace, loading.name, &loading.size);
	if (loading.file >= 0) {
		const uint64_t hole = read_hole(loading.file, loading.size);

		if (hole < loading.size)
			read_fault(trace, BURIN_FAULT_TABLE, loading.name, hole,
				   "a hole begins here, which no recorder leaves; from here on the file is "
				   "not read");
		loading.size = hole;
		result = load_file(&loading);
		close(loading.file);
	} else if (loading.file != -ENOENT) {
		read_fault_file(trace, BURIN_FAULT_TABLE, loading.name, loading.file);
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

int read_tables_load(const struct burin_trace *trace, const struct read_table *table, void *data, void **rows,
		     uint32_t **bases, uint32_t *count)
{
	uint32_t sum = 0;
	int result = 0;

	*bases = calloc(trace->chunk_count + 1, sizeof(**bases));
	if (!*bases)
		return -ENOMEM;
	for (unsigned chunk = 0; chunk < trace->chunk_count && !result; chunk++) {
		(*bases)[chunk] = sum;
		result = read_table_load(trace, table, chunk, data, rows, &sum);
	}
	(*bases)[trace->chunk_count] = *count = result ? 0 : sum;
	return result;
}

unsigned read_table_newest(const struct burin_trace *trace, const char *file)
{
	for (unsigned chunk = trace->chunk_count; chunk-- > 1;) {
		char path[READ_FILE_NAME_MAX];
		uint64_t size;
		const int descriptor =
			read_directory_open(trace, read_chunk_file(trace, chunk, file, path), &size);

		if (descriptor >= 0)
			close(descriptor);
		if (descriptor >= 0)
			return chunk;
	}
	return 0;
}
