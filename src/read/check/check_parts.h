/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of burin_trace_check(). Each reports faults by read_fault(). */
#ifndef BURIN_READ_CHECK_CHECK_PARTS_H
#define BURIN_READ_CHECK_CHECK_PARTS_H

#include "read/trace.h"

/* check_tables.c: metadata, the recording file, and what opening does not check of the event table. */
void read_check_tables(const struct burin_trace *trace, bool *unfinished);
/* check_profile.c: samples, the tables that they refer to, and their ledger; after the streams. Return: 0 or -ENOMEM. */
int read_check_profile(const struct burin_trace *trace);
/* check_calls.c: calls, and the tables that they refer to; after the streams. Return: 0 or -ENOMEM. */
int read_check_calls(const struct burin_trace *trace);
/* check_records.c: every packet and record of a stream. Return: 0 or -ENOMEM. */
int read_check_stream(const struct burin_trace *trace, struct read_stream *stream, bool unfinished,
		      struct burin_check_result *result);

#endif
