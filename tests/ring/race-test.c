/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writers and a reader that meet (hazard 5): threads append as fast as they can to one ring of few packets, a
 * reader copies while they lap it. Each record carries its writer, its number and a sum over itself.
 *
 * With restartable sequences (the writers share a CPU, the reader has another) and under the lock; built as
 * well with -fsanitize=thread, where the sequences, which the sanitizer cannot see, are left out.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "ring/copy.h"
#include "ring/ring.h"
#include "ring/ring_deps.h"
#include "ring/section_rseq.h"

enum {
	RACE_WRITERS = 2,
	RACE_PACKET = 4096,
	RACE_PACKETS = 4,
	RACE_WORDS_MAX = 40,
};

#ifdef __SANITIZE_THREAD__
/*
 * In this build ring/copy.c copies with this (memcpy is defined as race_copy there).
 *
 * In stream mode no thread writes below the tail, and the sanitizer watches every byte; only of the header, of
 * which writers may be storing times by atomic words, are atomic words read. In flight mode the reader copies
 * what is perhaps being overwritten, and throws it away when the second look says so: a race on
 * purpose, hidden from the sanitizer, which then watches the writers among themselves. That nothing torn is
 * believed is what the sums are for.
 */
static bool race_hidden;

void *race_copy(void *to, const void *from, size_t bytes);

__attribute__((no_sanitize("thread"))) static void copy_hidden(uint64_t *to, const volatile uint64_t *from,
							       size_t words)
{
	for (size_t n = 0; n < words; n++)
		to[n] = from[n];
}

void *race_copy(void *to, const void *from, size_t bytes)
{
	if (race_hidden)
		copy_hidden(to, from, bytes / 8);
	else if (bytes == sizeof(struct wire_packet))
		for (size_t n = 0; n < bytes / 8; n++)
			((uint64_t *)to)[n] = __atomic_load_n((const uint64_t *)from + n, __ATOMIC_RELAXED);
	else
		memcpy(to, from, bytes);
	return to;
}
#endif

struct race {
	struct ring ring;
	struct wire_ring control;
	struct wire_packet header;
	char *slots;
	uint64_t end_ns;
	bool rseq;
	int cpu; /* of the writers */
	uint64_t written[RACE_WRITERS], lost[RACE_WRITERS];
	unsigned running;

	uint64_t next[RACE_WRITERS];
	uint64_t read, overwritten;
	uint64_t read_time;
	char why[200];
};

struct writer {
	struct race *race;
	uint32_t number;
};

/* What a record holds: sum, number, then words that follow from both. */
static uint64_t word_of(uint32_t writer, uint64_t number, uint64_t index)
{
	return harness_mix(number * 64 + index + ((uint64_t)writer << 56));
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static enum ring_result append(struct race *race, struct ring_record record, uint32_t tid)
{
	enum ring_result result;

	for (unsigned tries = 0;; tries++) {
#if RING_HAVE_RSEQ
		if (race->rseq) {
			result = section_rseq_put(&race->ring, record);
			if (result == RING_ROOM || result == RING_GAP)
				result = ring_append(&race->ring, record);
		} else
#endif
			result = ring_append_locked(&race->ring, record, tid);
		if (result != RING_MOVED && result != RING_BUSY)
			return result;
		if (tries % 64 == 63)
			sched_yield();
	}
}

static void *write_records(void *data)
{
	struct writer *writer = data;
	struct race *race = writer->race;
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint64_t buffer[4 + RACE_WORDS_MAX];
	uint64_t number = 0, discarded = 0;

	if (race->rseq)
		pin(race->cpu);
	while (number % 256 || harness_ns() < race->end_ns) {
		const uint64_t words = 1 + harness_mix(number + writer->number) % RACE_WORDS_MAX;
		struct ring_record record = { buffer, (uint32_t)(12 + 4 + 8 + 8 * words) };

		buffer[2] = (uint64_t)writer->number << 32;
		buffer[3] = number;
		for (uint64_t n = 0; n < words; n++)
			buffer[4 + n] = word_of(writer->number, number, n);
		ring_prepare(buffer, (uint16_t)(1 + words), record.length, tid);
		if (append(race, record, tid) == RING_DONE) {
			number++;
		} else {
			discarded++;
			sched_yield();
		}
	}
	race->written[writer->number] = number;
	race->lost[writer->number] = discarded;
	__atomic_fetch_sub(&race->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

__attribute__((format(printf, 2, 3))) static bool wrong(struct race *race, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!race->why[0])
		vsnprintf(race->why, sizeof(race->why), format, args);
	va_end(args);
	return false;
}

static bool check_record(struct race *race, const char *at, uint32_t left)
{
	uint64_t words, number;
	struct wire_compact compact;
	uint32_t writer;

	memcpy(&compact, at, sizeof(compact));
	words = compact.id - 1u;
	if (words == 0 || words > RACE_WORDS_MAX || compact.length != 24 + 8 * words || compact.length > left)
		return wrong(race, "no record: id %u length %u", compact.id, compact.length);
	memcpy(&writer, at + 12, 4);
	memcpy(&number, at + 16, 8);
	for (uint64_t n = 0; n < words && writer < RACE_WRITERS; n++) {
		uint64_t word;

		memcpy(&word, at + 24 + 8 * n, 8);
		if (word != word_of(writer, number, n))
			return wrong(race, "record %llu of writer %u is torn", (unsigned long long)number,
				     writer);
	}
	if (writer >= RACE_WRITERS || number < race->next[writer] ||
	    (!race->ring.overwrite && number != race->next[writer]))
		return wrong(race, "writer %u: record %llu comes, expected %llu", writer,
			     (unsigned long long)number,
			     (unsigned long long)race->next[writer % RACE_WRITERS]);
	race->next[writer] = number + 1;
	race->read_time += (uint32_t)(compact.time - (uint32_t)race->read_time);
	race->read++;
	return true;
}

/* Return: whether something was read. */
static bool read_some(struct race *race, struct ring *reader, struct ring_cursor *cursor, char *copy)
{
	const struct wire_packet *header = (struct wire_packet *)copy;
	struct ring_piece piece;
	uint32_t at;

	if (ring_copy(reader, cursor, copy, &piece) <= 0)
		return false;
	if (piece.begin == sizeof(struct wire_packet)) {
		const uint64_t known = race->read + race->overwritten;

		if (header->sequence != piece.sequence || header->magic != WIRE_MAGIC)
			return wrong(race, "packet %llu has the header of another",
				     (unsigned long long)piece.sequence);
		if (header->events_before < known ||
		    (!race->ring.overwrite && header->events_before != known))
			return wrong(race, "packet %llu: %llu records before it, %llu known",
				     (unsigned long long)piece.sequence,
				     (unsigned long long)header->events_before, (unsigned long long)known);
		if (header->time_begin < race->read_time)
			return wrong(race, "packet %llu begins before the last record",
				     (unsigned long long)piece.sequence);
		race->overwritten += header->events_before - known;
		race->read_time = header->time_begin;
	}
	for (at = piece.begin; piece.end - at >= 8;) {
		struct wire_compact compact;

		memcpy(&compact, copy + at, 8);
		if (compact.id == WIRE_ID_CLOSED && piece.last)
			break;
		if (!check_record(race, copy + at, piece.end - at))
			return false;
		at += wire_stride(compact.length);
	}
	if (!race->ring.overwrite)
		ring_give_back(reader, cursor->sequence);
	return true;
}

/* @blind: the reader does not look whether it was overtaken (a canary) */
static void run(struct race *race, bool overwrite, bool rseq, int cpu, int reader_cpu, unsigned ms,
		bool blind)
{
	struct writer writers[RACE_WRITERS];
	pthread_t threads[RACE_WRITERS];
	struct ring_cursor cursor = { 0 };
	struct ring reader;
	char *copy = aligned_alloc(64, RACE_PACKET);
	bool more = true;

	*race = (struct race){
		.header = { .magic = WIRE_MAGIC }, .rseq = rseq, .cpu = cpu, .running = RACE_WRITERS
	};
	race->slots = mmap(NULL, RACE_PACKET * RACE_PACKETS, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	race->end_ns = harness_ns() + ms * UINT64_C(1000000);
	race->ring = (struct ring){ .control = &race->control,
				    .slots = race->slots,
				    .word_mask = RACE_PACKET * RACE_PACKETS / 8 - 1,
				    .packet_mask = RACE_PACKET / 8 - 1,
				    .ready_words = RACE_PACKET / 8,
				    .packet_words = RACE_PACKET / 8,
				    .window = RACE_PACKETS,
				    .record_max = RACE_PACKET - sizeof(struct wire_packet),
				    .overwrite = overwrite,
				    .locked = !rseq,
				    .header = &race->header,
				    .cpu = (uint32_t)cpu };
	if (race->slots == MAP_FAILED || !copy)
		harness_die("no memory");
#ifdef __SANITIZE_THREAD__
	race_hidden = overwrite;
#endif
	reader = race->ring;
	reader.overwrite &= !blind;
	if (rseq)
		pin(reader_cpu);
	for (uint32_t n = 0; n < RACE_WRITERS; n++) {
		writers[n] = (struct writer){ race, n };
		if (pthread_create(&threads[n], NULL, write_records, &writers[n]) != 0)
			harness_die("no threads");
	}
	while (!race->why[0] && (more || __atomic_load_n(&race->running, __ATOMIC_ACQUIRE)))
		more = read_some(race, &reader, &cursor, copy);
	while (race->why[0] && !overwrite && __atomic_load_n(&race->running, __ATOMIC_ACQUIRE))
		usleep(100); /* the writers time out by themselves */
	for (unsigned n = 0; n < RACE_WRITERS; n++)
		pthread_join(threads[n], NULL);
	while (read_some(race, &reader, &cursor, copy))
		continue;
	if (race->read + race->overwritten != race->written[0] + race->written[1])
		wrong(race, "%llu + %llu written, %llu read, %llu overwritten",
		      (unsigned long long)race->written[0], (unsigned long long)race->written[1],
		      (unsigned long long)race->read, (unsigned long long)race->overwritten);
	if (overwrite ? race->lost[0] + race->lost[1] : race->overwritten)
		wrong(race, "records were %s",
		      overwrite ? "discarded in flight mode" : "overwritten in stream mode");
	munmap(race->slots, RACE_PACKET * RACE_PACKETS);
	free(copy);
}

/* One case. */
static void try(const char *name, bool overwrite, bool rseq, unsigned ms)
{
	struct race race;
	char line[300];

	if (!harness_begin_case(name, NULL))
		return;
	run(&race, overwrite, rseq, 0, rseq ? 1 : 0, ms, false);
	snprintf(line, sizeof(line), "%s (%llu read, %llu overwritten, %llu discarded)", name,
		 (unsigned long long)race.read, (unsigned long long)race.overwritten,
		 (unsigned long long)(race.lost[0] + race.lost[1]));
	harness_case(line, race.why);
}

#if !defined(__SANITIZE_THREAD__)
static void run_canary(bool rseq)
{
	static const char name[] = "canary: a reader that does not look again is found";
	struct race race;

	if (!harness_begin_case(name, NULL))
		return;
	for (unsigned tries = 0; tries < 20; tries++) {
		race.why[0] = 0;
		run(&race, true, rseq, 0, 1, 200, true);
		if (race.why[0])
			break;
	}
	if (race.why[0])
		harness_ok("%s: %s", name, race.why);
	else
		harness_fail("%s: not once", name);
}
#endif

int main(int argc, char **argv)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned ms = argc > 2 ? 20000 : 700;
	cpu_set_t all;
	bool rseq = false;

	harness_begin(argc, argv);
	sched_getaffinity(0, sizeof(all), &all);
	ring_clock_source = WIRE_CLOCK_TSC;
#if RING_HAVE_RSEQ
	ring_rseq_offset = __rseq_offset;
#endif
	try("hazard 5: two writers discard while a reader copies, locked ring", false, false, ms);
	try("hazard 5: two writers lap a reader that copies, locked ring", true, false, ms);
#if RING_HAVE_RSEQ && !defined(__SANITIZE_THREAD__)
	rseq = __rseq_size != 0 && cpus > 1 && CPU_ISSET(0, &all) && CPU_ISSET(1, &all);
#endif
#if !defined(__SANITIZE_THREAD__)
	if (rseq) {
		try("hazard 5: two writers discard while a reader copies, restartable sequences", false, true,
		    ms);
		try("hazard 5: two writers lap a reader that copies, restartable sequences", true, true, ms);
	} else if (harness_begin_case("hazard 5: restartable sequences", NULL)) {
		harness_skip("hazard 5: restartable sequences: needs rseq and two CPUs (%ld here)", cpus);
	}
	run_canary(rseq);
#else
	(void)rseq;
	(void)cpus;
#endif
	return harness_end();
}
