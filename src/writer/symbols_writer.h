/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writes the table of symbols. Texts, locations and functions come in turns; in the file entries of one kind lie together,
 * which compresses a tenth better. Texts go first, since the other entries refer to them.
 */
#ifndef BURIN_WRITER_SYMBOLS_WRITER_H
#define BURIN_WRITER_SYMBOLS_WRITER_H

#include "writer/table_writer.h"

enum symbols_held {
	SYMBOLS_HELD_FUNCTIONS,
	SYMBOLS_HELD_OTHERS, /* locations and images */
	SYMBOLS_HELD,
};

struct symbols_writer {
	struct table_writer table;
	struct symbols_entries { /* not in the table yet: of each its size (4 bytes), then the entry */
		unsigned char *bytes;
		size_t count, room;
	} held[SYMBOLS_HELD];
};

/* symbols_writer_begin - make the file. @directory: of the trace. Return: 0 or -errno. */
int symbols_writer_begin(struct symbols_writer *symbols, int directory, const char *name);

/* symbols_writer_entry - add an entry (wire/wire_profile.h). Return: 0 or -errno. */
int symbols_writer_entry(struct symbols_writer *symbols, const void *entry, size_t bytes);

/* symbols_writer_flush - write what is held back. Return: 0 or -errno. */
int symbols_writer_flush(struct symbols_writer *symbols);

/* symbols_writer_close - close the file as it is. */
void symbols_writer_close(struct symbols_writer *symbols);

#endif
