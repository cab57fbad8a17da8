/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The table of symbols; see symbols_writer.h.
 *
 * Entries of one kind compress well together: locations next to texts do not. So texts go to the table at
 * once, and the other kinds wait in memory until HELD_MAX bytes of one have come. A flush writes texts first,
 * since all others refer to them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "writer/symbols_writer.h"

enum {
	HELD_MAX = 4 << 20, /* bytes of one kind; then all are written */
};

int symbols_writer_begin(struct symbols_writer *symbols, int directory, const char *name)
{
	*symbols = (struct symbols_writer){ .table = { .fd = -1 } };
	return table_writer_begin(&symbols->table, directory, name, WIRE_TABLE_SYMBOLS);
}

static int symbols_writer_hold(struct symbols_entries *held, const void *entry, uint32_t bytes)
{
	if (!array_reserve(held->bytes, held->room, held->count + sizeof(bytes) + bytes))
		return -ENOMEM;
	memcpy(held->bytes + held->count, &bytes, sizeof(bytes));
	memcpy(held->bytes + held->count + sizeof(bytes), entry, bytes);
	held->count += sizeof(bytes) + bytes;
	return 0;
}

int symbols_writer_entry(struct symbols_writer *symbols, const void *entry, size_t bytes)
{
	const unsigned kind = *(const unsigned char *)entry;
	struct symbols_entries *held =
		&symbols->held[kind == WIRE_SYMBOLS_FUNCTION ? SYMBOLS_HELD_FUNCTIONS : SYMBOLS_HELD_OTHERS];
	int error = 0;

	if (kind == WIRE_SYMBOLS_TEXT)
		return table_writer_entry(&symbols->table, entry, bytes) ? 0 : symbols->table.error;
	if (held->count >= HELD_MAX)
		error = symbols_writer_flush(symbols);
	return error ? error : symbols_writer_hold(held, entry, (uint32_t)bytes);
}

static int symbols_writer_release(struct table_writer *table, struct symbols_entries *held)
{
	int error = 0;

	for (size_t at = 0; at < held->count && !error;) {
		uint32_t bytes;

		memcpy(&bytes, held->bytes + at, sizeof(bytes));
		at += sizeof(bytes);
		if (!table_writer_entry(table, held->bytes + at, bytes))
			error = table->error;
		at += bytes;
	}
	held->count = 0;
	return error ? error : table_writer_flush(table);
}

int symbols_writer_flush(struct symbols_writer *symbols)
{
	int error = table_writer_flush(&symbols->table);

	for (unsigned n = 0; n < SYMBOLS_HELD && !error; n++)
		error = symbols_writer_release(&symbols->table, &symbols->held[n]);
	return error;
}

void symbols_writer_close(struct symbols_writer *symbols)
{
	table_writer_close(&symbols->table);
	for (unsigned n = 0; n < SYMBOLS_HELD; n++)
		free(symbols->held[n].bytes);
}
