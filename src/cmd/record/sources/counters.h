/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Figures of the machine in `burin record`: --counters. */
#ifndef BURIN_CMD_RECORD_SOURCES_COUNTERS_H
#define BURIN_CMD_RECORD_SOURCES_COUNTERS_H

#include "cmd/record/recorder/source.h"
#include "source/counters/figures.h"

#define COUNTERS_INTERVAL_MAX UINT64_C(3600000000000) /* ns */

struct counters_options {
	uint64_t interval_ns; /* between two readings; 0: none are recorded */
};

struct counters {
	const struct counters_options *options;
	struct figures figures;
	bool opened;
	uint64_t due; /* CLOCK_MONOTONIC, ns: the next reading */
};

/* Globs of the names that events of figures have, up to NULL. */
extern const char *const counters_events[];

/* Of a struct counters whose options are set. */
extern const struct source_ops counters_source;

#endif
