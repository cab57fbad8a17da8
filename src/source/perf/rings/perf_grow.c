/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rings that begin small and grow on the CPUs that are busy.
 *
 * The kernel takes a millisecond or two to allocate and clear the memory of one full ring. A command that runs for a
 * millisecond would wait for that at its start and again at its end. Most CPUs of a large machine never run the command.
 * So a ring first has room for about 32 ms of samples. When its CPU has filled half of it, a thread maps a full ring and
 * redirects the samples there. Redirecting blocks for a grace period of the kernel, while other rings fill; hence a
 * thread. Samples that were on their way into the former ring are read in the following rounds; then it is freed.
 *
 * This is done only under three conditions. The user did not choose the size. Locked memory is not limited, since both
 * rings count for a while. The kernel counts losses by event, so that those of a former ring are known.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "source/perf/rings/perf_area.h"
#include "source/perf/rings/perf_grow.h"

enum {
	GROW_SMALL_MS = 32, /* of samples, in a ring that begins small */
	GROW_PART = 2,	    /* a ring grows once half of it was filled */
	GROW_FORMER = 2,    /* rounds in which a former ring is still read */
};

static bool memory_is_limited(const struct perf *perf)
{
	struct rlimit limit;

	return geteuid() != 0 && (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
				  limit.rlim_cur / perf->cpus < 2 * perf_full_bytes(perf));
}

bool perf_grow_begins_small(const struct perf *perf, size_t *bytes)
{
	const struct perf_options *options = &perf->options;
	const size_t full = perf_full_bytes(perf),
		     needed = (size_t)options->frequency * perf->stack_bytes * GROW_SMALL_MS / 1000;

	if (!options->command || options->system || options->buffer_bytes || perf->shrink ||
	    !(options->graph & PERF_GRAPH_DWARF) || !perf->event.clock || !perf->counts_lost ||
	    memory_is_limited(perf))
		return false;
	for (*bytes = full; *bytes / 2 >= needed && *bytes > 64 << 10;)
		*bytes /= 2;
	return *bytes < full;
}

/* Map the largest ring that is permitted, and redirect the CPU's samples there. */
static enum perf_growth make_larger(struct perf *perf, struct perf_ring *ring)
{
	for (size_t bytes = perf_full_bytes(perf); bytes > ring->area.bytes; bytes /= 2) {
		int error = perf_carrier(perf, &ring->larger, ring->cpu, bytes);

		for (unsigned n = 0; !error && n < perf->source_count; n++)
			if (perf->sources[n].feed == ring->feed && perf->sources[n].cpu == ring->cpu)
				error = perf_redirect(perf->sources[n].fd, &ring->larger);
		if (!error)
			return PERF_LARGER;
		perf_area_free(&ring->larger);
		if (error != -ENOBUFS)
			break;
	}
	return PERF_GROWN;
}

/* The thread. A command has one event per CPU, so a ring is redirected as a whole or not at all. */
static void *perf_grow_thread(void *data)
{
	struct perf *perf = data;

	for (unsigned n = 0; n < perf->cpus; n++) {
		struct perf_ring *ring = &perf->rings[PERF_SAMPLES][n];

		if (__atomic_load_n(&ring->growth, __ATOMIC_ACQUIRE) == PERF_GROWING)
			/* Release: ->larger is complete. Pairs with the acquire in take_over(). */
			__atomic_store_n(&ring->growth, make_larger(perf, ring), __ATOMIC_RELEASE);
	}
	__atomic_store_n(&perf->grown, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Read the larger area from now on, and the former one while records may be on their way there. */
static void take_over(struct perf_ring *ring)
{
	if (__atomic_load_n(&ring->growth, __ATOMIC_ACQUIRE) != PERF_LARGER)
		return;
	ring->former = ring->area;
	ring->former_rounds = GROW_FORMER;
	ring->area = ring->larger;
	ring->growth = PERF_GROWN;
}

static void wait_for_thread(struct perf *perf)
{
	if (perf->growing)
		pthread_join(perf->grower, NULL);
	perf->growing = false;
}

void perf_grow(struct perf *perf)
{
	struct perf_ring *rings = perf->rings[PERF_SAMPLES];
	bool pending = false;

	for (unsigned n = 0; rings && n < perf->cpus; n++) {
		struct perf_ring *ring = &rings[n];

		if (ring->former_rounds && --ring->former_rounds == 0)
			perf_area_free(&ring->former);
		take_over(ring);
		if (__atomic_load_n(&ring->growth, __ATOMIC_RELAXED) == PERF_SMALL && ring->area.page &&
		    ring->area.page->data_tail >= ring->area.bytes / GROW_PART) {
			__atomic_store_n(&ring->growth, PERF_GROWING, __ATOMIC_RELEASE);
		}
		pending |= __atomic_load_n(&ring->growth, __ATOMIC_ACQUIRE) == PERF_GROWING;
	}
	if (perf->growing && __atomic_load_n(&perf->grown, __ATOMIC_ACQUIRE))
		wait_for_thread(perf);
	if (!pending || perf->growing)
		return;
	perf->grown = false;
	/* If that fails, the next round tries again. */
	perf->growing = pthread_create(&perf->grower, NULL, perf_grow_thread, perf) == 0;
}

void perf_grow_end(struct perf *perf)
{
	wait_for_thread(perf);
	for (unsigned n = 0; perf->rings[PERF_SAMPLES] && n < perf->cpus; n++) {
		struct perf_ring *ring = &perf->rings[PERF_SAMPLES][n];

		take_over(ring);
		ring->growth = PERF_GROWN;
	}
}
