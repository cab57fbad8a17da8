/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Traces that begin or end within a session: snapshots, windows of time, chunks. The test counts every written record, so
 * it can check kept + lost, and the first and last record of each trace.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/named.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"
#include "synthetic.h"

enum {
	RINGS = 2,
	TIMES_MAX = 1 << 17,
	RUNNING_BUFFER = 1 << 20, /* bytes of rings with running writers, which fill them in a few ms */
	RUNNING_PACKET = 16 << 10,
	/* a ring has at least so many of the last records */
	RUNNING_KEPT = (RUNNING_BUFFER - 2 * RUNNING_PACKET) / 32,
};

static const struct session_options small = { .buffer_bytes = 64 << 10,
					      .packet_bytes = 4096,
					      .string_max = 999 };

static uint64_t lost(const struct drain_totals *totals)
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += totals->lost[cause];
	return sum;
}

/* Take a snapshot of a synthetic session through a read-only mapping. */
static void take_snapshot(struct synthetic *synthetic, uint64_t since, char *path, size_t bytes,
			  struct drain_totals *totals)
{
	const struct drain_options options = { .since = since };
	static unsigned number;
	struct session session;
	char refused[NAMED_WHY];
	const char *why = "";
	int directory, file, error;

	snprintf(path, bytes, "%.200s-snapshot-%u", synthetic->trace,
		 __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
	file = session_file(AT_FDCWD, synthetic->session_path, false, &why);
	error = file < 0 ? file : session_look(&session, file, &why);
	if (error)
		harness_die("cannot map the session: %s", why);
	close(file);
	directory = named_directory(path, false, refused);
	error = drain_snapshot(&session, directory, &options, totals);
	close(directory);
	if (error)
		harness_die("no snapshot: %s", strerror(-error));
	session_leave(&session);
}

/* The records of one ring in a snapshot. */
struct seen {
	uint64_t count, first, last, latest;
	uint64_t *times; /* by number; may be NULL */
};

static void count_record(void *data, uint64_t number, uint64_t time)
{
	struct seen *seen = data;

	if (seen->count++ == 0)
		seen->first = number;
	seen->last = number;
	seen->latest = time;
	if (seen->times)
		seen->times[number] = time;
}

static const char *check_ring(struct synthetic *synthetic, const char *path, unsigned ring, struct seen *seen)
{
	uint64_t next = 0;

	return synthetic_check_stream(synthetic, path, ring, true, count_record, seen, &next);
}

/* The packet at the tail; NULL: the next record opens one. */
static struct wire_packet *open_packet(struct synthetic *synthetic, unsigned index)
{
	struct ring *ring = &synthetic->writer.rings[index];
	uint64_t position = ring->control->tail >> WIRE_TAIL_COUNT_BITS;

	if (!(position & ring->packet_mask))
		return NULL;
	return (struct wire_packet *)(ring->slots + ((position & ring->word_mask) & ~ring->packet_mask) * 8);
}

/* Move the open packet's time base back, so that the next record is an extended one. */
static void age_base(struct synthetic *synthetic, unsigned index)
{
	struct wire_packet *packet = open_packet(synthetic, index);

	if (packet)
		packet->base_time -= UINT64_C(1) << 33;
}

static void write_mixed(struct synthetic *synthetic, struct random *random, unsigned ring, unsigned records)
{
	while (records > 0) {
		unsigned some = 1 + (unsigned)random_below(random, records < 20 ? records : 20);

		if (synthetic->written[ring] && random_below(random, 3) == 0)
			age_base(synthetic, ring);
		synthetic_write(synthetic, ring, some, random_below(random, 2) ? 300 : 0);
		records -= some;
	}
}

/* ---- stopped writers ---- */

static const char *run_stopped(struct synthetic *synthetic, struct random *random, enum wire_mode mode)
{
	struct session_options options = small;
	struct drain_totals totals;
	uint64_t sum = 0, kept = 0;
	const char *bad = NULL;
	unsigned fullest;
	char path[300];

	options.mode = mode;
	synthetic_begin(synthetic, &options);
	for (unsigned n = 0; n < 6; n++) {
		write_mixed(synthetic, random, n % RINGS, (unsigned)random_below(random, 700) + 1);
		if (mode == WIRE_MODE_STREAM && random_below(random, 2))
			drain_round(&synthetic->drain, &fullest); /* a recorder reads too */
	}
	take_snapshot(synthetic, 0, path, sizeof(path), &totals);
	for (unsigned n = 0; n < RINGS && !bad; n++) {
		struct seen seen = { 0 };

		bad = check_ring(synthetic, path, n, &seen);
		if (!bad && seen.count && seen.last + 1 != synthetic->written[n])
			bad = "the last records are missing";
		/* In stream mode the recorder may have given back all packets but the open one. */
		if (!bad && synthetic->written[n] && seen.count == 0)
			bad = "there are no records";
		kept += seen.count;
		/* Records that the recorder has read are not lost. */
		sum += synthetic->refused[n] +
		       (mode == WIRE_MODE_FLIGHT ? synthetic->written[n] : seen.count);
	}
	if (!bad && (kept != totals.events || kept + lost(&totals) != sum))
		bad = "kept + lost differs from written";
	synthetic_remove_trace(path);
	synthetic_finish(synthetic);
	synthetic_remove(synthetic);
	return bad;
}

static void test_stopped(void)
{
	static const char *const names[] = {
		"snapshot: stream, beside a recorder: kept + lost = written - recorded",
		"snapshot: flight: kept + lost = written"
	};
	struct synthetic synthetic;

	for (enum wire_mode mode = WIRE_MODE_STREAM; mode <= WIRE_MODE_FLIGHT; mode++) {
		const char *bad = NULL;
		struct random random;

		if (!harness_begin_case(names[mode], &random))
			continue;
		for (unsigned n = 0; n < (harness.is_long ? 500u : 25u) && !bad; n++)
			bad = run_stopped(&synthetic, &random, mode);
		harness_case(names[mode], bad);
	}
}

/* ---- damage ---- */

/*
 * A foreign program may write any sequence number into a packet. A packet with losses follows the last one in the trace:
 * its number must not overflow, also not together with those of other chunks.
 */
static const char *run_sequence(struct synthetic *synthetic, uint64_t sequence)
{
	struct session_options options = small;
	struct drain_totals totals;
	struct seen seen = { 0 };
	struct wire_packet *packet;
	const char *bad;
	char path[300];

	options.mode = WIRE_MODE_FLIGHT;
	synthetic_begin(synthetic, &options);
	do {
		synthetic_write(synthetic, 0, 1, 0);
		packet = open_packet(synthetic, 0);
	} while (synthetic->written[0] < 200 || !packet);
	packet->sequence = sequence;
	take_snapshot(synthetic, 0, path, sizeof(path), &totals);
	bad = check_ring(synthetic, path, 0, &seen);
	if (!bad && (totals.events != seen.count || totals.lost[WIRE_LOST_CORRUPT] == 0))
		bad = "nothing counts as corrupt";
	synthetic_remove_trace(path);
	synthetic_finish(synthetic);
	synthetic_remove(synthetic);
	return bad;
}

static void test_sequence(void)
{
	static const uint64_t sequences[] = { UINT64_MAX, UINT64_MAX - 1, RING_SEQUENCE_MAX + 1 };
	static const char name[] =
		"snapshot: a packet with a sequence number that no ring reaches is corrupt";
	struct synthetic synthetic;
	const char *bad = NULL;

	if (!harness_begin_case(name, NULL))
		return;
	for (unsigned n = 0; n < sizeof(sequences) / sizeof(*sequences) && !bad; n++)
		bad = run_sequence(&synthetic, sequences[n]);
	harness_case(name, bad);
}

/* ---- windows ---- */

/* A window that begins at some record's time, or right after it, has exactly its records, and no losses. */
static const char *run_window(struct synthetic *synthetic, struct random *random, uint64_t *times)
{
	const unsigned ring = (unsigned)random_below(random, RINGS);
	struct seen all = { .times = times };
	struct drain_totals totals;
	uint64_t since = 0, wanted = 0;
	const char *bad;
	char path[300];

	take_snapshot(synthetic, 0, path, sizeof(path), &totals);
	bad = check_ring(synthetic, path, ring, &all);
	synthetic_remove_trace(path);
	if (bad || all.count < 2)
		return bad ? bad : "no records";
	if (random_below(random, 8)) {
		/* not the first record, so that the ring has the whole window and no record is lost */
		uint64_t k = all.first + 1 + random_below(random, all.count - 1);

		since = times[k] + random_below(random, 2);
		if (since == times[all.first])
			return NULL;
		for (uint64_t n = all.first; n <= all.last; n++)
			wanted += times[n] >= since;
	} else {
		since = ring_clock(); /* empty */
	}
	for (unsigned n = 0; n < RINGS; n++) {
		struct seen seen = { 0 };

		if (n == 0)
			take_snapshot(synthetic, since, path, sizeof(path), &totals);
		bad = bad ? bad : check_ring(synthetic, path, n, &seen);
		if (bad || n != ring)
			continue;
		if (seen.count != wanted ||
		    (wanted && (seen.last != all.last || seen.last - seen.first + 1 != wanted)))
			bad = "the window does not have exactly the records of its time";
	}
	if (!bad && lost(&totals) != 0) {
		snprintf(synthetic->why, sizeof(synthetic->why), "%llu records are lost in a complete window",
			 (unsigned long long)lost(&totals));
		bad = synthetic->why;
	}
	synthetic_remove_trace(path);
	return bad;
}

static void test_windows(void)
{
	static const char name[] = "snapshot: windows have exactly the records of their time";
	struct session_options options = small;
	struct synthetic synthetic;
	const char *bad = NULL;
	struct random random;
	uint64_t *times;

	if (!harness_begin_case(name, &random))
		return;
	times = calloc(TIMES_MAX, sizeof(*times));
	options.mode = WIRE_MODE_FLIGHT;
	for (unsigned n = 0; n < 8 && !bad; n++) {
		synthetic_begin(&synthetic, &options);
		/* Write to the rings in turn, so that each has records older than any window. */
		for (unsigned k = 0; k < 10; k++)
			write_mixed(&synthetic, &random, k % RINGS, n < 4 ? 60 : 300);
		for (unsigned k = 0; k < 20 && !bad; k++) {
			bad = run_window(&synthetic, &random, times);
			/* With many records, the other ring may not reach back to the window; its losses are right. */
			if (bad == synthetic.why && strstr(bad, "are lost"))
				bad = n < 4 ? bad : NULL;
			write_mixed(&synthetic, &random, k % RINGS, 5);
		}
		synthetic_finish(&synthetic);
		synthetic_remove(&synthetic);
	}
	harness_case(name, bad);
	free(times);
}

static void test_short_ring(void)
{
	static const char name[] =
		"snapshot: if the ring does not reach back to the window, overwritten records are lost";
	struct session_options options = small;
	struct synthetic synthetic;
	struct drain_totals totals;
	const char *bad = NULL;
	struct random random;
	char path[300];

	if (!harness_begin_case(name, &random))
		return;
	options.mode = WIRE_MODE_FLIGHT;
	synthetic_begin(&synthetic, &options);
	write_mixed(&synthetic, &random, 0, 3000);
	take_snapshot(&synthetic, 1, path, sizeof(path), &totals);
	if (totals.lost[WIRE_LOST_OVERWRITTEN] == 0 || totals.events + lost(&totals) != synthetic.written[0])
		bad = "overwritten records are not counted";
	synthetic_remove_trace(path);
	synthetic_finish(&synthetic);
	synthetic_remove(&synthetic);
	harness_case(name, bad);
}

/* ---- running writers ---- */

struct writer {
	struct synthetic *synthetic;
	unsigned ring;
	bool stop;
};

static void *write_main(void *data)
{
	struct writer *writer = data;

	while (!__atomic_load_n(&writer->stop, __ATOMIC_RELAXED))
		synthetic_write(writer->synthetic, writer->ring, 1, 0);
	return NULL;
}

struct recorder {
	struct synthetic *synthetic;
	bool stop;
};

static void *record_main(void *data)
{
	struct recorder *recorder = data;
	unsigned fullest;

	while (!__atomic_load_n(&recorder->stop, __ATOMIC_RELAXED))
		drain_round(&recorder->synthetic->drain, &fullest);
	return NULL;
}

/* Records written before the call are in the snapshot, counted as lost, or recorded. No record is later than the end. */
static const char *run_running(struct synthetic *synthetic, enum wire_mode mode)
{
	uint64_t before[RINGS], after[RINGS], began, kept = 0, at_least = 0;
	struct drain_totals totals;
	const char *bad = NULL;
	char path[300];

	for (unsigned n = 0; n < RINGS; n++) {
		before[n] = __atomic_load_n(&synthetic->written[n], __ATOMIC_ACQUIRE);
		at_least += before[n];
	}
	began = ring_clock();
	take_snapshot(synthetic, 0, path, sizeof(path), &totals);
	for (unsigned n = 0; n < RINGS; n++)
		after[n] = __atomic_load_n(&synthetic->written[n], __ATOMIC_ACQUIRE);
	if (totals.until < began || totals.until > ring_clock())
		bad = "it does not end at the moment of its call";
	for (unsigned n = 0; n < RINGS && !bad; n++) {
		struct seen seen = { 0 };

		bad = check_ring(synthetic, path, n, &seen);
		if (!bad && seen.latest > totals.until)
			bad = "a record is later than the end";
		/* If the snapshot did not get a CPU for long, later records may have overwritten these. */
		if (!bad && before[n] > 1 && mode == WIRE_MODE_FLIGHT &&
		    after[n] - before[n] < RUNNING_KEPT && (seen.count == 0 || seen.last + 1 < before[n] - 1))
			bad = "a record from before the call is neither in the snapshot nor overwritten";
		kept += seen.count;
	}
	if (!bad &&
	    (kept != totals.events || (mode == WIRE_MODE_FLIGHT && kept + lost(&totals) + RINGS < at_least)))
		bad = "kept and lost are less than written";
	if (!bad && (totals.lost[WIRE_LOST_CORRUPT] || totals.lost[WIRE_LOST_UNREAD]))
		bad = "records count as corrupt or unread";
	synthetic_remove_trace(path);
	return bad;
}

static void test_running(enum wire_mode mode, const char *name)
{
	const struct session_options options = {
		.mode = mode, .buffer_bytes = RUNNING_BUFFER, .packet_bytes = RUNNING_PACKET, .string_max = 99
	};
	struct recorder recorder = { 0 };
	struct writer writers[RINGS];
	struct synthetic synthetic;
	pthread_t threads[RINGS + 1];
	const char *bad = NULL;

	if (!harness_begin_case(name, NULL))
		return;
	synthetic_begin(&synthetic, &options);
	recorder.synthetic = &synthetic;
	for (unsigned n = 0; n < RINGS; n++) {
		writers[n] = (struct writer){ &synthetic, n, false };
		if (pthread_create(&threads[n], NULL, write_main, &writers[n]) != 0)
			harness_die("no thread");
	}
	if (mode == WIRE_MODE_STREAM && pthread_create(&threads[RINGS], NULL, record_main, &recorder) != 0)
		harness_die("no thread");
	for (unsigned n = 0; n < (harness.is_long ? 500u : 20u) && !bad; n++)
		bad = run_running(&synthetic, mode);
	for (unsigned n = 0; n < RINGS; n++) {
		__atomic_store_n(&writers[n].stop, true, __ATOMIC_RELAXED);
		pthread_join(threads[n], NULL);
	}
	__atomic_store_n(&recorder.stop, true, __ATOMIC_RELAXED);
	if (mode == WIRE_MODE_STREAM)
		pthread_join(threads[RINGS], NULL);
	synthetic_finish(&synthetic);
	if (mode == WIRE_MODE_STREAM && !bad)
		bad = synthetic_check(&synthetic, true);
	harness_case(name, bad);
	synthetic_remove(&synthetic);
}

/* ---- chunks ---- */

static const char *check_chunks(struct synthetic *synthetic, uint64_t *kept)
{
	uint64_t next[SYNTHETIC_RINGS] = { 0 };
	const char *bad = NULL;

	for (unsigned chunk = 1; chunk <= synthetic->totals.chunks && !bad; chunk++) {
		char path[CHUNKS_PATH];
		uint64_t before;

		chunks_path(synthetic->trace, chunk, path);
		for (unsigned n = 0; n < RINGS && !bad; n++) {
			before = next[n];
			bad = synthetic_check_stream(synthetic, path, n, false, NULL, NULL, &next[n]);
			*kept += next[n] - before;
		}
	}
	return bad;
}

static const char *run_chunks(struct synthetic *synthetic, struct random *random)
{
	const struct chunk_limits split = { .bytes = UINT64_C(1) << random_below(random, 16) };
	uint64_t kept = 0, sum = 0, refused = 0;
	struct session_options options = small;
	const char *bad;
	unsigned fullest;

	options.mode = WIRE_MODE_STREAM;
	synthetic_begin_split(synthetic, &options, split);
	for (unsigned round = 0; round < 30; round++) {
		for (unsigned n = 0; n < RINGS; n++)
			write_mixed(synthetic, random, n,
				    1 + (unsigned)random_below(random, round % 9 ? 100 : 2000));
		if (drain_round(&synthetic->drain, &fullest) != 0)
			return "a round failed";
	}
	if (synthetic_finish(synthetic) != 0)
		return "finishing failed";
	for (unsigned n = 0; n < RINGS; n++) {
		sum += synthetic->written[n];
		refused += synthetic->refused[n];
	}
	bad = check_chunks(synthetic, &kept);
	if (!bad && (kept != sum || synthetic->totals.events != sum || lost(&synthetic->totals) != refused)) {
		snprintf(synthetic->why, sizeof(synthetic->why),
			 "%llu written, %llu in the chunks, %llu reported; %llu refused, %llu lost",
			 (unsigned long long)sum, (unsigned long long)kept,
			 (unsigned long long)synthetic->totals.events, (unsigned long long)refused,
			 (unsigned long long)lost(&synthetic->totals));
		bad = synthetic->why;
	}
	return !bad && split.bytes < 4096 && synthetic->totals.chunks < 20 ? "there are too few chunks" : bad;
}

static void test_chunks(void)
{
	static const char name[] =
		"chunks: records and losses of all chunks add up to those of the recording";
	struct synthetic synthetic;
	const char *bad = NULL;
	struct random random;

	if (!harness_begin_case(name, &random))
		return;
	for (unsigned n = 0; n < (harness.is_long ? 300u : 15u) && !bad; n++) {
		bad = run_chunks(&synthetic, &random);
		synthetic_remove(&synthetic);
	}
	harness_case(name, bad);
}

int main(int argc, char **argv)
{
	harness_begin(argc, argv);
	test_stopped();
	test_sequence();
	test_windows();
	test_short_ring();
	test_running(WIRE_MODE_FLIGHT,
		     "snapshot: beside unpaced writers: complete up to its end, no later record");
	test_running(WIRE_MODE_STREAM, "snapshot: beside unpaced writers and a recorder, whose recording is "
				       "complete: no torn record, no later record");
	test_chunks();
	return harness_end();
}
