/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of samples; see interned.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/leb128.h"
#include "drain/interned.h"
#include "drain/write.h"

enum {
	INTERNED_BLOCK = 1 << 21,   /* bytes from which on a block is written without being asked for */
	INTERNED_COMPRESS_MIN = 64, /* fewer are stored as they are */
	INTERNED_LARGE = 1 << 16,   /* bytes that are worth more time */
	INTERNED_WHOLE =
		1 << 18, /* that are not put together again, so that each chunk pays for what is new in it */
	INTERNED_LEVEL = 3,
	INTERNED_LEVEL_LARGE = 6,
	INTERNED_PAGE = 4096, /* of a file: what takes no more is as small as it gets */
};

/* What is in the file only in part does not count. */
static int append(struct interned *table, const void *data, size_t bytes)
{
	const int error = write_fully(table->fd, data, bytes, table->at);

	if (!error)
		table->at += bytes;
	return error;
}

int interned_begin(struct interned *table, int directory, const char *name, uint32_t magic)
{
	const struct wire_table header = { .magic = magic, .version = WIRE_TABLE_VERSION };

	*table = (struct interned){ .fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
						 0666) };
	table->error = table->fd < 0 ? -errno : append(table, &header, sizeof(header));
	return table->error;
}

/* Room for so many bytes more. */
static unsigned char *reserve(struct interned *table, size_t bytes)
{
	if (table->error)
		return NULL;
	if (table->room - table->bytes < bytes) {
		size_t room = 2 * (table->bytes + bytes) + 4096;
		unsigned char *block = realloc(table->block, room);

		if (!block) {
			table->error = -ENOMEM;
			return NULL;
		}
		table->block = block;
		table->room = room;
	}
	return table->block + table->bytes;
}

void interned_number(struct interned *table, uint64_t value)
{
	unsigned char *at = reserve(table, LEB128_MAX);

	if (at)
		table->bytes = (size_t)(leb128_put(at, value) - table->block);
}

void interned_text(struct interned *table, const void *text, size_t bytes)
{
	unsigned char *at;

	if (bytes > WIRE_TEXT_MAX)
		bytes = WIRE_TEXT_MAX;
	interned_number(table, bytes);
	at = reserve(table, bytes);
	if (!at || !bytes)
		return;
	memcpy(at, text, bytes);
	table->bytes += bytes;
}

uint32_t interned_end(struct interned *table)
{
	if (table->error || table->count == UINT32_MAX) {
		table->bytes = table->sound;
		return 0;
	}
	table->sound = table->bytes;
	table->entries++;
	table->count++;
	if (table->bytes >= INTERNED_BLOCK)
		interned_flush(table);
	return table->error ? 0 : table->count;
}

uint32_t interned_entry(struct interned *table, const void *entry, size_t bytes)
{
	unsigned char *at = reserve(table, bytes);

	if (at) {
		memcpy(at, entry, bytes);
		table->bytes += bytes;
	}
	return interned_end(table);
}

/* A column of the block, as wire/profile.h says. Return: behind its last byte; NULL: the entries are none. */
static unsigned char *put_column(const struct interned *table, uint32_t column, unsigned char *out)
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

/* Put the block's numbers in columns. What was read from a file may be anything. Return: 0, -ENOMEM or -EBADMSG. */
static int turn_block(struct interned *table)
{
	const size_t room = (size_t)table->entries * table->columns * LEB128_MAX;
	unsigned char *turned = malloc(room), *end = turned;

	if (!turned)
		return -ENOMEM;
	for (uint32_t column = 0; end && column < table->columns; column++)
		end = put_column(table, column, end);
	if (!end || end - turned > WIRE_BLOCK_MAX) {
		free(turned);
		return -EBADMSG;
	}
	free(table->block);
	table->block = turned;
	table->room = room;
	table->bytes = (size_t)(end - turned);
	return 0;
}

/* Header and entries, compressed if that helps. In one write, so that few kills find half a block. */
static int write_block(struct interned *table)
{
	const int level = table->bytes >= INTERNED_LARGE ? INTERNED_LEVEL_LARGE : INTERNED_LEVEL;
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
	if (table->bytes >= INTERNED_COMPRESS_MIN)
		packed = ZSTD_compressCCtx(table->zstd, out + sizeof(block), bound, table->block,
					   table->bytes, level);
	if (packed && !ZSTD_isError(packed) && packed < table->bytes)
		block.stored = (uint32_t)packed;
	else
		memcpy(out + sizeof(block), table->block, table->bytes);
	memcpy(out, &block, sizeof(block));
	error = append(table, out, sizeof(block) + block.stored);
	free(out);
	return error;
}

int interned_flush(struct interned *table)
{
	if (table->error || table->entries == 0)
		return table->error;
	if (table->columns)
		table->error = turn_block(table);
	if (!table->error)
		table->error = write_block(table);
	table->bytes = table->sound = 0;
	table->entries = 0;
	return table->error;
}

/* Take over a block as it is, if it is large already, or else its entries. */
static int take_block(struct interned *packed, const struct wire_block *block, const unsigned char *stored,
		      ZSTD_DCtx *context)
{
	unsigned char *at;
	int error;

	if (block->columns || block->bytes >= INTERNED_WHOLE) {
		error = interned_flush(packed);
		if (!error)
			error = append(packed, block, sizeof(*block));
		return error ? error : append(packed, stored, block->stored);
	}
	at = reserve(packed, block->bytes);
	if (!at)
		return packed->error;
	if (block->stored == block->bytes)
		memcpy(at, stored, block->bytes);
	else if (ZSTD_decompressDCtx(context, at, block->bytes, stored, block->stored) != block->bytes)
		return -EBADMSG;
	packed->bytes += block->bytes;
	packed->entries += block->entries;
	return packed->bytes >= INTERNED_BLOCK ? interned_flush(packed) : 0;
}

static int take_blocks(struct interned *packed, const struct interned *table)
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
			error = take_block(packed, &block, stored, context);
	}
	free(stored);
	ZSTD_freeDCtx(context);
	return error ? error : interned_flush(packed);
}

void interned_finish(struct interned *table, int directory, const char *name, uint32_t columns)
{
	static const char draft[] = ".burin/draft";
	struct wire_table header;
	struct interned packed;
	int error = interned_flush(table), fd;

	if (error || table->at <= INTERNED_PAGE ||
	    pread(table->fd, &header, sizeof(header), 0) != sizeof(header))
		return;
	unlinkat(directory, draft, 0); /* of one that was killed */
	error = interned_begin(&packed, directory, draft, header.magic);
	packed.columns = columns;
	if (!error)
		error = take_blocks(&packed, table);
	if (!error && renameat(directory, draft, directory, name) == 0) {
		fd = table->fd;
		table->fd = packed.fd;
		table->at = packed.at;
		packed.fd = fd;
	} else {
		unlinkat(directory, draft, 0);
	}
	interned_close(&packed);
}

/* Everything that is in another file. */
static int copy_from(struct interned *table, int from, uint64_t end)
{
	char part[64 << 10];
	int error = 0;

	while (!error && table->at < end) {
		const size_t wanted =
			end - table->at < sizeof(part) ? (size_t)(end - table->at) : sizeof(part);
		const ssize_t got = pread(from, part, wanted, (off_t)table->at);

		error = got > 0 ? append(table, part, (size_t)got) : got < 0 ? -errno : -EIO;
	}
	return error;
}

int interned_next(struct interned *table, int directory, const char *name)
{
	const int before = table->fd;
	uint64_t end;

	if (interned_flush(table))
		return table->error;
	end = table->at;
	table->fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	table->at = 0;
	table->error = table->fd < 0 ? -errno : copy_from(table, before, end);
	close(before);
	return table->error;
}

void interned_close(struct interned *table)
{
	if (table->fd >= 0)
		close(table->fd);
	free(table->block);
	ZSTD_freeCCtx(table->zstd);
	*table = (struct interned){ .fd = -1 };
}
