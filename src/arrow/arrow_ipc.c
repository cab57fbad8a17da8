/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The IPC format; see arrow_ipc.h. The enums are those of its schemas, Message.fbs, Schema.fbs and File.fbs. */
#include "arrow/arrow_ipc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/flatbuffer.h"
#include "base/containers/array.h"

enum {
	IPC_VERSION_5 = 4,

	IPC_HEADER_SCHEMA = 1,
	IPC_HEADER_BATCH = 3,

	IPC_TYPE_INT = 2,
	IPC_TYPE_FLOAT = 3,
	IPC_TYPE_BINARY = 4,
	IPC_TYPE_UTF8 = 5,
	IPC_DOUBLE = 2,

	IPC_ALIGN = 8,
	IPC_PREFIX = 8, /* bytes of a message before its metadata */
	MAGIC_HEAD = 8,
	MAGIC_TAIL = 6,
	IPC_BLOCK = 24, /* bytes of a batch's position in the footer */
};

/* Tables of flatbuffers: the numbers of their fields. */
enum {
	MESSAGE_HEADER = 2,
	SCHEMA_FIELDS = 1,
	FIELD_NAME = 0,
	FIELD_TYPE = 3,
	FIELD_CHILDREN = 5,
	BATCH_NODES = 1,
	BATCH_BUFFERS = 2,
	FOOTER_SCHEMA = 1,
	FOOTER_DICTIONARIES = 2,
	FOOTER_BATCHES = 3,
};

static const char magic[] =
	"ARROW1\0"; /* at both ends of a file; at the beginning with two bytes of zeros behind it */

/* Where a batch is in a file. */
struct ipc_block {
	uint64_t at, body;
	uint32_t metadata;
};

struct ipc {
	struct ArrowSchema schema;
	int file;
	struct view_buffer prefix, metadata, body;
	struct ipc_block *blocks;
	size_t block_count, block_room;
	uint64_t bytes; /* written */
};

/* ---- The schema */

static int type_of_format(const char *format)
{
	switch (*format) {
	case 'l':
		return IPC_TYPE_INT;
	case 'g':
		return IPC_TYPE_FLOAT;
	case 'u':
		return IPC_TYPE_UTF8;
	default:
		return IPC_TYPE_BINARY;
	}
}

static bool format_has_bytes(const char *format)
{
	return *format == 'u' || *format == 'z';
}

static void put_type(struct view_buffer *out, size_t reference, int type)
{
	const struct flat_field number[] = { FLAT_I32(64), FLAT_U8(true) }, real[] = { FLAT_I16(IPC_DOUBLE) };

	if (type == IPC_TYPE_INT)
		flat_table(out, reference, number, 2);
	else
		flat_table(out, reference, real, type == IPC_TYPE_FLOAT);
}

static void put_field(struct view_buffer *out, size_t reference, const struct ArrowSchema *column)
{
	const int type = type_of_format(column->format);
	const struct flat_field fields[] = {
		FLAT_OFFSET,   FLAT_U8(column->flags & ARROW_FLAG_NULLABLE ? true : false),
		FLAT_U8(type), FLAT_OFFSET,
		FLAT_ABSENT,   FLAT_OFFSET,
	};
	const size_t table = flat_table(out, reference, fields, sizeof(fields) / sizeof(*fields));

	flat_text(out, flat_field(out, table, FIELD_NAME), column->name);
	put_type(out, flat_field(out, table, FIELD_TYPE), type);
	flat_vector(out, flat_field(out, table, FIELD_CHILDREN), 0, 4, 4);
}

static void put_schema(struct view_buffer *out, size_t reference, const struct ArrowSchema *schema)
{
	const struct flat_field fields[] = { FLAT_I16(0), FLAT_OFFSET };
	const size_t table = flat_table(out, reference, fields, 2);
	const size_t list =
		flat_vector(out, flat_field(out, table, SCHEMA_FIELDS), (size_t)schema->n_children, 4, 4);

	for (int64_t n = 0; n < schema->n_children; n++)
		put_field(out, list + 4 * (size_t)n, schema->children[n]);
}

/* ---- Batches */

/* A buffer of a column goes into the body; its place there into the metadata. */
static void put_buffer(struct ipc *ipc, size_t entry, const void *bytes, size_t count)
{
	flat_store(&ipc->metadata, entry, (int64_t)ipc->body.used, 8);
	flat_store(&ipc->metadata, entry + 8, (int64_t)count, 8);
	if (count)
		view_buffer_put(&ipc->body, bytes, count);
	flat_align(&ipc->body, IPC_ALIGN);
}

/* Return: the place behind those of the column's buffers. */
static size_t put_column(struct ipc *ipc, size_t entry, const struct ArrowArray *column, const char *format)
{
	const size_t rows = (size_t)column->length;
	const int32_t *ends = column->buffers[1];

	put_buffer(ipc, entry, column->buffers[0], column->buffers[0] ? (rows + 7) / 8 : 0);
	if (!format_has_bytes(format)) {
		put_buffer(ipc, entry + 16, column->buffers[1], rows * 8);
		return entry + 32;
	}
	put_buffer(ipc, entry + 16, ends, (rows + 1) * sizeof(*ends));
	put_buffer(ipc, entry + 32, column->buffers[2], (size_t)ends[rows]);
	return entry + 48;
}

static size_t count_buffers(const struct ArrowSchema *schema)
{
	size_t count = 0;

	for (int64_t n = 0; n < schema->n_children; n++)
		count += format_has_bytes(schema->children[n]->format) ? 3 : 2;
	return count;
}

static void put_batch(struct ipc *ipc, size_t reference, const struct ArrowArray *batch)
{
	const struct flat_field fields[] = { FLAT_I64(batch->length), FLAT_OFFSET, FLAT_OFFSET };
	struct view_buffer *out = &ipc->metadata;
	const size_t table = flat_table(out, reference, fields, 3);
	const size_t nodes =
		flat_vector(out, flat_field(out, table, BATCH_NODES), (size_t)batch->n_children, 16, 8);
	size_t entry =
		flat_vector(out, flat_field(out, table, BATCH_BUFFERS), count_buffers(&ipc->schema), 16, 8);

	for (int64_t n = 0; n < batch->n_children; n++) {
		const struct ArrowArray *column = batch->children[n];

		flat_store(out, nodes + 16 * (size_t)n, column->length, 8);
		flat_store(out, nodes + 16 * (size_t)n + 8, column->null_count, 8);
		entry = put_column(ipc, entry, column, ipc->schema.children[n]->format);
	}
}

/* ---- Messages */

static int ipc_flush(struct ipc *ipc, struct view_buffer *out)
{
	const size_t bytes = out->used;
	const int error = out->failed ? -ENOMEM : view_buffer_write(out, ipc->file);

	ipc->bytes += error ? 0 : bytes;
	return error;
}

static int ipc_text(struct ipc *ipc, const char *text, size_t bytes)
{
	view_buffer_put(&ipc->prefix, text, bytes);
	return ipc_flush(ipc, &ipc->prefix);
}

static int ipc_number(struct ipc *ipc, int64_t number)
{
	char bytes[4];

	for (unsigned n = 0; n < sizeof(bytes); n++)
		bytes[n] = (char)((uint64_t)number >> 8 * n);
	return ipc_text(ipc, bytes, sizeof(bytes));
}

/*
 * A message: four bytes of ones, the length of the metadata, the metadata, the body. The body has the buffers of @batch; without one the message is
 * that of the schema.
 */
static int ipc_message(struct ipc *ipc, const struct ArrowArray *batch, struct ipc_block *block)
{
	const uint8_t type = batch ? IPC_HEADER_BATCH : IPC_HEADER_SCHEMA;
	const struct flat_field fields[] = { FLAT_I16(IPC_VERSION_5), FLAT_U8(type), FLAT_OFFSET,
					     FLAT_I64(0) };
	struct view_buffer *out = &ipc->metadata;
	size_t table, header;
	int error;

	table = flat_table(out, flat_begin(out), fields, 4);
	header = flat_field(out, table, MESSAGE_HEADER);
	if (batch)
		put_batch(ipc, header, batch);
	else
		put_schema(out, header, &ipc->schema);
	flat_store(out, flat_field(out, table, MESSAGE_HEADER + 1), (int64_t)ipc->body.used, 8);
	flat_align(out, IPC_ALIGN);
	*block = (struct ipc_block){ .at = ipc->bytes,
				     .body = ipc->body.used,
				     .metadata = (uint32_t)out->used + IPC_PREFIX };
	error = ipc_number(ipc, -1);
	if (!error)
		error = ipc_number(ipc, (int64_t)out->used);
	if (!error)
		error = ipc_flush(ipc, out);
	return error ? error : ipc_flush(ipc, &ipc->body);
}

static int ipc_batches(struct ipc *ipc, struct ArrowArrayStream *stream)
{
	struct ArrowArray batch;
	int error;

	while (!(error = -stream->get_next(stream, &batch)) && batch.release) {
		struct ipc_block block;

		error = ipc_message(ipc, &batch, &block);
		batch.release(&batch);
		if (!error && !array_reserve(ipc->blocks, ipc->block_room, ipc->block_count + 1))
			error = -ENOMEM;
		if (error)
			return error;
		ipc->blocks[ipc->block_count++] = block;
	}
	return error;
}

/* ---- Files */

static int ipc_footer(struct ipc *ipc)
{
	const struct flat_field fields[] = { FLAT_I16(IPC_VERSION_5), FLAT_OFFSET, FLAT_OFFSET, FLAT_OFFSET };
	struct view_buffer *out = &ipc->metadata;
	const size_t table = flat_table(out, flat_begin(out), fields, 4);
	size_t entry, bytes;
	int error;

	put_schema(out, flat_field(out, table, FOOTER_SCHEMA), &ipc->schema);
	flat_vector(out, flat_field(out, table, FOOTER_DICTIONARIES), 0, IPC_BLOCK, 8);
	entry = flat_vector(out, flat_field(out, table, FOOTER_BATCHES), ipc->block_count, IPC_BLOCK, 8);
	for (size_t n = 0; n < ipc->block_count; n++, entry += IPC_BLOCK) {
		flat_store(out, entry, (int64_t)ipc->blocks[n].at, 8);
		flat_store(out, entry + 8, ipc->blocks[n].metadata, 4);
		flat_store(out, entry + 16, (int64_t)ipc->blocks[n].body, 8);
	}
	bytes = out->used;
	error = ipc_flush(ipc, out);
	if (!error)
		error = ipc_number(ipc, (int64_t)bytes);
	return error ? error : ipc_text(ipc, magic, MAGIC_TAIL);
}

/* The end of a stream is a message without metadata. */
static int ipc_all(struct ipc *ipc, struct ArrowArrayStream *stream, bool whole)
{
	struct ipc_block block;
	int error = whole ? ipc_text(ipc, magic, MAGIC_HEAD) : 0;

	if (!error)
		error = ipc_message(ipc, NULL, &block);
	if (!error)
		error = ipc_batches(ipc, stream);
	if (!error)
		error = ipc_number(ipc, -1);
	if (!error)
		error = ipc_number(ipc, 0);
	return error || !whole ? error : ipc_footer(ipc);
}

int arrow_ipc_write(struct ArrowArrayStream *stream, int file, bool whole)
{
	struct ipc ipc = { .file = file };
	int error = -stream->get_schema(stream, &ipc.schema);

	if (error)
		return error;
	error = ipc_all(&ipc, stream, whole);
	ipc.schema.release(&ipc.schema);
	view_buffer_free(&ipc.prefix);
	view_buffer_free(&ipc.metadata);
	view_buffer_free(&ipc.body);
	free(ipc.blocks);
	return error;
}
