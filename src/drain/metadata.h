/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The parts of a trace that are no streams: `metadata` (CTF 1.8), `.burin/events` and `.burin/recording`.
 *
 * The first two are replaced as a whole, by rename. The third is one block of 4096 bytes that is overwritten
 * in place, by one write: it can be brought up to date when the disk is full.
 */
#ifndef BURIN_DRAIN_METADATA_H
#define BURIN_DRAIN_METADATA_H

#include <stdint.h>

#include "drain/table.h"

/* What clock the trace has. */
struct trace_clock {
	uint64_t hz;
	int64_t offset_ns; /* CLOCK_REALTIME at clock value 0 */
};

/* metadata_write - write `metadata` and `.burin/events`. Return: 0 or -errno: the former ones stay. */
int metadata_write(int directory, const struct session *session, const struct table *table,
		   struct trace_clock clock);

/* What `.burin/recording` says; see docs/format.md for the keys. NULL strings are left out. */
struct recording {
	const char *state;
	struct trace_clock clock;
	const char *session_path;
	const char *command;
	const char *result;
	const char *trouble;
	uint64_t lost_late;
	uint64_t lost_names;
	uint64_t lost_untold;
	uint64_t clock_steps;
};

/* recording_write - write `.burin/recording`, over the former one. Return: 0 or -errno. */
int recording_write(int directory, const struct session *session, const struct recording *recording);

#endif
