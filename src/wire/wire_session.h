/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The session: one shared-memory file that every traced process and the recorder map (docs/format.md,
 * "Session").
 *
 *	header | switches | desired | conditions | filters | journal | history | events | text | ring controls |
 *	ring 0 | ring 1 | ... | names ring | calls
 *
 * The file is sparse and has its full size from the start, so no process ever has to map it again. A part gets memory
 * before it is first written. Offsets are bytes from the start of the file, multiples of 4096. Every process that joins
 * copies the geometry, checks it against the size of the file, and from then on trusts only the copy.
 *
 * Rings 0..cpus-1 belong to one CPU each and are written only by restartable sequences. The next `locked` rings are for
 * writers without restartable sequences; they are written only under their lock. The last ring is the names ring, also
 * written under its lock.
 */
#ifndef BURIN_WIRE_WIRE_SESSION_H
#define BURIN_WIRE_WIRE_SESSION_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire_event.h"

#define WIRE_SESSION_MAGIC "BURINSES"

enum {
	WIRE_SESSION_VERSION = 15,
	WIRE_REFUSALS_MAX = 32,
	WIRE_RULES_MAX = 2048,	  /* bytes of the rules */
	WIRE_PROCESSES_MAX = 512, /* processes that a session can list */
	WIRE_PROGRAM_MAX = 32,
	WIRE_LEVEL_MAX = 9, /* of an event: 0 the most important, 9 the finest detail */
};

enum wire_owner {
	WIRE_OWNER_RECORDER, /* `burin record` made it for the program that it runs, and removes it */
	WIRE_OWNER_PROGRAM,  /* a traced program made it for itself */
};

enum wire_mode {
	WIRE_MODE_STREAM, /* full: the new record is lost */
	WIRE_MODE_FLIGHT, /* full: the oldest packet is overwritten */
	WIRE_MODES
};

enum wire_clock {
	WIRE_CLOCK_TSC,	      /* the processor's counter */
	WIRE_CLOCK_MONOTONIC, /* CLOCK_MONOTONIC in ns; a restartable sequence cannot read it: locked rings only */
	WIRE_CLOCK_GUEST, /* instructions that a guest has executed: wire_calls.guest_clock; locked rings only */
	WIRE_CLOCKS
};

/* The part that never changes. Every process has a checked copy. */
struct wire_geometry {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct wire_session) */
	uint64_t file_bytes;
	uint8_t uuid[16];    /* of the trace that this session becomes */
	uint8_t boot_id[16]; /* clock values are comparable within one boot */

	uint32_t mode;	/* enum wire_mode */
	uint32_t clock; /* enum wire_clock */
	uint64_t clock_hz;

	uint32_t packet_bytes;
	uint32_t ring_packets; /* slots of a ring's window, a power of two, >= 4; wire_ring.size are in use */
	uint32_t cpus;
	uint32_t locked;
	uint32_t names_packet_bytes;
	uint32_t names_packets;
	uint32_t string_max; /* limit of a recorded string, bytes */
	uint32_t events_max; /* largest number of events */

	uint64_t switches_offset;   /* events_max bytes, enum wire_switch: the state of entry n now */
	uint64_t desired_offset;    /* events_max bytes: its desired state, which holds unless paused */
	uint64_t conditions_offset; /* events_max struct wire_condition */
	uint64_t filters_offset; /* filter programs, which never change once written (wire/wire_filter.h) */
	uint64_t filters_bytes;	 /* size of the area */
	uint64_t journal_offset; /* events_max struct wire_journal_entry: the transaction to be carried out */
	uint64_t events_offset;	 /* struct wire_events, then events_max entries */
	uint64_t text_offset;
	uint64_t text_bytes;	  /* size of the area */
	uint64_t controls_offset; /* struct wire_ring of each ring, names last */
	uint64_t rings_offset;	  /* ring n at rings_offset + n * ring_packets * packet_bytes */
	uint64_t names_offset;
	uint64_t
		calls_offset; /* struct wire_calls and its tables (wire/wire_call.h); if functions_max is not 0 */

	uint32_t owner_kind;  /* enum wire_owner */
	uint32_t owner;	      /* pid of the process that made the session */
	uint64_t owner_start; /* its start time, field 22 of /proc/PID/stat; the kernel reuses pids */
	int64_t created_ns;   /* CLOCK_REALTIME */
	/* Inode of the owner's; 0: unknown. Only processes in it can join, since locks contain thread ids. */
	uint64_t pid_namespace;
	char program[WIRE_PROGRAM_MAX]; /* the owner's name, ends in NUL */
	uint32_t context;		/* enum wire_context of the records */
	uint32_t functions_max;		/* a power of two; 0: calls are not recorded */
	uint32_t call_segments;
	uint32_t reserved;
};

#define WIRE_PROCESS_RECORDED (1u << 31) /* with a pid in `processes`: it has recorded something */
#define WIRE_PROCESS_EXPECTED \
	(1u << 30) /* instead of a pid: for a child of a running fork, which stores its own */

struct wire_session {
	struct wire_geometry geometry;

	/* changing: */
	uint32_t over;	       /* not 0: no reader is left */
	uint32_t joined;       /* processes that ever joined */
	uint32_t ended;	       /* not 0: the owner has left by exit */
	uint32_t paused;       /* not 0: all switches are off, whatever is desired */
	uint64_t events_lock;  /* for registering and switching, as wire_ring.lock */
	uint32_t changes;      /* odd while a transaction is carried out: then the journal is complete */
	uint32_t filters_used; /* bytes of the filters area; the first WIRE_FILTERS_FIRST are never used */
	uint32_t processes[WIRE_PROCESSES_MAX]; /* pids of those that have joined and not left; 0: free */

	uint32_t journal_count;	 /* entries of the journal */
	uint32_t journal_paused; /* new value of `paused` */

	/* The states of events that register later: strings, each ends in NUL, an empty one ends the list; the last
	 * match counts. "+L:GLOB" on, for events of level L or less; "-L:GLOB" off; "?L:GLOB" conditional, and the next
	 * string has the conditions: "SAMPLE LIMIT EXPRESSION". */
	char rules[WIRE_RULES_MAX];
	char journal_rules[WIRE_RULES_MAX]; /* new rules */
	uint64_t resize_lock;		    /* for changing the rings' sizes, as wire_ring.lock */

	uint64_t history;	  /* number of the last change that was carried out (wire/wire_change.h) */
	uint64_t journal_history; /* its new value */
	uint64_t history_lost;	  /* changes that have no entry, for lack of memory */
	uint64_t journal_size;	  /* new size of the rings, in packets; 0: no change */

	/* Events that were refused, under the events_lock; those beyond the array are only counted. */
	uint32_t refusals;
	uint32_t kernel_rings; /* of a flight recorder: its descriptor of the kernel's rings + 1; 0: none */
	struct wire_refusal refused[WIRE_REFUSALS_MAX];
};

enum {
	WIRE_FILTERS_FIRST = 64, /* so that no filter has the offset 0 */
};

static_assert(offsetof(struct wire_geometry, uuid) == 24, "wire_geometry.uuid");
static_assert(offsetof(struct wire_geometry, mode) == 56, "wire_geometry.mode");
static_assert(offsetof(struct wire_geometry, packet_bytes) == 72, "wire_geometry.packet_bytes");
static_assert(offsetof(struct wire_geometry, switches_offset) == 104, "wire_geometry.switches_offset");
static_assert(offsetof(struct wire_geometry, owner_kind) == 208, "wire_geometry.owner_kind");
static_assert(offsetof(struct wire_geometry, program) == 240, "wire_geometry.program");
static_assert(sizeof(struct wire_geometry) == 288, "wire_geometry");
static_assert(offsetof(struct wire_session, over) == 288, "wire_session.over");
static_assert(offsetof(struct wire_session, events_lock) == 304, "wire_session.events_lock");
static_assert(offsetof(struct wire_session, processes) == 320, "wire_session.processes");
static_assert(offsetof(struct wire_session, rules) == 328 + 4 * WIRE_PROCESSES_MAX, "wire_session.rules");
static_assert(sizeof(struct wire_session) ==
		      328 + 4 * WIRE_PROCESSES_MAX + 2 * WIRE_RULES_MAX + 48 + 28 * WIRE_REFUSALS_MAX,
	      "wire_session");

#endif
