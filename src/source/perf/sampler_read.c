/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sampler reads rings, and processes the records in order of time; see sampler_read.h. */
#include <string.h>

#include "source/perf/sampler_put.h"
#include "source/perf/sampler_read.h"

enum {
	RAW_FLAGS = 2,			      /* offset of common_flags in a tracepoint's record */
	FLAGS_INTERRUPT = 0x08 | 0x10 | 0x40, /* there: in an interrupt, a soft interrupt, an NMI */
};

static void take_stop(struct sampler *sampler, const struct record *record)
{
	struct attributed context = { 0 };
	const enum wire_sample loss = sampler_attribute(sampler, record, &context);

	offcpu_stop(&sampler->waits, record, loss, &context);
}

/*
 * The thread that an interrupt has interrupted does not wake: only the kernel's part of the stack counts, and the thread is that of the
 * kernel with no id.
 */
static void take_away_thread(struct record *record)
{
	struct record_sample *sample = &record->sample;

	record->pid = record->tid = 0;
	sample->user = (struct record_user){ 0 };
	for (uint64_t n = 0; n < sample->chain_count; n++) {
		uint64_t address;

		memcpy(&address, &sample->chain[n], sizeof(address));
		if (address == PERF_CONTEXT_USER)
			sample->chain_count = n;
	}
}

static void take_wake(struct sampler *sampler, struct record *record, unsigned cpu)
{
	const struct record_sample *sample = &record->sample;
	struct offcpu_waker waker = { .time = record->time,
				      .cpu = cpu,
				      .context = { .ends = WIRE_TRUNCATIONS } };
	struct sample_task *sleeper;
	uint32_t woken;

	if (!sample->raw || sample->raw_bytes < sampler->perf.woken + sizeof(woken))
		return;
	memcpy(&woken, sample->raw + sampler->perf.woken, sizeof(woken));
	sleeper = offcpu_sleeper(&sampler->waits, woken, record->time);
	if (!sleeper)
		return;
	if (sample->raw[RAW_FLAGS] & FLAGS_INTERRUPT)
		take_away_thread(record);
	waker.loss = sampler_attribute(sampler, record, &waker.context);
	offcpu_wake(&sampler->waits, sleeper, &waker);
}

/* Process a record; they come in order of time. @entry: ->record, ->bytes and ->found count */
static void sampler_read_take_record(struct sampler *sampler, const struct perf_ring *ring,
				     const struct rounds_entry *entry)
{
	struct record record;

	record_parse(entry->record, entry->bytes, perf_sample_type(&sampler->perf, ring->feed),
		     sampler->perf.registers, &record);
	record.map.image = entry->found;
	sampler->attribution.last_ended = sampler->last_ended[ring->cpu];
	switch (record.kind) {
	case RECORD_SAMPLE:
		if (ring->feed == PERF_STOPS)
			take_stop(sampler, &record);
		else if (ring->feed == PERF_WAKES)
			take_wake(sampler, &record, ring->cpu);
		else
			sampler_put_sample(sampler, ring->cpu, &record);
		break;
	case RECORD_SWITCH:
		offcpu_switch(&sampler->waits, &record, ring->cpu);
		break;
	case RECORD_LOST:
		offcpu_gap(&sampler->waits, record.time);
		break;
	case RECORD_KERNEL_CODE:
		kernel_take(&sampler->kernel, &record);
		break;
	default:
		if (record.kind == RECORD_EXIT) {
			offcpu_exit(&sampler->waits, &record);
			sampler->last_ended[ring->cpu] = record.tid;
		}
		tasks_take(&sampler->tasks, &record, perf_ticks(&sampler->perf, record.time));
	}
}

void sampler_take_entry(void *data, const struct rounds_entry *entry)
{
	struct sampler *sampler = data;
	const struct perf *perf = &sampler->perf;

	sampler_read_take_record(sampler, &perf->rings[entry->ring / perf->cpus][entry->ring % perf->cpus],
				 entry);
}

/* Handle a record that is too late to be sorted. Return: whether nothing is left to do. */
static bool sampler_read_is_late(struct sampler *sampler, const struct perf_ring *ring,
				 const struct record *record, const struct rounds_entry *entry)
{
	if (!rounds_late(&sampler->rounds, record->time))
		return false;
	if (ring->feed == PERF_SAMPLES) {
		sampler->totals.ledgers[SAMPLER_SAMPLES].lost[WIRE_SAMPLE_LATE]++;
		return true;
	}
	sampler->totals.late++;
	if (ring->feed != PERF_SIDE) /* it is sorted before all records that wait */
		return false;
	sampler_read_take_record(sampler, ring, entry); /* late, but later samples need it */
	return true;
}

/* The time to sort by. Lost records lie between the record before and the LOST record: the earlier time counts. */
static uint64_t sort_time(struct perf_ring *ring, const struct record *record)
{
	const uint64_t before = ring->latest;

	if (record->time > ring->latest)
		ring->latest = record->time;
	return record->kind == RECORD_LOST ? before : record->time;
}

/* Handle a record as it is read. One that needs no order is processed at once, any other is queued. */
static void read_record(struct sampler *sampler, struct perf_ring *ring, struct rounds_chunk *chunk,
			const char *bytes, size_t size)
{
	struct sampler_totals *totals = &sampler->totals;
	struct sampler_ledger *ledger = &totals->ledgers[SAMPLER_SAMPLES];
	const bool sample = ring->feed == PERF_SAMPLES && record_kind_of(bytes) == RECORD_SAMPLE;
	struct rounds_entry entry = { .record = bytes,
				      .bytes = (uint32_t)size,
				      .ring = ring->feed * sampler->perf.cpus + ring->cpu,
				      .chunk = chunk };
	struct record record;

	record_parse(bytes, size, perf_sample_type(&sampler->perf, ring->feed), sampler->perf.registers,
		     &record);
	ledger->received += sample;
	if (record.kind == RECORD_DAMAGED) {
		ledger->lost[WIRE_SAMPLE_DAMAGED] += sample;
		return;
	}
	entry.time = sort_time(ring, &record);
	if (record.kind == RECORD_LOST)
		ring->lost += record.lost;
	if (record.kind == RECORD_THROTTLE)
		totals->throttled++;
	if (record.kind == RECORD_OTHER || record.kind == RECORD_THROTTLE ||
	    (record.kind == RECORD_LOST && ring->feed != PERF_SWITCHES) ||
	    sampler_read_is_late(sampler, ring, &record, &entry))
		return;
	if (record.kind == RECORD_MAP) /* at once, while the file exists */
		entry.found = images_find(&sampler->images, record.pid, &record.map);
	if (rounds_add(&sampler->rounds, &entry) == 0)
		return;
	if (sample)
		ledger->lost[WIRE_SAMPLE_WRITE]++;
	else
		ring->lost++;
}

/* Read a ring. The side band of the preload library has one ring for all CPUs: it is read with the first CPU. */
static struct rounds_chunk *sampler_read_take(struct sampler *sampler, struct perf_ring *ring,
					      const struct perf_area *area, size_t *bytes, unsigned *fill)
{
	if (!sampler->by_preload)
		return area->page ? perf_ring_take(&sampler->perf, ring->feed, area, &sampler->rounds, bytes,
						   fill)
				  : NULL;
	if (ring->feed == PERF_SAMPLES)
		return preload_reader_take(&sampler->preload, ring->cpu, &sampler->rounds, bytes, fill);
	return ring->cpu ? NULL
			 : preload_reader_take(&sampler->preload, preload_reader_side_band(&sampler->preload),
					       &sampler->rounds, bytes, fill);
}

/* Read an area. After a record of invalid length, the rest of the chunk is dropped. */
static void read_area(struct sampler *sampler, struct perf_ring *ring, const struct perf_area *area,
		      unsigned *fullest)
{
	size_t bytes = 0;
	unsigned fill = 0;
	struct rounds_chunk *chunk = sampler_read_take(sampler, ring, area, &bytes, &fill);

	if (fill > *fullest)
		*fullest = fill;
	if (!chunk)
		return;
	for (size_t at = 0; at < bytes;) {
		const size_t size = bytes - at < RECORD_HEAD ? 0 : record_bytes(chunk->bytes + at);

		if (size < RECORD_HEAD || size > bytes - at) {
			sampler->totals.ledgers[SAMPLER_SAMPLES].received++;
			sampler->totals.ledgers[SAMPLER_SAMPLES].lost[WIRE_SAMPLE_DAMAGED]++;
			break;
		}
		read_record(sampler, ring, chunk, chunk->bytes + at, size);
		at += size;
	}
	rounds_chunk_done(&sampler->rounds, chunk);
}

void sampler_read_ring(struct sampler *sampler, struct perf_ring *ring, unsigned *fullest)
{
	if (ring->former.page)
		read_area(sampler, ring, &ring->former, fullest);
	read_area(sampler, ring, &ring->area, fullest);
}
