/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of a profile as bytes (docs/format.md, "Samples"): what `burin symbols` reads and writes. */
#ifndef BURIN_CMD_TABLES_H
#define BURIN_CMD_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/profile.h"

/* What is left of an entry. Numbers that are not there are 0, texts empty, and `wrong` is set. */
struct table_entry {
	const unsigned char *at, *end;
	bool wrong;
};

uint64_t table_number(struct table_entry *entry);
/* A text within the table: `bytes` long, without a NUL. */
const unsigned char *table_text(struct table_entry *entry, size_t *bytes);

/*
 * table_read - read a table.
 * @take: called for each entry in order; takes the whole of it. Return: 0, or a negative errno, which ends all.
 * Return: 0; -EBADMSG: it is damaged; a negative errno.
 */
int table_read(const char *path, uint32_t magic, int (*take)(void *data, struct table_entry *entry),
	       void *data);

/* A table that is being written, under another name until it is done. */
struct table_writer {
	FILE *out;
	char path[4096], draft[4096];
	unsigned char *block, *packed;
	size_t filled;
	uint32_t entries;
};

int table_create(struct table_writer *writer, const char *path, uint32_t magic);
int table_add(struct table_writer *writer, const void *entry, size_t bytes);
/* table_finish - in its place by rename, or, if not @keep, gone. Return: 0 or a negative errno. */
int table_finish(struct table_writer *writer, bool keep);

#endif
