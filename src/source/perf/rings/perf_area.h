/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Areas: the memory of the kernel's rings, mapped behind events. */
#ifndef BURIN_SOURCE_PERF_RINGS_PERF_AREA_H
#define BURIN_SOURCE_PERF_RINGS_PERF_AREA_H

#include "source/perf/rings/perf.h"

enum {
	PERF_AREA_PAGE = 4096,	   /* in front of an area's data */
	PERF_RING_DWARF = 8 << 20, /* of each CPU, bytes */
	PERF_RING_MIN = 16 << 10,
};

/* perf_full_bytes - the final size of a ring of samples, if that much memory is permitted. */
size_t perf_full_bytes(const struct perf *perf);

/* perf_area_bytes - the size of a feed's ring, as far as it is permitted. */
size_t perf_area_bytes(const struct perf *perf, enum perf_feed feed);

/* perf_area_map - map memory behind an event. Return: 0; -ENOBUFS: so much is not permitted; -errno. */
int perf_area_map(const struct perf *perf, struct perf_area *area, int fd, size_t bytes);

/*
 * perf_carrier - map an area behind an event of its own, which has no records. Other events of that CPU are redirected to
 * the area, and can be redirected again. The kernel refuses that for an event that is mapped itself.
 * Context: any thread of the recorder.
 * Return: 0; -ENOBUFS: so much memory is not permitted; -errno.
 */
int perf_carrier(const struct perf *perf, struct perf_area *area, unsigned cpu, size_t bytes);

/* perf_redirect - redirect an event into an area. May block for a grace period of the kernel. Return: 0 or -errno. */
int perf_redirect(int event, const struct perf_area *area);

/* perf_area_free - unmap an area, and close its carrier. */
void perf_area_free(struct perf_area *area);

#endif
