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

#endif
