/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rings that begin small and grow on the CPUs that are busy; perf_grow() is in perf.h. */
#ifndef BURIN_SOURCE_PERF_RINGS_PERF_GROW_H
#define BURIN_SOURCE_PERF_RINGS_PERF_GROW_H

#include "source/perf/rings/perf.h"

/* perf_grow_begins_small - whether rings of samples begin small. *bytes: their size then. */
bool perf_grow_begins_small(const struct perf *perf, size_t *bytes);

/* perf_grow_end - stop growing. Waits for the thread, and puts its last areas in place. */
void perf_grow_end(struct perf *perf);

#endif
