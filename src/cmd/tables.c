/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables of a profile; see tables.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/leb128.h"
#include "cmd/tables.h"

enum {
	BLOCK_BYTES = 1 << 18,
};

uint64_t table_number(struct table_entry *entry)
{
	uint64_t value = 0;
	const unsigned char *at = entry->wrong ? NULL : leb128_get(entry->at, entry->end, &value);

	if (!at) {
		entry->wrong = true;
		return 0;
	}
	entry->at = at;
	return value;
}

const unsigned char *table_text(struct table_entry *entry, size_t *bytes)
{
	const uint64_t count = table_number(entry);
	const unsigned char *text = entry->at;

	if (count > WIRE_TEXT_MAX || count > (size_t)(entry->end - entry->at))
		entry->wrong = true;
	*bytes = entry->wrong ? 0 : (size_t)count;
	entry->at += *bytes;
	return text;
}

/* Return: 1; 0: there is no further block, or none that is whole; -EBADMSG. */
static int read_block(FILE *in, unsigned char *bytes, unsigned char *stored, struct wire_block *block)
{
	size_t unpacked;

	if (fread(block, sizeof(*block), 1, in) != 1)
		return 0;
	if (block->bytes > WIRE_BLOCK_MAX || block->stored > block->bytes)
		return -EBADMSG;
	if (fread(stored, 1, block->stored, in) != block->stored)
		return 0;
	if (block->stored == block->bytes) {
		memcpy(bytes, stored, block->bytes);
		return 1;
	}
	unpacked = ZSTD_decompress(bytes, WIRE_BLOCK_MAX, stored, block->stored);
	return !ZSTD_isError(unpacked) && unpacked == block->bytes ? 1 : -EBADMSG;
}

static int take_block(const unsigned char *bytes, const struct wire_block *block,
		      int (*take)(void *data, struct table_entry *entry), void *data)
{
	struct table_entry entry = { bytes, bytes + block->bytes, false };
	int error = 0;

	for (uint32_t n = 0; n < block->entries && !error; n++) {
		error = take(data, &entry);
		if (entry.wrong)
			error = -EBADMSG;
	}
	return error || entry.at == entry.end ? error : -EBADMSG;
}

int table_read(const char *path, uint32_t magic, int (*take)(void *data, struct table_entry *entry),
	       void *data)
{
	FILE *in = fopen(path, "re");
	unsigned char *memory = in ? malloc(2 * (size_t)WIRE_BLOCK_MAX) : NULL;
	struct wire_table header;
	struct wire_block block;
	int error = in ? -ENOMEM : -errno;

	if (memory)
		error = fread(&header, sizeof(header), 1, in) == 1 && header.magic == magic &&
					header.version == WIRE_TABLE_VERSION
				? 1
				: -EBADMSG;
	while (error > 0) {
		error = read_block(in, memory, memory + WIRE_BLOCK_MAX, &block);
		if (error > 0)
			error = take_block(memory, &block, take, data) ?: 1;
	}
	free(memory);
	if (in)
		fclose(in);
	return error;
}

int table_create(struct table_writer *writer, const char *path, uint32_t magic)
{
	const struct wire_table header = { .magic = magic, .version = WIRE_TABLE_VERSION };

	*writer = (struct table_writer){ 0 };
	if ((size_t)snprintf(writer->path, sizeof(writer->path), "%s", path) >= sizeof(writer->path) ||
	    (size_t)snprintf(writer->draft, sizeof(writer->draft), "%s.new", path) >= sizeof(writer->draft))
		return -ENAMETOOLONG;
	writer->block = malloc(WIRE_BLOCK_MAX);
	writer->packed = malloc(WIRE_BLOCK_MAX);
	writer->out = writer->block && writer->packed ? fopen(writer->draft, "we") : NULL;
	if (writer->out && fwrite(&header, sizeof(header), 1, writer->out) == 1)
		return 0;
	table_finish(writer, false);
	return -EIO;
}

static int write_block(struct table_writer *writer)
{
	/* One byte less than it has: if it does not get smaller, it stays as it is. */
	const size_t packed = writer->filled > 1 ? ZSTD_compress(writer->packed, writer->filled - 1,
								 writer->block, writer->filled, 3)
						 : 0;
	const bool smaller = packed && !ZSTD_isError(packed);
	const struct wire_block block = { .bytes = (uint32_t)writer->filled,
					  .stored = (uint32_t)(smaller ? packed : writer->filled),
					  .entries = writer->entries };

	if (!writer->filled)
		return 0;
	writer->filled = 0;
	writer->entries = 0;
	return fwrite(&block, sizeof(block), 1, writer->out) == 1 &&
			       fwrite(smaller ? writer->packed : writer->block, block.stored, 1,
				      writer->out) == 1
		       ? 0
		       : -EIO;
}

int table_add(struct table_writer *writer, const void *entry, size_t bytes)
{
	int error = writer->filled + bytes > BLOCK_BYTES ? write_block(writer) : 0;

	if (error || bytes > WIRE_BLOCK_MAX)
		return error ? error : -EINVAL;
	memcpy(writer->block + writer->filled, entry, bytes);
	writer->filled += bytes;
	writer->entries++;
	return 0;
}

int table_finish(struct table_writer *writer, bool keep)
{
	int error = keep ? write_block(writer) : 0;

	if (writer->out && fclose(writer->out) != 0 && keep && !error)
		error = -errno;
	if (keep && !error && rename(writer->draft, writer->path) != 0)
		error = -errno;
	if (writer->out && (!keep || error))
		unlink(writer->draft);
	free(writer->block);
	free(writer->packed);
	*writer = (struct table_writer){ 0 };
	return error;
}
