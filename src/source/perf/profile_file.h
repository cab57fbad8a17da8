/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* `.burin/profile`: the options, the ledger, and what was not permitted (docs/format.md, "Samples"). */
#ifndef BURIN_SOURCE_PERF_PROFILE_FILE_H
#define BURIN_SOURCE_PERF_PROFILE_FILE_H

#include "source/perf/sampler_state.h"

/* profile_write - replace the file. @ended: the trace is complete. Return: 0 or -errno. */
int profile_write(const struct sampler *sampler, bool ended);

#endif
