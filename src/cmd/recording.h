/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the commands that write traces share: how a recording ends, and what they say of it. */
#ifndef BURIN_CMD_RECORDING_H
#define BURIN_CMD_RECORDING_H

#include <stdbool.h>

#include "drain/drain.h"

/*
 * recording_end - the session is over: every event in it is off, for those who join now as well. Its file
 * stays until the trace is finished: if we are killed before, burin recover needs it.
 */
void recording_end(struct session *session);

/* recording_summary - one line on stderr: how much was recorded where, and what was lost by which cause. */
void recording_summary(const struct drain_totals *totals, const char *output, bool joined);

#endif
