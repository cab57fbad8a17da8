/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All that the fast paths of calls need of a CPU, in one line of the cache: its ring, and its counts.
 *
 * A thread remembers the CPU that it was on. Inside a restartable sequence one comparison finds that it still is there, so the fast
 * paths need neither ask which CPU they are on, nor check what cannot change.
 */
#ifndef BURIN_SOURCE_CALLS_STACK_CALL_CPU_H
#define BURIN_SOURCE_CALLS_STACK_CALL_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct call_cpu {
	uint64_t *tail; /* of the ring */
	char *slots;
	uint64_t byte_mask;   /* bytes of the window - 8 */
	uint64_t packet_mask; /* bytes of a packet - 8 */
	uint64_t
		room; /* a record fits if its offset in the packet, less 8, is not above; 0: the ring is not in use */
	uint64_t *counts; /* of this CPU (session_call_counts()) */
	uint32_t cpu;
} __attribute__((aligned(64)));

/* Where this thread was. Before it was anywhere, its CPU has a number that none has. */
extern __thread const struct call_cpu *call_cpu_here __attribute__((tls_model("initial-exec")));

/* call_cpu_begin - prepare the process. Context: it is in its session, and has one thread. */
void call_cpu_begin(void);

/* call_cpu_is_fast - whether fast paths can append records: there are restartable sequences, and rings for them. */
bool call_cpu_is_fast(void);

/* call_cpu_enter - remember on which CPU this thread is. Context: any thread, signal handlers. */
void call_cpu_enter(void);

/* call_count - count a call. Context: any thread, signal handlers. */
void call_count(uint32_t function);

#endif
