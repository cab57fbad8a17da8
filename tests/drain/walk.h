/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A reader of stream files made after docs/format.md and nothing else: it believes nothing, repairs nothing,
 * and says the first thing that is not as it must be.
 */
#ifndef BURIN_TESTS_DRAIN_WALK_H
#define BURIN_TESTS_DRAIN_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"
#include "wire/record.h"

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
	/* Called for every packet and every record. Return: NULL, or what is wrong. */
	const char *(*packet)(struct walk *walk, const struct wire_packet *packet);
	const char *(*record)(struct walk *walk, const struct walk_record *record);
	void *data;
	/* filled in */
	uint64_t records, packets, files, bytes;
	struct wire_packet last;
	char why[300];
};

/* walk_stream - Return: NULL, also if there is no such stream, or what is wrong. */
const char *walk_stream(struct walk *walk);

#endif
