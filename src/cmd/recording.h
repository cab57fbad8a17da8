/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the commands that write traces share: what they say at the end. */
#ifndef BURIN_CMD_RECORDING_H
#define BURIN_CMD_RECORDING_H

#include <stdbool.h>

#include "drain/drain.h"

/* recording_summary - one line on stderr: how much was recorded where, and what was lost by which cause. */
void recording_summary(const struct drain_totals *totals, const char *output, bool joined);

#endif
