/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records of the names stream (docs/format.md, "Names"): who the threads and processes are that the other
 * records mention by number. Their ids are the stream's own, apart from those of events; the header and the
 * packing are those of any record, and the tid in the header is the thread that is announced.
 */
#ifndef BURIN_WIRE_NAMES_H
#define BURIN_WIRE_NAMES_H

enum wire_name_id {
	WIRE_NAME_PROCESS = 1, /* u32 pid, u32 parent, str exe, str command: a process joined the session */
	WIRE_NAME_THREAD = 2,  /* u32 pid, str name: from now on the header's tid is a thread of pid */
	WIRE_NAME_IDS
};

/*
 * Both end with u64 since, u64 gone. `since` is from when on it holds (0: the record's own time): a thread that has
 * been given another name announces it before its next record, with the time of the change. In flight mode, when
 * the ring is full, writers copy what is still needed of its oldest packet to its end: `since` is then the
 * original's. `gone` is until when it held, or when it was first found that the process or thread does not exist any
 * more (0: it did). They are in every record, so that a copy is no longer than its original.
 */
enum {
	WIRE_NAME_TAIL = 16,	  /* bytes of both */
	WIRE_NAME_TEXT_MAX = 511, /* of a string */
};

#endif
