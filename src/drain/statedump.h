/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tasks of a session, as the names ring announces them: the last announcement of each thread and process, and earlier
 * ones that records to come may refer to.
 *
 * A statedump is all of them in packets: the names that a chunk begins with, since readers must not need the chunks before it.
 * A thread that has ended is removed only after another whole chunk, since its records may still lie in a ring.
 */
#ifndef BURIN_DRAIN_STATEDUMP_H
#define BURIN_DRAIN_STATEDUMP_H

#include "base/containers/hash_table.h"
#include "drain/validate.h"
#include "writer/trace_output.h"

struct statedump {
	struct statedump_name *names; /* one for each thread, and for each process */
	uint32_t name_count;
	size_t room;
	struct hash_table numbers; /* of the names, from 1 */
	uint32_t count;		   /* of announcements */
};

/* The announcements as packets. */
struct statedump_packets {
	char *memory;		  /* `packets` packets, without their headers */
	struct validated *pieces; /* the records of each */
	uint32_t packets;
	uint32_t records;
};

/*
 * statedump_add - add the names of a validated packet.
 * @from: no record to come is earlier
 * Return: 0 or -ENOMEM.
 */
int statedump_add(struct statedump *dump, const char *packet, const struct validated *validated,
		  uint64_t from);

/* statedump_process_of - the process of a thread, by its last announcement; 0: unknown. */
uint32_t statedump_process_of(const struct statedump *dump, uint32_t tid);

/* statedump_write - put all announcements into packets, in order of time. @from: as above. Return: 0 or -ENOMEM. */
int statedump_write(struct statedump *dump, uint32_t packet_bytes, uint64_t from,
		    struct statedump_packets *out);

/*
 * statedump_put - add the packets to a trace.
 * @names: its stream of names; @sequence: of the first packet; @ledger: of the ring, before them
 */
void statedump_put(struct output *output, unsigned names, const struct statedump_packets *packets,
		   uint64_t sequence, struct wire_ledger ledger);

void statedump_packets_free(struct statedump_packets *packets);

void statedump_free(struct statedump *dump);

#endif
