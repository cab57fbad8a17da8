/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A strict reader of stream files, made from docs/format.md alone. It trusts no field, repairs nothing, and returns the
 * first fault.
 */
#ifndef BURIN_TESTS_DRAIN_WALK_H
#define BURIN_TESTS_DRAIN_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire_packet.h"
#include "wire/wire_record.h"

struct walk_record {
	uint64_t time;
	uint32_t id;
	uint32_t tid;
	const char *payload;
	uint32_t bytes;
};

struct walk {
	const char *directory;
	const char *stream; /* name of its first file */
	/* Called for every packet and every record. Return: NULL, or the fault. */
	const char *(*packet)(struct walk *walk, const struct wire_packet *packet);
	const char *(*record)(struct walk *walk, const struct walk_record *record);
	void *data;
	/* filled in */
	uint64_t records, packets, files, bytes;
	struct wire_packet last;
	char why[300];
};

/* walk_stream - read a stream. Return: NULL, also if there is no such stream, or the fault. */
const char *walk_stream(struct walk *walk);

#endif
