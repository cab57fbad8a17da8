/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where in each ring a trace begins (docs/format.md, "`.burin/origin`"). All zero for a trace that begins with its
 * session.
 */
#ifndef BURIN_WIRE_WIRE_ORIGIN_H
#define BURIN_WIRE_WIRE_ORIGIN_H

#include <assert.h>
#include <stdint.h>

#include "wire/wire_packet.h"

/* The counters of a ring at one moment. */
struct wire_ledger {
	uint64_t events; /* records written: those in a trace, and those lost between ring and trace */
	uint64_t lost[WIRE_LOST_CAUSES]; /* by cause */
};

struct wire_origin {
	struct wire_ledger ledger;
	uint64_t sequence; /* of the first packet in this trace, which ... */
	uint64_t offset;   /* ... begins with this byte; 0: with its first */
	uint64_t time;	   /* of the last record before */
	/* Packets of this trace before the ring's own: names from earlier traces to which its records refer. */
	uint64_t statedump;
};

static_assert(sizeof(struct wire_ledger) == 56, "wire_ledger");
static_assert(sizeof(struct wire_origin) == 88, "wire_origin");

#endif
