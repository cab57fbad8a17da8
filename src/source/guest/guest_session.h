/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session that a guest's calls are recorded into, and their record. */
#ifndef BURIN_SOURCE_GUEST_GUEST_SESSION_H
#define BURIN_SOURCE_GUEST_GUEST_SESSION_H

#include "ring/section_rseq.h"
#include "session/calls/session_calls.h"
#include "session/session.h"
#include "wire/wire_call.h"
#include "wire/wire_record.h"

enum {
	GUEST_RECORD_BYTES = sizeof(struct wire_compact) + 12,
};

extern struct session guest_session;
extern const uint8_t *guest_switch; /* of the event of calls: enum wire_switch */
extern uint16_t guest_event;	    /* its id */

/* guest_session_begin - join the session of a recorder. Return: false after a message. */
bool guest_session_begin(const char *path);

/* guest_session_end - QEMU exits. */
void guest_session_end(void);

/* guest_session_snapshot - let the recorder write a snapshot, and wait for it. Context: a vCPU. */
void guest_session_snapshot(void);

/* guest_record - whether calls that begin from now on are recorded. The recorder changes that, too. */
static inline void guest_record(bool records)
{
	__atomic_store_n(&guest_session.calls.header->guest_waits, !records, __ATOMIC_RELAXED);
}

static inline bool guest_is_recording(void)
{
	return !__atomic_load_n(&guest_session.calls.header->guest_waits, __ATOMIC_RELAXED);
}

/* guest_session_moved - the kernel lies so far from where its file says. */
void guest_session_moved(uint64_t distance);

/* guest_session_is_function - whether a function of the recorder's file begins at an address, by that file. */
bool guest_session_is_function(uint64_t address);

/* guest_session_thread - the id of the calling thread, which is QEMU's. */
uint32_t guest_session_thread(void);

/* guest_session_put - record the end of a call in all cases but the usual one. */
void guest_session_put(uint32_t tid, uint32_t function, uint64_t start, uint32_t depth);

/* guest_session_put_switch - record that a vCPU changes from a task to another one. @tid: of the latter's stack */
void guest_session_put_switch(uint32_t tid, uint32_t vcpu, uint32_t from, uint32_t to);

/* guest_session_report - one line on stderr. */
void guest_session_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* guest_put - record the end of a call. @tid: the number of its stack; @start: its begin; @depth: calls that are open below it */
static inline void guest_put(uint32_t tid, uint32_t function, uint64_t start, uint32_t depth)
{
#if RING_HAVE_RSEQ
	const uint32_t cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
	const struct ring *ring = &guest_session.rings[cpu];

	if (__builtin_expect(*guest_switch == WIRE_ON && cpu < guest_session.geometry.cpus && ring->slots,
			     1) &&
	    section_rseq_put3(ring, guest_event | (uint64_t)GUEST_RECORD_BYTES << 16,
			      (uint64_t)function << 32 | tid,
			      (start << 16 >> 16) | (uint64_t)depth << WIRE_CALL_START_BITS) == RING_DONE)
		return;
#endif
	guest_session_put(tid, function, start, depth);
}

#endif
