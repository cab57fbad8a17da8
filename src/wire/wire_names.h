/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records of the names stream (docs/format.md, "Names"): they announce the threads and processes whose numbers other
 * records contain. Their ids are separate from those of events. Header and packing are as in any record; the tid in the
 * header is the announced thread.
 */
#ifndef BURIN_WIRE_WIRE_NAMES_H
#define BURIN_WIRE_WIRE_NAMES_H

enum wire_name_id {
	WIRE_NAME_PROCESS = 1, /* u32 pid, u32 parent, str exe, str command: a process joined the session */
	WIRE_NAME_THREAD = 2,  /* u32 pid, str name: from now on the header's tid is a thread of pid */
	WIRE_NAME_IDS,	       /* of the names ring */

	/* In a trace only, in its stream of changes: struct wire_change (docs/format.md, "History"). */
	WIRE_NAME_CHANGE = WIRE_NAME_IDS,
};

/*
 * Both end with u64 since, u64 gone. `since` is the time from which the announcement holds (0: the record's own time).
 * A renamed thread announces its name before its next record, with the time of the change. When the ring is full in
 * flight mode, writers copy needed records of its oldest packet to its end (compaction); copies keep the original's
 * `since`. `gone` is the time until which it held, or at which the process or thread was first found to be dead (0:
 * not yet). Both are in every record, so that a copy is not longer than its original.
 */
enum {
	WIRE_NAME_TAIL = 16,	  /* bytes of both */
	WIRE_NAME_TEXT_MAX = 511, /* of a string */
};

#endif
