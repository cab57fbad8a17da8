/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events that are counted in the kernel, for its programs and for the process that reads the counts (source/kernel/counts).
 *
 * The map `rows` has a row for each CPU, interval, event, and combination of values by which rows differ. A key is a struct kernel_count_key, and behind
 * it these values: numbers with 8 bytes, texts with their own number of bytes, the rest of it 0. So no two CPUs add to one row, and the
 * reader adds up those of all CPUs.
 *
 * Rows of two intervals are apart, too, so the reader can remove those of one that has ended while the next one is counted.
 *
 * A row of a field's numbers has pages: 128 buckets for each power of two and sign, as struct value_counts has. They are taken from the map
 * `pages` when a number comes that needs one.
 *
 * All additions are atomic: programs of one CPU may interrupt each other, and they do not lock.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_COUNT_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_COUNT_H

#include <stdint.h>

enum {
	KERNEL_COUNT_WORDS = 9,	      /* values by which rows differ, at most */
	KERNEL_COUNT_TEXT_BYTES = 64, /* of a text in a key, with its NUL */
	KERNEL_COUNT_NAME_BYTES = 16, /* of a thread's name */
	KERNEL_COUNT_KEY_BYTES = 192, /* of a key, at most */
	KERNEL_COUNT_BUCKETS = 128,   /* of a page */
	KERNEL_COUNT_PAGES = 128,     /* of a row: 64 powers of two, of numbers above 0 and below */
	KERNEL_COUNT_BUCKET_BITS = 7,
	KERNEL_COUNT_STARTED_BITS = 10, /* struct kernel_count_state: of a call's number in `started` */
};

struct kernel_count_key {
	uint32_t event; /* its number, from 1 */
	uint16_t cpu;
	uint16_t slot; /* struct kernel_count_state, its lower bits */
	uint64_t words[KERNEL_COUNT_KEY_BYTES / 8 - 1];
};

/* A value of the map `rows`. Where no numbers are counted it has the first member only. */
struct kernel_count_row {
	uint64_t records;
	uint64_t zeros;		  /* numbers that are 0 */
	uint64_t sum, sum_high;	  /* of all numbers, 128 bits */
	uint64_t least, greatest; /* of numbers with a sign, their highest bit is changed */
	uint32_t pages
		[KERNEL_COUNT_PAGES]; /* by power of two, then of numbers below 0; number of the page + 1; 0: none */
};

/* Why something is not counted. */
enum kernel_count_loss {
	KERNEL_COUNT_LOST_ROWS,	 /* `rows` is full */
	KERNEL_COUNT_LOST_PAGES, /* `pages` is full: in the row's records only */
	KERNEL_COUNT_LOST_BUSY,	 /* the program interrupted a change of `rows` */
	KERNEL_COUNT_LOSSES
};

/* The value of an array that the reader has mapped. */
struct kernel_count_state {
	uint64_t on; /* 1: events are counted */
	uint64_t
		slot; /* number of the interval: rows of several ones are apart, until the reader has removed them */
	uint64_t pages
		[2]; /* of the even and of the odd slots: taken so far, and asked for behind the last one */
	uint64_t lost[KERNEL_COUNT_LOSSES];
	uint64_t unread;    /* texts that were not in memory: counted as unknown */
	uint64_t unstarted; /* ends of calls whose begin was not seen */
};

/* A fact by which rows differ. */
enum kernel_count_source {
	KERNEL_COUNT_NOTHING, /* it is a field, or the event has no such one */
	KERNEL_COUNT_CPU,
	KERNEL_COUNT_TID,
	KERNEL_COUNT_PID,
	KERNEL_COUNT_THREAD,  /* its name */
	KERNEL_COUNT_PROGRAM, /* the name of its executable file */
};

/* A field of a system call: an argument, or the result. */
enum kernel_count_kind {
	KERNEL_COUNT_ABSENT,
	KERNEL_COUNT_64,
	KERNEL_COUNT_32,
	KERNEL_COUNT_SIGNED_32,
	KERNEL_COUNT_TEXT, /* the argument is its address */
};

enum {
	KERNEL_COUNT_RESULT = 6, /* as the number of an argument */
	KERNEL_COUNT_NUMBER = 7, /* of the call itself */
};

struct kernel_count_place {
	uint8_t kind;	  /* enum kernel_count_kind */
	uint8_t argument; /* its number */
};

/* The entry or the exit of a system call: a value of the map `calls`, by the call's number. */
struct kernel_count_call {
	uint32_t event;	    /* number, from 1; 0: not counted */
	uint8_t filter;	    /* its number, from 1; 0: none */
	uint8_t has_sign;   /* the value has one */
	uint8_t makes_task; /* fork and its like: the new task has an exit, too, without a begin */
	uint8_t reserved;
	struct kernel_count_place value, words[KERNEL_COUNT_WORDS];
};

#endif
