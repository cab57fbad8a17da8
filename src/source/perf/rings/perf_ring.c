/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads the kernel's rings and converts their clock; see perf.h.
 *
 * A ring has one writer, the kernel on its CPU, and one reader, this thread. struct perf_event_mmap_page
 * defines the protocol: the kernel moves data_head behind complete records, the reader moves data_tail behind
 * what it has read. Both only grow, and are masked for an access. The kernel overwrites nothing that is not
 * read; a record without room is counted as lost. So records are copied out first, and their room is given
 * back before they are attributed.
 *
 * Time. Where a session's ticks are CLOCK_MONOTONIC, the events use that clock and nothing is converted.
 * Where they are the TSC, and the kernel publishes its own clock as a function of it (->by_page), a sample's
 * time becomes ticks exactly. Otherwise the ticks are those of the last pair of both clocks, plus the
 * difference by the clock's rate. perf_update_clock() renews the pair in each round, so an error of the rate
 * does not grow.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "session/clock.h"
#include "wire/wire_session.h"
#include "source/perf/rings/perf.h"
#include "source/perf/rings/perf_grow.h"
#include "source/perf/rings/perf_record.h"

enum {
	PERF_RING_CALM = 33, /* percent: less does not shorten rounds, since we are woken at half */
};

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

void perf_woken(struct perf *perf)
{
	struct epoll_event events[16];

	while (epoll_wait(perf->wake, events, 16, 0) == 16)
		;
}

static const char *data_at(const struct perf_area *area, uint64_t at)
{
	return (const char *)area->page + area->page->data_offset + (at & (area->bytes - 1));
}

/* A record's length. With an invalid length it is all that is left, and later found to be damaged. */
static size_t length_at(const struct perf_area *area, uint64_t at, size_t left)
{
	const size_t length = left < RECORD_HEAD || at % RECORD_HEAD ? 0 : record_bytes(data_at(area, at));

	return length < RECORD_HEAD || length > left ? left : length;
}

/* Copy a record, which may wrap around the ring's end. Return: its length in the copy. */
static size_t copy_record(const struct perf *perf, uint64_t sample_type, const struct perf_area *area,
			  uint64_t at, size_t length, char *to)
{
	const char *from = data_at(area, at);
	const size_t front = min_size(length, area->bytes - (at & (area->bytes - 1)));

	if (front < length) {
		memcpy(to, from, front);
		memcpy(to + front, data_at(area, at + front), length - front);
		from = to;
	}
	return record_pack(to, from, length, sample_type, perf->registers);
}

struct rounds_chunk *perf_ring_take(const struct perf *perf, enum perf_feed feed,
				    const struct perf_area *area, struct rounds *rounds, size_t *bytes,
				    unsigned *fill)
{
	/* Acquire: the records are complete. Pairs with the kernel's barrier before it moves the head. */
	const uint64_t head = __atomic_load_n(&area->page->data_head, __ATOMIC_ACQUIRE),
		       tail = area->page->data_tail;
	struct rounds_chunk *chunk;
	size_t length;

	*fill = 0;
	if (head == tail || head - tail > area->bytes)
		return NULL;
	*fill = (unsigned)((head - tail) * 100 / area->bytes);
	*fill = *fill < PERF_RING_CALM ? 0 : *fill;
	chunk = rounds_chunk_make(rounds, head - tail);
	if (!chunk)
		return NULL;
	*bytes = 0;
	for (uint64_t at = tail; at < head; at += length) {
		length = length_at(area, at, head - at);
		*bytes += copy_record(perf, perf_sample_type(perf, feed), area, at, length,
				      chunk->bytes + *bytes);
	}
	/* Release: the bytes were read before the kernel may overwrite them. */
	__atomic_store_n(&area->page->data_tail, head, __ATOMIC_RELEASE);
	return chunk;
}

void perf_update_clock(struct perf *perf)
{
	struct clock_pair pair;

	if (perf->time.by_page || !perf->options.is_tsc)
		return;
	clock_read_pair(WIRE_CLOCK_TSC, &pair);
	perf->time.ticks = pair.ticks;
	perf->time.ns = pair.raw_ns;
}

uint64_t perf_ticks(const struct perf *perf, uint64_t time)
{
	const struct perf_time *clock = &perf->time;
	uint64_t ns;

	if (!perf->options.is_tsc)
		return time;
	if (clock->by_page) { /* time = zero + (ticks * mult >> shift) */
		ns = time - clock->zero;
		return (uint64_t)(((unsigned __int128)ns << clock->shift) / clock->mult);
	}
	if (time >= clock->ns)
		return clock->ticks +
		       (uint64_t)((unsigned __int128)(time - clock->ns) * perf->clock_hz / 1000000000);
	return clock->ticks - (uint64_t)((unsigned __int128)(clock->ns - time) * perf->clock_hz / 1000000000);
}

uint64_t perf_now(const struct perf *perf)
{
	const struct perf_time *clock = &perf->time;
	struct clock_pair pair;

	clock_read_pair(perf->options.is_tsc ? WIRE_CLOCK_TSC : WIRE_CLOCK_MONOTONIC, &pair);
	if (!clock->by_page)
		return pair.raw_ns;
	return clock->zero + (uint64_t)((unsigned __int128)pair.ticks * clock->mult >> clock->shift);
}

int64_t perf_ahead(const struct perf *perf)
{
	const struct perf_time *clock = &perf->time;
	struct clock_pair pair;

	if (!clock->by_page)
		return 0;
	clock_read_pair(WIRE_CLOCK_TSC, &pair);
	return (int64_t)(clock->zero +
			 (uint64_t)((unsigned __int128)pair.ticks * clock->mult >> clock->shift) -
			 pair.raw_ns);
}

void perf_start(struct perf *perf)
{
	/* Events of a command begin by themselves, when it executes (enable_on_exec). */
	if (perf->options.command && !perf->options.system && !perf->tree.open)
		return;
	for (unsigned n = 0; n < perf->source_count; n++)
		if (perf->sources[n].feed == PERF_SAMPLES)
			ioctl(perf->sources[n].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_stop(struct perf *perf)
{
	for (unsigned n = 0; n < perf->source_count; n++)
		if (perf->sources[n].feed != PERF_SIDE)
			ioctl(perf->sources[n].fd, PERF_EVENT_IOC_DISABLE, 0);
	perf_grow_end(perf);
}

uint64_t perf_lost(const struct perf *perf, enum perf_feed feed, unsigned cpu, uint64_t *counted)
{
	uint64_t lost = 0;

	for (unsigned n = 0; n < perf->source_count; n++) {
		uint64_t values[2] = { 0 }; /* count; lost, if ->counts_lost */

		if (perf->sources[n].feed != feed || perf->sources[n].cpu != cpu ||
		    read(perf->sources[n].fd, values, sizeof(values)) < 0)
			continue;
		*counted += values[0];
		lost += values[1];
	}
	/* Kernels without PERF_FORMAT_LOST (before 6.0) leave only the sum of the LOST records. */
	return lost > perf->rings[feed][cpu].lost ? lost : perf->rings[feed][cpu].lost;
}
