/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The places of a session's parts: decided when it is made. */
#ifndef BURIN_SESSION_LAYOUT_PLACE_H
#define BURIN_SESSION_LAYOUT_PLACE_H

#include "session/session.h"

/* layout_decide - fill in the offsets and the size of the file from the counts and sizes in *geometry. */
void layout_decide(struct wire_geometry *geometry);

/* layout_ring_bytes - from one ring of records to the next. */
static inline uint64_t layout_ring_bytes(const struct wire_geometry *geometry)
{
	return (uint64_t)geometry->ring_packets * geometry->packet_bytes;
}

/* layout_place - set the pointers into the mapping, other than ->rings. layout_ring - the constants of one ring. */
void layout_place(struct session *session);
void layout_ring(struct session *session, unsigned index);

#endif
