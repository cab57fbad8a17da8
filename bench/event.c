/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The writing side of the benchmarks: a program with tracepoints, built and linked like a user's program. Its modes
 * measure the cost of an event or make traces of a known size. bench/run runs it under `burin record` and collects its
 * output: `key value` lines.
 *
 *	event cost BLOCKS CPU	an event of two integers, one with a string, and an end of a span with an id, beside reads of the clock
 *	event shapes BLOCKS CPU	events of every shape (shapes.h), and reads of the clock
 *	event first COUNT CPU	the pauses at the start: the first event, and those that open a new packet
 *	event off BLOCKS CPU	an event that is switched off beside an empty loop
 *	event where BLOCKS CPU	bench.two, which gets a filter meanwhile, beside an event that is off
 *	event pair BLOCKS CPU CPU	each of two threads alone, and both at once
 *	event flood COUNT CPU...	COUNT events by each thread, as fast as it can
 *	event paced COUNT RATE CPU...	the same, RATE a second, a hundred or so at a time
 *	event mixed COUNT RATE CPU...	the same with five different events
 *	event storm COUNT PROCESSES	COUNT events by each of many processes that live at the same time
 *
 * `where` and `storm` print `ready` when other commands may run, and go on when their input ends.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <burin/burin.h>
#include <burin/control.h>

/* clang-format off */
#define SHAPE_BYTES                    BURIN_BYTES(shape_64, sizeof(shape_64))
#define SHAPE_FORMAT_none	  "nothing"
#define SHAPE_FORMAT_int               "a=%d"
#define SHAPE_FORMAT_ints4             "a=%d b=%d c=%d d=%d"
#define SHAPE_FORMAT_ints8             "a=%d b=%d c=%d d=%d e=%d f=%d g=%d h=%d"
#define SHAPE_FORMAT_double            "a=%g"
#define SHAPE_FORMAT_string12          "text=%s"
#define SHAPE_FORMAT_string40          "text=%s"
#define SHAPE_FORMAT_string200         "text=%s"
#define SHAPE_FORMAT_int_string12      "a=%d text=%s"
#define SHAPE_FORMAT_int_string40      "a=%d text=%s"
#define SHAPE_FORMAT_strings_int       "one=%s two=%s a=%d"
#define SHAPE_FORMAT_bytes64           "bytes=%p"
#define SHAPE_TRACE(name, ...)         BURIN_TRACE("bench." #name, SHAPE_FORMAT_##name, ##__VA_ARGS__)
/* clang-format on */
#include "shapes.h"

enum {
	THREADS_MAX = 64,
	PACE_NS = 20000, /* between the starts of two batches */
};

static const char twelve[] = "twelve bytes";

static double block_clock(void)
{
	return TIMING_BLOCK(TIMING_USE(timing_clock()));
}

static double block_empty(void)
{
	return TIMING_BLOCK(TIMING_USE(i));
}

static __attribute__((noinline)) double block_two(void)
{
	return TIMING_BLOCK(BURIN_TRACE("bench.two", "a=%u b=%u", i, ~i));
}

static __attribute__((noinline)) double block_string(void)
{
	return TIMING_BLOCK(BURIN_TRACE("bench.string", "text=%s", twelve));
}

static __attribute__((noinline)) double block_span(void)
{
	return TIMING_BLOCK(BURIN_SPAN_BEGIN(i, "bench.span", "a=%llu", (unsigned long long)~i));
}

/* The same record by an event. */
static __attribute__((noinline)) double block_ids(void)
{
	return TIMING_BLOCK(BURIN_TRACE("bench.ids", "span_id=%#llx a=%llu", (unsigned long long)i,
					(unsigned long long)~i));
}

static __attribute__((noinline)) double block_off(void)
{
	return TIMING_BLOCK(TIMING_USE(i); BURIN_TRACE("off.two", "a=%u b=%u", i, ~i));
}

static void mode_cost(unsigned blocks, int cpu)
{
	double medians[5];

	timing_pin(cpu);
	/* The ring's memory is allocated on its first lap. */
	for (unsigned n = 0; n < 20; n++)
		block_two();
	timing_turns(blocks,
		     (double (*const[])(void)){ block_clock, block_two, block_string, block_span, block_ids },
		     medians, 5);
	printf("clock_ns %.3f\ntwo_ns %.3f\nstring_ns %.3f\nspan_ns %.3f\nids_ns %.3f\n", medians[0],
	       medians[1], medians[2], medians[3], medians[4]);
}

/* The slowest of the first COUNT events on a CPU are those that allocate the memory of a packet. */
static void mode_first(unsigned count, int cpu)
{
	double *us = calloc(count, sizeof(*us));
	unsigned packets = count / 2700 + 1; /* of 64 KiB */

	if (!us)
		exit(1);
	timing_pin(cpu);
	for (unsigned i = 0; i < count; i++) {
		uint64_t begin = timing_ns();

		BURIN_TRACE("bench.two", "a=%u b=%u", i, ~i);
		us[i] = (double)(timing_ns() - begin) / 1000;
	}
	printf("first_us %.1f\n", us[0]);
	qsort(us, count, sizeof(*us), timing_compare);
	printf("opening_us %.1f\nslowest_us %.1f\n", us[count - packets / 2 - 1], us[count - 1]);
	free(us);
}

static void mode_off(unsigned blocks, int cpu)
{
	double medians[2];

	timing_pin(cpu);
	timing_turns(blocks, (double (*const[])(void)){ block_empty, block_off }, medians, 2);
	printf("empty_ns %.3f\noff_ns %.3f\n", medians[0], medians[1]);
}

static void let_others_look(void)
{
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

/* It also prints the number of records: with a filter that accepts events it would measure something else. */
static void mode_where(unsigned blocks, int cpu)
{
	struct burin_session_status before = { .size = sizeof(before) }, after = { .size = sizeof(after) };
	double medians[3];

	timing_pin(cpu);
	let_others_look();
	burin_status(&before);
	timing_turns(blocks, (double (*const[])(void)){ block_empty, block_off, block_two }, medians, 3);
	burin_status(&after);
	printf("empty_ns %.3f\noff_ns %.3f\nwhere_ns %.3f\n", medians[0], medians[1], medians[2]);
	printf("recorded %" PRIu64 "\non %u\n", after.written - before.written, after.on);
}

/* ---- threads --------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	void (*work)(struct worker *worker);
	int cpu;
	unsigned blocks;
	uint64_t count, rate, emitted;
	double *alone, *together; /* ns per event, a value for each block */
};

static struct worker workers[THREADS_MAX];
static unsigned worker_count;
static pthread_barrier_t barrier;

/* In turns: each thread alone, then all of them at once. */
static void work_pair(struct worker *worker)
{
	for (unsigned n = 0; n < 20; n++)
		block_two();
	for (unsigned block = 0; block < worker->blocks; block++) {
		for (unsigned n = 0; n < worker_count; n++) {
			pthread_barrier_wait(&barrier);
			if (worker == &workers[n])
				worker->alone[block] = block_two();
		}
		pthread_barrier_wait(&barrier);
		worker->together[block] = block_two();
	}
}

static void work_flood(struct worker *worker)
{
	for (uint64_t n = 0; n < worker->count; n++)
		BURIN_TRACE("bench.two", "a=%u b=%u", (unsigned)n, ~(unsigned)n);
	worker->emitted = worker->count;
}

/* Call `batch` with the number of the next event and of the first behind it, at a steady rate, by the clock. */
static void pace(struct worker *worker, void (*batch)(uint64_t from, uint64_t to))
{
	const uint64_t begin = timing_ns();
	uint64_t next = begin;

	while (worker->emitted < worker->count) {
		uint64_t due;

		while (timing_ns() < next)
			;
		/* After an interruption it catches up. */
		next += PACE_NS;
		due = (uint64_t)((double)(next - begin) * (double)worker->rate * 1e-9);
		if (due > worker->count)
			due = worker->count;
		batch(worker->emitted, due);
		worker->emitted = due;
	}
}

static void batch_two(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		BURIN_TRACE("bench.two", "a=%u b=%u", (unsigned)from, ~(unsigned)from);
}

/* Five events, of which one is a span's two ends. */
static void batch_mixed(uint64_t from, uint64_t to)
{
	static const char *const paths[] = { "/etc/passwd", "/usr/share/doc/README", "/tmp/x",
					     "/var/log/syslog" };

	for (; from < to; from++)
		switch (from % 5) {
		case 0:
			BURIN_TRACE("mixed.two", "a=%u b=%d", (unsigned)from, -(int)from);
			break;
		case 1:
			BURIN_BEGIN("mixed.work", "item=%" PRIu64, from);
			break;
		case 2:
			BURIN_TRACE("mixed.open", "path=%s fd=%d", paths[from / 5 % 4], (int)(from % 100));
			break;
		case 3:
			BURIN_END("mixed.work", "result=%d", 0);
			break;
		default:
			BURIN_COUNTER("mixed.depth", from % 64);
		}
}

static void work_paced(struct worker *worker)
{
	pace(worker, batch_two);
}

static void work_mixed(struct worker *worker)
{
	pace(worker, batch_mixed);
}

static void *run_worker(void *data)
{
	struct worker *worker = data;

	timing_pin(worker->cpu);
	pthread_barrier_wait(&barrier);
	worker->work(worker);
	return NULL;
}

static void run_workers(char **cpus, void (*work)(struct worker *), unsigned blocks, uint64_t count,
			uint64_t rate)
{
	while (cpus[worker_count] && worker_count < THREADS_MAX)
		worker_count++;
	pthread_barrier_init(&barrier, NULL, worker_count);
	for (unsigned n = 0; n < worker_count; n++) {
		workers[n] = (struct worker){
			.work = work, .cpu = atoi(cpus[n]), .blocks = blocks, .count = count, .rate = rate
		};
		workers[n].alone = calloc(blocks, sizeof(double));
		workers[n].together = calloc(blocks, sizeof(double));
		if (pthread_create(&workers[n].thread, NULL, run_worker, &workers[n]) != 0)
			exit(1);
	}
	for (unsigned n = 0; n < worker_count; n++)
		pthread_join(workers[n].thread, NULL);
}

/* ---- processes ------------------------------------------------------------- */

/* A child: emit the events, report to the parent, and wait until the parent closes the other pipe. */
static _Noreturn void storm_child(unsigned count, int done, int wait)
{
	char byte = 0;

	for (unsigned n = 0; n < count; n++)
		BURIN_TRACE("bench.two", "a=%u b=%u", n, ~n);
	if (write(done, &byte, 1) != 1 || read(wait, &byte, 1) != 0)
		_exit(1);
	_exit(0);
}

/* Return: events of all processes. */
static uint64_t mode_storm(unsigned count, unsigned processes)
{
	int done[2], wait_for[2], status;
	unsigned begun = 0, finished = 0;
	char byte;

	if (pipe(done) != 0 || pipe(wait_for) != 0)
		exit(1);
	for (; begun < processes; begun++) {
		pid_t child = fork();

		if (child < 0)
			break;
		if (child == 0) {
			close(wait_for[1]);
			storm_child(count, done[1], wait_for[0]);
		}
	}
	for (unsigned n = 0; n < begun; n++)
		finished += read(done[0], &byte, 1) == 1;
	printf("processes %u\n", finished);
	let_others_look();
	close(wait_for[1]);
	while (wait(&status) > 0)
		;
	return (uint64_t)count * finished;
}

/* ---- reports --------------------------------------------------------------- */

static void report_pair(unsigned blocks)
{
	double alone = 0, together = 0;

	for (unsigned n = 0; n < worker_count; n++) {
		alone += timing_median(workers[n].alone, blocks) / worker_count;
		together += timing_median(workers[n].together, blocks) / worker_count;
	}
	printf("alone_ns %.3f\ntogether_ns %.3f\n", alone, together);
}

static void report_emitted(uint64_t emitted)
{
	for (unsigned n = 0; n < worker_count; n++)
		emitted += workers[n].emitted;
	printf("emitted %" PRIu64 "\n", emitted);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[1] : "";
	const uint64_t count = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	const uint64_t begin = timing_ns();
	uint64_t emitted = 0;

	printf("traced %d\n", burin_active());
	if (strcmp(mode, "shapes") == 0)
		shapes_measure(timing_blocks(argv[2]), atoi(argv[3]));
	else if (strcmp(mode, "cost") == 0)
		mode_cost(timing_blocks(argv[2]), atoi(argv[3]));
	else if (strcmp(mode, "first") == 0)
		mode_first((unsigned)count, atoi(argv[3]));
	else if (strcmp(mode, "off") == 0)
		mode_off(timing_blocks(argv[2]), atoi(argv[3]));
	else if (strcmp(mode, "where") == 0)
		mode_where(timing_blocks(argv[2]), atoi(argv[3]));
	else if (strcmp(mode, "storm") == 0)
		emitted = mode_storm((unsigned)count, (unsigned)atoi(argv[3]));
	else if (strcmp(mode, "pair") == 0)
		run_workers(argv + 3, work_pair, timing_blocks(argv[2]), 0, 0);
	else if (strcmp(mode, "flood") == 0)
		run_workers(argv + 3, work_flood, 1, count, 0);
	else if (strcmp(mode, "paced") == 0 && argc > 4)
		run_workers(argv + 4, work_paced, 1, count, strtoull(argv[3], NULL, 10));
	else if (strcmp(mode, "mixed") == 0 && argc > 4)
		run_workers(argv + 4, work_mixed, 1, count, strtoull(argv[3], NULL, 10));
	else {
		fprintf(stderr, "Usage: event cost|shapes|off|where|pair BLOCKS CPU... | first COUNT CPU | "
				"flood COUNT CPU... | paced|mixed COUNT RATE CPU... | "
				"storm COUNT PROCESSES\n");
		return 2;
	}
	if (strcmp(mode, "pair") == 0)
		report_pair(timing_blocks(argv[2]));
	report_emitted(emitted);
	printf("seconds %.3f\n", (double)(timing_ns() - begin) * 1e-9);
	return 0;
}
