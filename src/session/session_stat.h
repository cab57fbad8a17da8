/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The counters of a session: records written and lost, and how full its rings are. */
#ifndef BURIN_SESSION_SESSION_STAT_H
#define BURIN_SESSION_SESSION_STAT_H

#include <stdint.h>

#include "session/session.h"

/* Sums over the rings of a session. */
struct session_stat {
	uint64_t written, lost[WIRE_LOST_CAUSES], clock_steps;
	uint64_t names_written, names_lost;
	uint64_t sampled_out, limited;
	uint64_t used_bytes, room_bytes; /* of the buffers that have been used */
	unsigned rings;			 /* that have been used */
};

/* session_stat_read - add up all rings. Context: any, signal handlers; corrupt rings give wrong numbers, no fault. */
void session_stat_read(struct session *session, struct session_stat *stat);

#endif
