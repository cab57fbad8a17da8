/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The history of a session: which process changed states, filters and sizes, and when (docs/format.md, "History"). It
 * is a ring of entries in the session; each has a bitmap of its events. Change n is in slot n % WIRE_CHANGES. It exists
 * once wire_session.history has reached n.
 *
 * A change is prepared under events_lock in the slots behind the last, so the oldest WIRE_CHANGES_AT_ONCE slots may be
 * overwritten while a reader reads them.
 */
#ifndef BURIN_WIRE_WIRE_CHANGE_H
#define BURIN_WIRE_WIRE_CHANGE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_CHANGES = 64,	  /* slots */
	WIRE_CHANGES_AT_ONCE = 8, /* entries of one transaction, at most */
	WIRE_CHANGE_TEXT = 160,	  /* bytes of a text, with its NUL */
	WIRE_CHANGE_NAME = 16,	  /* bytes of a program's and a command's name */
};

/* The kinds of changes. A transaction has an entry for each kind that it contains. */
enum wire_change_kind {
	WIRE_CHANGE_STATE,  /* not a change: in a trace, the state of events first..last at that time */
	WIRE_CHANGE_ON,	    /* events that were off are on */
	WIRE_CHANGE_OFF,    /* events that were on are off */
	WIRE_CHANGE_FILTER, /* events have a filter, sample or limit, or another one */
	WIRE_CHANGE_PLAIN,  /* events have no filter, sample or limit any more */
	WIRE_CHANGE_PAUSE,  /* everything is off until WIRE_CHANGE_RESUME */
	WIRE_CHANGE_RESUME,
	WIRE_CHANGE_SIZE, /* the rings have another size: `value` bytes each */
	WIRE_CHANGE_RULE, /* only the rules changed, for events that register later */
	WIRE_CHANGE_UNFIT, /* not a change: in a trace, events are off since the filter of a rule does not apply */
	WIRE_CHANGE_CALLS, /* the states of `value` functions changed, and the rules for later ones */
	WIRE_CHANGE_KINDS
};

struct wire_change {
	uint64_t number; /* from 1 */
	uint64_t time;	 /* when it was first carried out, ticks; 0: not yet */
	uint64_t value;
	uint32_t pid, tid, uid; /* of the process that made it */
	uint32_t kind;
	uint32_t events; /* how many it changes */
	uint32_t reserved;
	char program[WIRE_CHANGE_NAME]; /* the process's name */
	char command[WIRE_CHANGE_NAME]; /* of burin; "": the program itself */
	char text[WIRE_CHANGE_TEXT];	/* globs, filters */
					/* bitmap: bit n of byte n / 8: the event with id n + 1 */
};

static_assert(sizeof(struct wire_change) == 240, "wire_change");
static_assert(offsetof(struct wire_change, pid) == 24, "wire_change.pid");
static_assert(offsetof(struct wire_change, program) == 48, "wire_change.program");
static_assert(offsetof(struct wire_change, text) == 80, "wire_change.text");

/* wire_change_bytes - from one slot to the next. */
static inline uint64_t wire_change_bytes(uint32_t events_max)
{
	return (sizeof(struct wire_change) + (events_max + 7) / 8 + 63) & ~(uint64_t)63;
}

#endif
