/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where a trace begins within its session (docs/format.md, "`.burin/origin`"): of each ring, what had been read
 * before. All zero for a trace that begins with its session.
 */
#ifndef BURIN_WIRE_ORIGIN_H
#define BURIN_WIRE_ORIGIN_H

#include <assert.h>
#include <stdint.h>

#include "wire/packet.h"

/* What a ring has seen up to some moment. */
struct wire_ledger {
	uint64_t events; /* records written: in some trace, or counted as lost on the way out */
	uint64_t lost[WIRE_LOST_CAUSES]; /* by cause */
};

struct wire_origin {
	struct wire_ledger ledger;
	uint64_t sequence; /* of the packet that goes on in this trace ... */
	uint64_t offset;   /* ... from this byte on; 0: from its beginning */
	uint64_t time;	   /* of the last record before */
	uint64_t
		restated; /* packets that stand before the ring's own in this trace: what it needs from earlier ones */
};

static_assert(sizeof(struct wire_ledger) == 56, "wire_ledger");
static_assert(sizeof(struct wire_origin) == 88, "wire_origin");

#endif
