/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of samples; see table_writer.h. wire/wire_profile.h has the format.
 *
 * An entry is in one of three places: open (behind ->sound, while its fields are added), complete in the
 * block in memory (->entries), or in the file. table_writer_end() makes an open one complete; an error before
 * that drops it, so a block has whole entries only. table_writer_flush() writes the block, after those of the
 * tables that it refers to.
 *
 * The file grows at ->at only, which a partial write does not move: a reader finds whole blocks, and at most
 * the begin of one more.
 *
 * Numbers of a block that has only numbers are stored by columns at the end (table_writer_finish()):
 * neighbours in a column are alike. Small blocks are merged for that; both together halve the size. Blocks of
 * TABLE_WRITER_WHOLE and more are copied as they are, so in a next chunk, which begins with a copy of the
 * file (table_writer_next()), only new entries cost work.
 *
 * The first error stays, and all later calls do nothing. Then the caller writes no records that would refer
 * to missing entries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "writer/table_writer.h"
#include "file/create.h"
#include "file/write.h"

enum {
	TABLE_WRITER_BLOCK = 1 << 21,	/* a block of this size is written without a flush */
	TABLE_WRITER_COMPRESS_MIN = 64, /* smaller blocks are stored uncompressed */
	TABLE_WRITER_LARGE = 1 << 16,	/* blocks from this size on use the higher level */
	TABLE_WRITER_WHOLE =
		1 << 18, /* larger blocks are not merged, so a chunk's end costs only what is new */
	TABLE_WRITER_LEVEL = 3,
	TABLE_WRITER_LEVEL_LARGE = 6,
	TABLE_WRITER_PAGE = 4096, /* a file of one page cannot become smaller */
};

/* A partial write does not count. */
static int table_writer_append(struct table_writer *table, const void *data, size_t bytes)
{
	const int error = write_fully(table->fd, data, bytes, table->at);

	if (!error)
		table->at += bytes;
	return error;
}

static int begin_draft(struct table_writer *table, int directory, uint32_t magic)
{
	const struct wire_table header = { .magic = magic, .version = WIRE_TABLE_VERSION };

	*table = (struct table_writer){ .fd = create_draft(directory) };
	table->error = table->fd < 0 ? table->fd : table_writer_append(table, &header, sizeof(header));
	return table->error;
}

/* The file appears with its header, so that a killed recorder leaves no unreadable table. */
int table_writer_begin(struct table_writer *table, int directory, const char *name, uint32_t magic)
{
	if (begin_draft(table, directory, magic) == 0)
		table->error = create_rename(directory, CREATE_DRAFT, name);
	if (table->error && table->fd >= 0)
		create_remove(directory, CREATE_DRAFT);
	return table->error;
}

void table_writer_without(struct table_writer *table)
{
	*table = (struct table_writer){ .fd = -1 };
}

/* Make room for @bytes more. Return: where they go; NULL: ->error. */
static unsigned char *table_writer_reserve(struct table_writer *table, size_t bytes)
{
	if (table->error)
		return NULL;
	if (!array_reserve(table->block, table->room, table->bytes + bytes)) {
		table->error = -ENOMEM;
		return NULL;
	}
	return table->block + table->bytes;
}

void table_writer_number(struct table_writer *table, uint64_t value)
{
	unsigned char *at = table_writer_reserve(table, LEB128_MAX);

	if (at)
		table->bytes = (size_t)(leb128_put(at, value) - table->block);
}

void table_writer_text(struct table_writer *table, const void *text, size_t bytes)
{
	unsigned char *at;

	if (bytes > WIRE_TEXT_MAX)
		bytes = WIRE_TEXT_MAX;
	table_writer_number(table, bytes);
	at = table_writer_reserve(table, bytes);
	if (!at || !bytes)
		return;
	memcpy(at, text, bytes);
	table->bytes += bytes;
}

uint32_t table_writer_end(struct table_writer *table)
{
	if (table->error || table->count == UINT32_MAX) {
		table->bytes = table->sound;
		return 0;
	}
	table->sound = table->bytes;
	table->entries++;
	table->count++;
	if (table->bytes >= TABLE_WRITER_BLOCK)
		table_writer_flush(table);
	return table->error ? 0 : table->count;
}

uint32_t table_writer_entry(struct table_writer *table, const void *entry, size_t bytes)
{
	unsigned char *at = table_writer_reserve(table, bytes);

	if (at) {
		memcpy(at, entry, bytes);
		table->bytes += bytes;
	}
	return table_writer_end(table);
}

/* Write a column of the block (wire/wire_profile.h). Return: the end of the column; NULL: the entries are invalid. */
static unsigned char *put_column(const struct table_writer *table, uint32_t column, unsigned char *out)
{
	const unsigned char *at = table->block, *end = at + table->bytes;
	uint64_t highest = 0, value;

	for (uint64_t n = 0; n < (uint64_t)table->entries * table->columns; n++) {
		at = leb128_get(at, end, &value);
		if (!at)
			return NULL;
		if (n % table->columns != column)
			continue;
		out = leb128_put(out, leb128_fold(highest - value));
		if (value > highest)
			highest = value;
	}
	return at == end ? out : NULL;
}

/* Put the block's numbers in columns. They may be read from a file and invalid. Return: 0, -ENOMEM or -EBADMSG. */
static int transpose_block(struct table_writer *table)
{
	const size_t room = (size_t)table->entries * table->columns * LEB128_MAX;
	unsigned char *transposed = malloc(room), *end = transposed;

	if (!transposed)
		return -ENOMEM;
	for (uint32_t column = 0; end && column < table->columns; column++)
		end = put_column(table, column, end);
	if (!end || end - transposed > WIRE_BLOCK_MAX) {
		free(transposed);
		return -EBADMSG;
	}
	free(table->block);
	table->block = transposed;
	table->room = room;
	table->bytes = (size_t)(end - transposed);
	return 0;
}

/* Write header and entries, compressed if that helps. One write, so that a kill seldom leaves half a block. */
static int write_block(struct table_writer *table)
{
	const int level = table->bytes >= TABLE_WRITER_LARGE ? TABLE_WRITER_LEVEL_LARGE : TABLE_WRITER_LEVEL;
	const size_t bound = ZSTD_compressBound(table->bytes);
	struct wire_block block = { .bytes = (uint32_t)table->bytes,
				    .stored = (uint32_t)table->bytes,
				    .entries = table->entries,
				    .columns = table->columns };
	char *out = malloc(sizeof(block) + bound);
	size_t packed = 0;
	int error;

	if (!table->zstd)
		table->zstd = ZSTD_createCCtx();
	if (!out || !table->zstd) {
		free(out);
		return -ENOMEM;
	}
	if (table->bytes >= TABLE_WRITER_COMPRESS_MIN)
		packed = ZSTD_compressCCtx(table->zstd, out + sizeof(block), bound, table->block,
					   table->bytes, level);
	if (packed && !ZSTD_isError(packed) && packed < table->bytes)
		block.stored = (uint32_t)packed;
	else
		memcpy(out + sizeof(block), table->block, table->bytes);
	memcpy(out, &block, sizeof(block));
	error = table_writer_append(table, out, sizeof(block) + block.stored);
	free(out);
	return error;
}

int table_writer_flush(struct table_writer *table)
{
	if (table->error || table->entries == 0)
		return table->error;
	if (table->fd < 0) { /* table_writer_without() */
		table->bytes = table->sound = 0;
		table->entries = 0;
		return 0;
	}
	/* These before this one, whenever it is written: a reader never finds a number without its entry. */
	for (unsigned n = 0; n < 2 && table->refers[n] && !table->error; n++)
		table->error = table_writer_flush(table->refers[n]);
	if (!table->error && table->columns)
		table->error = transpose_block(table);
	if (!table->error)
		table->error = write_block(table);
	table->bytes = table->sound = 0;
	table->entries = 0;
	return table->error;
}

/* Copy a large block as it is; merge the entries of a small one. */
static int table_writer_take_block(struct table_writer *packed, const struct wire_block *block,
				   const unsigned char *stored, ZSTD_DCtx *context)
{
	unsigned char *at;
	int error;

	if (block->columns || block->bytes >= TABLE_WRITER_WHOLE) {
		error = table_writer_flush(packed);
		if (!error)
			error = table_writer_append(packed, block, sizeof(*block));
		return error ? error : table_writer_append(packed, stored, block->stored);
	}
	at = table_writer_reserve(packed, block->bytes);
	if (!at)
		return packed->error;
	if (block->stored == block->bytes)
		memcpy(at, stored, block->bytes);
	else if (ZSTD_decompressDCtx(context, at, block->bytes, stored, block->stored) != block->bytes)
		return -EBADMSG;
	packed->bytes += block->bytes;
	packed->entries += block->entries;
	return packed->bytes >= TABLE_WRITER_BLOCK ? table_writer_flush(packed) : 0;
}

static int take_blocks(struct table_writer *packed, const struct table_writer *table)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	unsigned char *stored = NULL;
	struct wire_block block;
	int error = context ? 0 : -ENOMEM;

	for (uint64_t at = sizeof(struct wire_table); !error && at < table->at; at += block.stored) {
		if (pread(table->fd, &block, sizeof(block), (off_t)at) != sizeof(block) ||
		    block.bytes > WIRE_BLOCK_MAX || block.stored > block.bytes)
			error = -EBADMSG;
		at += sizeof(block);
		free(stored);
		stored = error ? NULL : malloc(block.stored + (size_t)1);
		if (!error && !stored)
			error = -ENOMEM;
		if (!error && pread(table->fd, stored, block.stored, (off_t)at) != (ssize_t)block.stored)
			error = -EBADMSG;
		if (!error)
			error = table_writer_take_block(packed, &block, stored, context);
	}
	free(stored);
	ZSTD_freeDCtx(context);
	return error ? error : table_writer_flush(packed);
}

void table_writer_finish(struct table_writer *table, int directory, const char *name, uint32_t columns)
{
	struct wire_table header;
	struct table_writer packed;
	int error = table_writer_flush(table), fd;

	/* If anything fails from here on, the old file stays: it is complete, only larger. */
	if (error || table->at <= TABLE_WRITER_PAGE ||
	    pread(table->fd, &header, sizeof(header), 0) != sizeof(header))
		return;
	error = begin_draft(&packed, directory, header.magic);
	packed.columns = columns;
	if (!error)
		error = take_blocks(&packed, table);
	if (!error && create_rename(directory, CREATE_DRAFT, name) == 0) {
		fd = table->fd;
		table->fd = packed.fd;
		table->at = packed.at;
		packed.fd = fd;
	} else {
		create_remove(directory, CREATE_DRAFT);
	}
	table_writer_close(&packed);
}

/* Copy another file, up to @end. */
static int copy_from(struct table_writer *table, int from, uint64_t end)
{
	char part[64 << 10];
	int error = 0;

	while (!error && table->at < end) {
		const size_t wanted =
			end - table->at < sizeof(part) ? (size_t)(end - table->at) : sizeof(part);
		const ssize_t got = pread(from, part, wanted, (off_t)table->at);

		error = got > 0 ? table_writer_append(table, part, (size_t)got) : got < 0 ? -errno : -EIO;
	}
	return error;
}

int table_writer_next(struct table_writer *table, int directory, const char *name)
{
	const int before = table->fd;
	uint64_t end;

	if (table_writer_flush(table))
		return table->error;
	end = table->at;
	table->fd = create_file(directory, name);
	table->at = 0;
	table->error = table->fd < 0 ? table->fd : copy_from(table, before, end);
	close(before);
	return table->error;
}

void table_writer_close(struct table_writer *table)
{
	if (table->fd >= 0)
		close(table->fd);
	free(table->block);
	ZSTD_freeCCtx(table->zstd);
	*table = (struct table_writer){ .fd = -1 };
}
