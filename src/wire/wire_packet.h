/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The packet: a CTF 1.8 packet header and packet context, then records (docs/format.md, "Packet").
 *
 * A ring's slot and a stream file contain the same bytes, with two exceptions. In a ring, `content_bits` is not
 * maintained (records end at the ring's tail), and `packet_bits` is the slot's size; the drain sets both in the file.
 *
 * Time. All compact records of a packet lie in [base_time, base_time + 2^32) ticks, and base_time is never
 * later than the last extended record before them, so the CTF rule (add 2^32 when the low half goes back)
 * always finds the full time. An extended record that begins at byte `base_offset` of the packet moves the
 * base to its own time; the base counts only once the tail has passed that record.
 */
#ifndef BURIN_WIRE_WIRE_PACKET_H
#define BURIN_WIRE_WIRE_PACKET_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_MAGIC = 0xC1FC1FC1,

	WIRE_STREAM_RECORDS = 0, /* CTF stream class of the rings */
	WIRE_STREAM_NAMES = 1,	 /* CTF stream class of the names ring, and of the changes in a trace */

	WIRE_PACKET_MIN = 4096, /* sizes of a packet, bytes; powers of two */
	WIRE_PACKET_MAX = 16 << 20,
};

enum {
	WIRE_KERNEL_INSTANCE =
		1 << 25, /* stream_instance of the kernel's ring n, of CPU n / WIRE_KERNEL_DEPTHS: this + n */
	WIRE_KERNEL_DEPTHS = 2,
	WIRE_KERNEL_PACKET = 64 << 10, /* size of its packets */
};

#define WIRE_CHANGES_INSTANCE \
	UINT64_C(0xfffffffe) /* stream_instance of the changes; of the names: 0xffffffff */

/*
 * The streams of a trace by kind, in the order of a reader's streams. A stream's file has the kind's name
 * (wire_file_keys), then the number of its ring or CPU; of names and changes there is one stream each.
 */
enum wire_file {
	WIRE_FILE_CPU,
	WIRE_FILE_LOCKED,
	WIRE_FILE_SAMPLES,
	WIRE_FILE_KERNEL,
	WIRE_FILE_NAMES,
	WIRE_FILE_CHANGES, /* of names */
	WIRE_FILE_KINDS
};

/* The sequence in a slot that a writer is about to open, or has given up opening: the slot has no packet. */
#define WIRE_SEQUENCE_NONE UINT64_MAX

/* Why a record was lost. Each is a cumulative count of records since the ring was made. */
enum wire_loss {
	WIRE_LOST_FULL,	       /* the reader was too slow (stream mode), or there was no memory */
	WIRE_LOST_BUSY,	       /* every ring was locked by another writer (writers without rseq) */
	WIRE_LOST_SIZE,	       /* larger than a packet or WIRE_LENGTH_MAX can hold */
	WIRE_LOST_OVERWRITTEN, /* overwritten before a reader came (flight mode) */
	WIRE_LOST_CORRUPT,     /* the bytes in the ring were not records: the memory is corrupt */
	WIRE_LOST_UNREAD,      /* left in the ring: the recorder could not write any more (disk full) */
	WIRE_LOST_CAUSES
};

static inline uint64_t wire_lost_sum(const uint64_t lost[WIRE_LOST_CAUSES])
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += lost[cause];
	return sum;
}

/*
 * To a CTF reader the packet context begins at byte 128, where its struct is aligned, and the bytes before it are
 * padding. Burin has fields there that CTF does not know, so readers do not print them with every event.
 */
struct wire_packet {
	/* CTF packet header */
	uint32_t magic; /* WIRE_MAGIC */
	uint8_t uuid[16];
	uint32_t stream_id;	  /* WIRE_STREAM_* */
	uint64_t stream_instance; /* number of the ring, wire_session.rings counts */
	/* Burin's own */
	uint64_t events_before; /* records written to this ring before this packet */
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t base_time;
	uint32_t base_offset;
	uint32_t lap; /* in a ring: packets of the lap before this packet's; in a trace 0 */
	uint64_t reserved1[3];
	/* CTF packet context */
	uint64_t time_begin; /* time of the first record */
	uint64_t time_end;   /* of the last, or a little later */
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t sequence;  /* number of the packet in its ring, from 0; WIRE_SEQUENCE_NONE */
	uint64_t discarded; /* sum of lost[]: CTF's events_discarded */
	uint32_t cpu;
	uint32_t reserved2;
	/* records */
};

enum {
	WIRE_CONTEXT_OFFSET = 128,
};

static_assert(sizeof(struct wire_packet) == 184, "wire_packet");
static_assert(sizeof(struct wire_packet) % 8 == 0, "records are 8-aligned");
static_assert(offsetof(struct wire_packet, stream_instance) == 24, "wire_packet.stream_instance");
static_assert(offsetof(struct wire_packet, events_before) == 32, "wire_packet.events_before");
static_assert(offsetof(struct wire_packet, lost) == 40, "wire_packet.lost");
static_assert(offsetof(struct wire_packet, base_time) == 88, "wire_packet.base_time");
static_assert(offsetof(struct wire_packet, base_offset) == 96, "wire_packet.base_offset");
static_assert(offsetof(struct wire_packet, lap) == 100, "wire_packet.lap");
static_assert(offsetof(struct wire_packet, time_begin) == WIRE_CONTEXT_OFFSET, "wire_packet.time_begin");
static_assert(offsetof(struct wire_packet, time_end) == 136, "wire_packet.time_end");
static_assert(offsetof(struct wire_packet, content_bits) == 144, "wire_packet.content_bits");
static_assert(offsetof(struct wire_packet, packet_bits) == 152, "wire_packet.packet_bits");
static_assert(offsetof(struct wire_packet, sequence) == 160, "wire_packet.sequence");
static_assert(offsetof(struct wire_packet, discarded) == 168, "wire_packet.discarded");
static_assert(offsetof(struct wire_packet, cpu) == 176, "wire_packet.cpu");

#endif
