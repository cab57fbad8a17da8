/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The reference for a ring: a plain queue of the records that must come out of it, and a model of where in
 * the ring the next record goes. Nothing here is shared with the ring's own code but the structs of the wire
 * format.
 */
#ifndef BURIN_TESTS_RING_QUEUE_H
#define BURIN_TESTS_RING_QUEUE_H

#include "harness.h"
#include "ring/copy.h"
#include "ring/ring.h"

enum {
	QUEUE_STALE_ID = 4242, /* of the records that fill the slots before anything is written */
};

/* A record as it must be read. Its payload follows from `seed`. */
struct expected {
	uint64_t time;
	uint64_t seed;
	uint32_t length; /* of the compact form */
	uint32_t tid;
	uint16_t id;
	bool extended;
};

struct queue {
	struct ring ring;   /* the writer's view */
	struct ring reader; /* the reader's; the same, unless a canary makes it another */
	struct ring_cursor cursor;
	struct wire_ring control;
	struct wire_packet header;
	char *slots;
	char *copy; /* a packet */

	/* the queue */
	struct expected *records;
	uint64_t room, written, read; /* all time */
	uint64_t discarded, overwritten;

	/* the model */
	uint64_t position;   /* in words, not wrapped */
	uint32_t size;	     /* slots in use */
	uint32_t backed;     /* slots that are known to have memory */
	uint64_t *holds;     /* of each slot: the sequence + 1 of the packet there, 0 if there is none */
	uint64_t lap;	     /* sequence of the first packet of this lap ... */
	uint64_t lap_before; /* ... and of the one before */
	uint64_t sequence;   /* of the open packet */
	uint64_t base_time, time_end, steps;
	uint64_t in_packet;
	uint64_t consumed;
	bool begun;

	/* the reader */
	uint64_t read_time;	 /* of the last record read */
	uint64_t read_in_packet; /* records of the packet at the cursor */

	char why[200]; /* what is wrong; empty: nothing */
};

struct queue_shape {
	uint32_t packet_bytes;
	uint32_t packets; /* the window's; all are in use at first */
	bool overwrite;
	bool locked;
	bool near_wrap; /* the tail begins just before it wraps */
	uint32_t cpu;
};

void queue_init(struct queue *queue, const struct queue_shape *shape, uint64_t seed);
void queue_free(struct queue *queue);

/* queue_prepare - a record with that payload in an 8-aligned buffer of QUEUE_BUFFER bytes. */
struct ring_record queue_prepare(void *buffer, const struct expected *expected);

enum {
	QUEUE_BUFFER = WIRE_LENGTH_MAX + 64,
};

/*
 * queue_wrote - an append has come back.
 * @clock: what the clock said, or 0 if it was the real one, between @before and @after
 * Compares the result and the tail with the model, and remembers the record.
 */
void queue_wrote(struct queue *queue, struct expected expected, enum ring_result result, bool no_memory,
		 uint64_t clock, uint64_t before, uint64_t after);

/*
 * queue_resize - another number of slots from now on, as anybody may store it: out of bounds, too.
 * queue_turned - ring_switch_packet() has come back; otherwise as queue_wrote().
 * queue_punch - give the memory of unused slots back, if that may be done now.
 */
void queue_resize(struct queue *queue, uint32_t slots);
void queue_turned(struct queue *queue, enum ring_result result, bool no_memory, uint64_t clock);
void queue_punch(struct queue *queue);

/* queue_read - let the reader take one piece, and compare. Return: whether there was one. */
bool queue_read(struct queue *queue);

/* queue_finish - read to the end; written = read + overwritten, nothing left. */
void queue_finish(struct queue *queue);

#endif
