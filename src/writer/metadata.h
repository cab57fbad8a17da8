/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The parts of a trace that are not streams: `metadata` (CTF 1.8), `.burin/events` and `.burin/recording`.
 *
 * The first two are replaced as a whole, by rename. The third is one block of 4096 bytes. One write overwrites it in
 * place, so it can be updated even when the disk is full.
 */
#ifndef BURIN_WRITER_METADATA_H
#define BURIN_WRITER_METADATA_H

#include <stdint.h>

#include "wire/wire_call.h"
#include "writer/event_table.h"

/* The clock of a trace. */
struct trace_clock {
	uint64_t hz;
	int64_t offset_ns; /* CLOCK_REALTIME at clock value 0 */
};

/* The content that was written last, by hashes; {0}: none yet. */
struct metadata_written {
	uint64_t metadata, events;
};

/*
 * metadata_write - replace `metadata` and `.burin/events`, unless they are as written last.
 * @last: changes; NULL: both are written
 * Return: 0; -errno: the old files stay.
 */
int metadata_write(int directory, const struct session *session, const struct event_table *table,
		   struct trace_clock clock, struct metadata_written *last);

/* The content of `.burin/recording`; docs/format.md has the keys. NULL strings are left out. */
struct recording {
	const char *state;
	struct trace_clock clock;
	const char *session_path;
	const char *command;
	const char
		*kernel_tasks; /* whose events of the kernel are recorded: "all" or "some"; NULL: none are */
	const char *
		kernel_calls; /* times between which each system call of these tasks is recorded; NULL, "": unknown */
	const char *
		kernel_threads; /* those that live at the end, as kernel_follow_list() has them; NULL, "": unknown */
	const char *result;
	const char *trouble;
	uint64_t lost_late;
	uint64_t lost_names;
	uint64_t lost_unreported;
	uint64_t clock_steps;
	uint64_t lost_calls[WIRE_CALL_LOSSES]; /* from the session's beginning */
};

/* recording_write - write or overwrite `.burin/recording`. Return: 0 or -errno. */
int recording_write(int directory, const struct session *session, const struct recording *recording);

#endif
