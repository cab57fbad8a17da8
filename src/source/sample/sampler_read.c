/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Of the sampler: what is new in a ring, and what becomes of it when its turn has come. */
#include "source/sample/sampler_parts.h"

static void take_stop(struct sampler *sampler, const struct record *record)
{
	struct attributed place = { 0 };
	const enum sample_loss loss = sampler_place(sampler, record, &place);

	waits_stop(&sampler->waits, record, loss, &place);
}

/* A record in its turn. */
static void take_record(struct sampler *sampler, const struct perf_ring *ring, const void *bytes, size_t size)
{
	struct record record;

	record_parse(bytes, size, sampler->perf.sample_type, sampler->perf.registers, &record);
	switch (record.kind) {
	case RECORD_SAMPLE:
		if (ring->feed == PERF_STOPS)
			take_stop(sampler, &record);
		else
			sampler_put_sample(sampler, ring->cpu, &record);
		break;
	case RECORD_SWITCH:
		waits_switch(&sampler->waits, &record, ring->cpu);
		break;
	case RECORD_LOST:
		waits_gap(&sampler->waits, record.time);
		break;
	case RECORD_KERNEL_CODE:
		kernel_take(&sampler->kernel, &record);
		break;
	default:
		if (record.kind == RECORD_EXIT)
			waits_exit(&sampler->waits, &record);
		tasks_take(&sampler->tasks, &record, perf_ticks(&sampler->perf, record.time));
	}
}

void sampler_take_entry(void *data, const struct rounds_entry *entry)
{
	struct sampler *sampler = data;
	const struct perf *perf = &sampler->perf;

	take_record(sampler, &perf->rings[entry->ring / perf->cpus][entry->ring % perf->cpus], entry->record,
		    entry->bytes);
}

/* A record that comes too late to be put in order. Return: whether it is done with. */
static bool is_late(struct sampler *sampler, const struct perf_ring *ring, const struct record *record,
		    const char *bytes, size_t size)
{
	if (!rounds_late(&sampler->rounds, record->time))
		return false;
	if (ring->feed == PERF_SAMPLES) {
		sampler->totals.ledgers[SAMPLER_SAMPLES].lost[SAMPLE_LOST_LATE]++;
		return true;
	}
	sampler->totals.late++;
	if (ring->feed != PERF_SIDE) /* it goes before all that still waits */
		return false;
	take_record(sampler, ring, bytes, size); /* better late than never */
	return true;
}

/* What was lost lies between the record before, and the one that the kernel told it with. */
static uint64_t place_in_time(struct perf_ring *ring, const struct record *record)
{
	const uint64_t before = ring->latest;

	if (record->time > ring->latest)
		ring->latest = record->time;
	return record->kind == RECORD_LOST ? before : record->time;
}

/* A record as it is read: what needs no order is done at once. */
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

	record_parse(bytes, size, sampler->perf.sample_type, sampler->perf.registers, &record);
	ledger->received += sample;
	if (record.kind == RECORD_DAMAGED) {
		ledger->lost[SAMPLE_LOST_DAMAGED] += sample;
		return;
	}
	entry.time = place_in_time(ring, &record);
	if (record.kind == RECORD_LOST)
		ring->lost += record.lost;
	if (record.kind == RECORD_THROTTLE)
		totals->throttled++;
	if (record.kind == RECORD_OTHER || record.kind == RECORD_THROTTLE ||
	    (record.kind == RECORD_LOST && ring->feed != PERF_SWITCHES) ||
	    is_late(sampler, ring, &record, bytes, size))
		return;
	if (record.kind == RECORD_MAP) /* while the file is there */
		images_see(&sampler->images, record.pid, &record.map);
	if (rounds_add(&sampler->rounds, &entry) == 0)
		return;
	if (sample)
		ledger->lost[SAMPLE_LOST_WRITE]++;
	else
		ring->lost++;
}

/* What is new in a ring. By timer, what tells of tasks and mappings is of no CPU: it comes with the first. */
static struct rounds_chunk *take(struct sampler *sampler, struct perf_ring *ring, size_t *bytes,
				 unsigned *fill)
{
	if (!sampler->by_timer)
		return ring->page ? perf_ring_take(&sampler->perf, ring, &sampler->rounds, bytes, fill)
				  : NULL;
	if (ring->feed == PERF_SAMPLES)
		return timer_take(&sampler->timer, ring->cpu, &sampler->rounds, bytes, fill);
	return ring->cpu ? NULL
			 : timer_take(&sampler->timer, timer_sides(&sampler->timer), &sampler->rounds, bytes,
				      fill);
}

/* A length that cannot be spoils the rest of the ring. */
void sampler_read_ring(struct sampler *sampler, struct perf_ring *ring, unsigned *fullest)
{
	size_t bytes = 0;
	unsigned fill = 0;
	struct rounds_chunk *chunk = take(sampler, ring, &bytes, &fill);

	if (fill > *fullest)
		*fullest = fill;
	if (!chunk)
		return;
	for (size_t at = 0; at < bytes;) {
		const size_t size = bytes - at < RECORD_HEAD ? 0 : record_bytes(chunk->bytes + at);

		if (size < RECORD_HEAD || size > bytes - at) {
			sampler->totals.ledgers[SAMPLER_SAMPLES].received++;
			sampler->totals.ledgers[SAMPLER_SAMPLES].lost[SAMPLE_LOST_DAMAGED]++;
			break;
		}
		read_record(sampler, ring, chunk, chunk->bytes + at, size);
		at += size;
	}
	rounds_chunk_done(&sampler->rounds, chunk);
}
