/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arguments and results of calls (`--args`): kept from the begin of a call to its end, when they are recorded.
 *
 * A function whose arguments are recorded has WIRE_CALL_ARGUMENTS in its switch. So its begins take the slow path of each
 * hook, and lead here; all other calls cost what they did. Its arguments lie in a block of private memory. The frame has the
 * block's number in its flags, and is marked (CALL_VALUES_MARK), so that no fast path takes its end for that of a usual call.
 *
 * Each argument is read once, at the begin. Texts are read by a system call, which fails where they cannot be read.
 *
 * A copy of the arguments lies in the session while the call is open (struct wire_call_values), where a reader finds it after a
 * SIGKILL. The record is made of the block: another process may damage the session.
 */
#ifndef BURIN_SOURCE_CALLS_STACK_CALL_VALUES_H
#define BURIN_SOURCE_CALLS_STACK_CALL_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "source/calls/stack/call_thread.h"
#include "wire/wire_record.h"

enum {
	CALL_VALUES_MARK =
		2, /* in `sp` of a frame whose return address is replaced, in `match` of a sled's */
	CALL_VALUES_SHIFT = 8, /* of a block's number, from 1, in a frame's flags */
	CALL_VALUES_CHUNKS = 64,
	CALL_VALUES_CHUNK = 1024, /* blocks */
	CALL_VALUES_BYTES = 984,  /* of the arguments of a call, in the form of a payload */
};

/* Registers at the begin of a function; hook_entry.c stores them. */
struct call_registers {
	uint64_t vectors[8]; /* the low half of xmm0 to xmm7 */
	uint64_t integers[6];
	uint64_t slot; /* address of the return address; + 1: a sled */
};

struct call_layout;

static_assert((CALL_FRAME_FLAGS & WIRE_CALL_WITH_VALUES) == 0 &&
		      (WIRE_CALL_WITH_VALUES | WIRE_CALL_ENDING) >> CALL_VALUES_SHIFT << CALL_VALUES_SHIFT ==
			      (WIRE_CALL_WITH_VALUES | WIRE_CALL_ENDING),
	      "the flags of a frame");

/* The arguments and results of an open call. */
struct call_values {
	uint32_t next; /* of a free block: the next free one */
	uint16_t bytes;
	bool returned; /* the results are valid */
	uint8_t reserved;
	struct call_layout *layout;
	uint64_t integer, vector; /* results: rax, the low half of xmm0 */
	/* The record of the end; not in a function's frame, since stacks may be small. */
	struct {
		char room[WIRE_HEADROOM];
		uint32_t function, low;
		uint16_t high, depth;
		uint8_t payload[2 * CALL_VALUES_BYTES + 9]; /* arguments; a result and its mark; zeros */
	} __attribute__((packed, aligned(8))) record;
};

static_assert(sizeof(struct call_values) <= 2048, "two blocks in a page");

extern struct call_values *call_values_chunks[CALL_VALUES_CHUNKS];

/* call_values_of - the block of a frame; NULL: none. */
static inline struct call_values *call_values_of(const struct wire_call_frame *frame)
{
	const uint32_t number = (frame->flags & ~WIRE_CALL_ENDING) >> CALL_VALUES_SHIFT;
	const uint32_t chunk = (number - 1) / CALL_VALUES_CHUNK;

	return number && chunk < CALL_VALUES_CHUNKS && call_values_chunks[chunk]
		       ? &call_values_chunks[chunk][(number - 1) % CALL_VALUES_CHUNK]
		       : NULL;
}

/* call_values_slot - where the return address is. */
static inline uint64_t call_values_slot(const struct wire_call_frame *frame)
{
	return frame->sp & ~(uint64_t)CALL_VALUES_MARK;
}

/*
 * call_values_keep - keep the arguments of a call that begins.
 * Context: any thread, signal handlers; changes errno. Return: number of their block; 0: there is none, which is counted.
 */
uint32_t call_values_keep(uint32_t function, const struct call_registers *registers);

/* call_values_drop - free a block. */
void call_values_drop(uint32_t number);

/*
 * call_values_place - copy a block to the session, if there is memory. Context: as call_values_keep().
 * call_values_show - from now on readers find the copy.
 * @number: of the block; @frame: of its call, which begins between the two
 */
void call_values_place(uint32_t number, const struct wire_call_frame *frame);
void call_values_show(uint32_t number, const struct wire_call_frame *frame);

/* call_values_copied - the frame, which may have a block, is a copy. */
void call_values_copied(const struct wire_call_frame *frame);

/* call_values_fork - in a new process: copies in the session are those of its parent. */
void call_values_fork(void);

/* call_values_free - free the block of a frame, if it has one. */
void call_values_free(struct wire_call_frame *frame);

/* call_values_record - record a call that ends, with its arguments. */
void call_values_record(const struct wire_call_frame *frame, struct call_values *values);

#endif
