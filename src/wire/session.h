/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The session: one shared-memory file that every traced process and the recorder map (docs/format.md,
 * "Session").
 *
 *	header | switches | wants | checks | filters | intents | events | text | ring controls | ring 0 |
 *	ring 1 | ... | names ring
 *
 * The file is sparse at full size from the start, so that nobody ever has to map it again; memory is given to
 * a part before it is first written. Offsets are bytes from the start of the file, multiples of 4096.
 * Everybody copies the geometry at joining, checks it against the size of the file, and from then on trusts
 * only the copy.
 *
 * Rings 0..cpus-1 belong to one CPU each and are written by restartable sequences only; the next `locked`
 * rings are for writers that have none, and are written under their lock only; the last ring takes the names,
 * under its lock.
 */
#ifndef BURIN_WIRE_SESSION_H
#define BURIN_WIRE_SESSION_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_SESSION_MAGIC "BURINSES"

enum {
	WIRE_SESSION_VERSION = 5,
	WIRE_RULES_MAX = 2048,	  /* bytes of the standing rules */
	WIRE_PROCESSES_MAX = 512, /* processes that a session can name */
	WIRE_PROGRAM_MAX = 32,
	WIRE_LEVEL_MAX = 9, /* of an event: 0 always worth it, 9 the finest detail */
};

enum wire_owner {
	WIRE_OWNER_RECORDER, /* `burin record` made it for what it runs, and removes it */
	WIRE_OWNER_PROGRAM,  /* a traced program made it for itself */
};

enum wire_mode {
	WIRE_MODE_STREAM, /* full: the new record is discarded */
	WIRE_MODE_FLIGHT, /* full: the oldest packet is overwritten */
};

enum wire_clock {
	WIRE_CLOCK_TSC,	      /* the processor's counter */
	WIRE_CLOCK_MONOTONIC, /* CLOCK_MONOTONIC in ns; there is no restartable sequence around it: locked
				 rings only */
};

/* What never changes. Everybody has a copy, which has been checked. */
struct wire_geometry {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct wire_session) */
	uint64_t file_bytes;
	uint8_t uuid[16];    /* of the trace that this session becomes */
	uint8_t boot_id[16]; /* names the clock */

	uint32_t mode;	/* enum wire_mode */
	uint32_t clock; /* enum wire_clock */
	uint64_t clock_hz;

	uint32_t packet_bytes;
	uint32_t
		ring_packets; /* slots of a ring's window, a power of two, at least 4; wire_ring.size are in use */
	uint32_t cpus;
	uint32_t locked;
	uint32_t names_packet_bytes;
	uint32_t names_packets;
	uint32_t string_max; /* limit of a recorded string, bytes */
	uint32_t events_max; /* entries there is room for */

	uint64_t switches_offset; /* events_max bytes, enum wire_switch: what entry n does now */
	uint64_t wants_offset;	  /* events_max bytes: what it is to do unless everything is stopped */
	uint64_t checks_offset;	  /* events_max struct wire_check */
	uint64_t filters_offset;  /* filter programs, never changed once they are there (wire/filter.h) */
	uint64_t filters_bytes;	  /* size of the area */
	uint64_t intents_offset;  /* events_max struct wire_intent: what a change is about to do */
	uint64_t events_offset;	  /* struct wire_events, then events_max entries */
	uint64_t text_offset;
	uint64_t text_bytes;	  /* size of the area */
	uint64_t controls_offset; /* struct wire_ring of each ring, names last */
	uint64_t rings_offset;	  /* ring n at rings_offset + n * ring_packets * packet_bytes */
	uint64_t names_offset;

	uint32_t owner_kind; /* enum wire_owner */
	uint32_t owner;	     /* pid of the process that made the session */
	uint64_t
		owner_start; /* when it was started, as field 22 of /proc/PID/stat; a pid alone may be used again */
	int64_t created_ns;	/* CLOCK_REALTIME */
	uint64_t pid_namespace; /* inode of the owner's; 0 unknown. Joined from within it only: locks hold
				   thread ids */
	char program[WIRE_PROGRAM_MAX]; /* the owner's name, ends in NUL */
	uint32_t context;		/* enum wire_context: what records carry besides their payload */
	uint32_t reserved;
};

#define WIRE_PROCESS_RECORDED (1u << 31) /* beside a pid in `processes`: it has recorded something */

struct wire_session {
	struct wire_geometry geometry;

	/* changing: */
	uint32_t over;	       /* not 0: nobody reads any more */
	uint32_t joined;       /* processes that joined, ever */
	uint32_t ended;	       /* not 0: the owner has left by exit */
	uint32_t stopped;      /* not 0: all switches are off, whatever is wanted */
	uint64_t events_lock;  /* who registers or switches, as in wire_ring.lock */
	uint32_t changes;      /* odd while a change is carried out: then the intent is complete */
	uint32_t filters_used; /* bytes of the filters area; the first WIRE_FILTERS_FIRST are never used */
	uint32_t processes
		[WIRE_PROCESSES_MAX]; /* pids of those that have joined and not left; 0: a free place */

	uint32_t intents;	 /* entries of the intent */
	uint32_t intent_stopped; /* what `stopped` is to become */

	/* What events that are registered later are to do: strings, each ends in NUL, an empty one ends the
	 * list; the last that matches counts. "+L:GLOB" on, for events of level L or less; "-L:GLOB" off. */
	char rules[WIRE_RULES_MAX];
	char intent_rules[WIRE_RULES_MAX]; /* what they are to become */
	uint64_t resize_lock;		   /* who changes the rings' sizes, as in wire_ring.lock */
};

enum {
	WIRE_FILTERS_FIRST = 64, /* so that 0 is no offset of a filter */
};

static_assert(offsetof(struct wire_geometry, uuid) == 24, "wire_geometry.uuid");
static_assert(offsetof(struct wire_geometry, mode) == 56, "wire_geometry.mode");
static_assert(offsetof(struct wire_geometry, packet_bytes) == 72, "wire_geometry.packet_bytes");
static_assert(offsetof(struct wire_geometry, switches_offset) == 104, "wire_geometry.switches_offset");
static_assert(offsetof(struct wire_geometry, owner_kind) == 200, "wire_geometry.owner_kind");
static_assert(offsetof(struct wire_geometry, program) == 232, "wire_geometry.program");
static_assert(sizeof(struct wire_geometry) == 272, "wire_geometry");
static_assert(offsetof(struct wire_session, over) == 272, "wire_session.over");
static_assert(offsetof(struct wire_session, events_lock) == 288, "wire_session.events_lock");
static_assert(offsetof(struct wire_session, processes) == 304, "wire_session.processes");
static_assert(offsetof(struct wire_session, rules) == 312 + 4 * WIRE_PROCESSES_MAX, "wire_session.rules");
static_assert(sizeof(struct wire_session) == 312 + 4 * WIRE_PROCESSES_MAX + 2 * WIRE_RULES_MAX + 8,
	      "wire_session");

#endif
