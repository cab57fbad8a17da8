/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The writing side of a case: records that say who wrote them, as which of his, and when, with a sum over all
 * that; and a board, shared by all processes of the case, on which a writer notes what it is about to record
 * and what it has recorded.
 */
#ifndef BURIN_TESTS_SESSION_TRACED_H
#define BURIN_TESTS_SESSION_TRACED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TRACED_WRITERS = 16384,
	TRACED_DATA_MAX = 3000,
};

struct traced_writer {
	uint64_t started, completed;
};

struct traced_board {
	struct traced_writer writers[TRACED_WRITERS];
	uint32_t used; /* writers so far */
	uint32_t stop;
	uint32_t epoch; /* see ledger.h */
	uint32_t small; /* no data, please */
};

extern struct traced_board *board;

/* traced_begin - make the board, or find it after an exec. */
void traced_begin(void);

/* traced_writer - a number for a new writer: one context that records one thing after the other. */
uint32_t traced_writer(void);

/* traced_emit - one record. Any context; one at a time for each writer. */
void traced_emit(uint32_t writer);

/* traced_stopped - whether writers are to end. */
static inline bool traced_stopped(void)
{
	return __atomic_load_n(&board->stop, __ATOMIC_RELAXED);
}

static inline void traced_stop(void)
{
	__atomic_store_n(&board->stop, 1, __ATOMIC_RELAXED);
}

/* What a record of that number holds. */
uint32_t traced_data_bytes(uint32_t writer, uint64_t number);
void traced_data(uint32_t writer, uint64_t number, unsigned char *data, uint32_t bytes);
uint64_t traced_sum(uint32_t writer, uint64_t number, uint64_t clock, uint32_t epoch);

/* traced_pin - keep the calling thread on a CPU. Return: whether that can be done. */
bool traced_pin(int cpu);

/* traced_fork - a child that goes when the case goes. */
pid_t traced_fork(void);

#endif
