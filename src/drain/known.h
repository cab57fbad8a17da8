/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names that are known: of each thread and each process its last announcement, and those before it that records
 * to come may be as old as. A chunk says again at its beginning what those before it have said, since it must be
 * read without them.
 *
 * A thread that has ended is forgotten, but not before a whole chunk has gone by: its records may still lie in
 * a ring.
 */
#ifndef BURIN_DRAIN_KNOWN_H
#define BURIN_DRAIN_KNOWN_H

#include "drain/sift.h"

struct known {
	void *tree;	/* tsearch(3) */
	uint32_t count; /* of announcements */
};

/* Packets made of them. */
struct restated {
	char *memory;	       /* `packets` of so many bytes each, their headers to be filled in */
	struct sifted *pieces; /* what is in each */
	uint32_t packets;
	uint32_t records;
};

/*
 * known_take - remember names out of a packet that was sifted.
 * @time: as for sift()
 * @from: no record to come is earlier
 * Return: 0 or -ENOMEM.
 */
int known_take(struct known *known, const char *packet, const struct sifted *sifted, uint64_t time,
	       uint64_t from);

/* known_restate - pack them all, in order of time. @from: as above. Return: 0 or -ENOMEM. */
int known_restate(struct known *known, uint32_t packet_bytes, uint64_t from, struct restated *out);

void restated_free(struct restated *restated);

void known_free(struct known *known);

#endif
