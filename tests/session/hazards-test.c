/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The hazards of the design, one by one, with real tracepoints, processes and signals. Hazard 4 is in
 * kill-test.c and ring/step-test.c, hazard 8 in scribble-test.c; hazard 5 also in ring/race-test.c.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"
#include "cases.h"
#include "ledger.h"

enum {
	CASE_MS = 500,
	CASE_LONG_MS = 20000,
	CASE_WAIT_MS = 30000, /* for what must have happened, on a machine that has other things to do */
};

static struct ledger ledger;

static unsigned case_ms(void)
{
	return harness.is_long ? CASE_LONG_MS : CASE_MS;
}

/* Read for a while, and until what the case is about has happened; then stop all threads. */
static void read_until(bool (*happened)(void))
{
	const uint64_t begin = harness_ns(), least = case_ms() * UINT64_C(1000000);
	const uint64_t most = least + CASE_WAIT_MS * UINT64_C(1000000);

	while (!ledger.why[0]) {
		const uint64_t passed = harness_ns() - begin;

		if (passed > most || (passed > least && (!happened || happened())))
			break;
		if (ledger_read(&ledger) < 100)
			usleep(200);
	}
	traced_stop();
}

static void begin(void)
{
	traced_begin();
	ledger_open(&ledger, cases_session());
}

/* The end of a case: the books, and that threads were announced. */
static const char *end(void)
{
	const char *why = ledger_balance(&ledger);

	if (why)
		return why;
	if (ledger.unannounced)
		return cases_why("thread %u recorded and was not announced", ledger.unannounced);
	harness_ok("%s (%s)", cases_name(), ledger_summary(&ledger));
	ledger_close(&ledger);
	return CASE_SAID;
}

static void collect_children(void)
{
	int status;
	pid_t pid;

	while ((pid = wait(&status)) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			snprintf(ledger.why, sizeof(ledger.why), "process %d ended with status %#x", (int)pid,
				 status);
}

/* ---- 1: preemption and migration ---- */

static void *migrate_and_trace(void *data)
{
	struct random random = { (uint64_t)(uintptr_t)data };
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint32_t writer = traced_writer();

	while (!traced_stopped()) {
		traced_pin((int)random_below(&random, (uint64_t)cpus));
		for (uint64_t n = random_below(&random, 300); n > 0; n--)
			traced_emit(writer);
	}
	return NULL;
}

static const char *hazard_1(void)
{
	const long threads = 3 * sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[64];

	begin();
	for (long n = 0; n < threads && n < 64; n++)
		pthread_create(&thread[n], NULL, migrate_and_trace,
			       (void *)(uintptr_t)random_next(cases_random()));
	read_until(NULL);
	for (long n = 0; n < threads && n < 64; n++)
		pthread_join(thread[n], NULL);
	return end();
}

/* ---- 2: signal handlers ---- */

static uint32_t
	handler_writers[3]; /* of SIGALRM, SIGUSR1, SIGUSR2: each may interrupt the others, none itself */

static void trace_in_handler(int signal_number)
{
	const int which = signal_number == SIGALRM ? 0 : signal_number == SIGUSR1 ? 1 : 2;
	const int saved = errno;

	errno = 4711;
	for (int n = 0; n <= which; n++)
		traced_emit(handler_writers[which]);
	if (errno != 4711)
		snprintf(ledger.why, sizeof(ledger.why), "a tracepoint changed errno to %d", errno);
	errno = saved;
}

static void trace_from_handlers(void)
{
	struct sigaction action = { .sa_handler = trace_in_handler, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 50 }, { 0, 50 } };

	for (int n = 0; n < 3; n++)
		handler_writers[n] = traced_writer();
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void *send_signals(void *data)
{
	const pthread_t *target = data;

	for (unsigned n = 0; !traced_stopped(); n++) {
		pthread_kill(*target, n & 1 ? SIGUSR1 : SIGUSR2);
		usleep(30);
	}
	return NULL;
}

static const char *hazard_2(void)
{
	pid_t pid;

	begin();
	pid = traced_fork();
	if (pid == 0) {
		const uint32_t writer = traced_writer();
		pthread_t self = pthread_self(), other;
		sigset_t all, before;

		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &before); /* of the other thread for good */
		trace_from_handlers();
		pthread_create(&other, NULL, send_signals, &self);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		while (!traced_stopped())
			traced_emit(writer);
		setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
		pthread_join(other, NULL);
		_exit(ledger.why[0] != 0);
	}
	read_until(NULL);
	collect_children();
	return end();
}

/* ---- 3: several processes ---- */

static void trace_until_stopped(void)
{
	const uint32_t writer = traced_writer();

	while (!traced_stopped())
		traced_emit(writer);
}

static void *trace_in_thread(void *data)
{
	(void)data;
	trace_until_stopped();
	return NULL;
}

/* A process that forks while another thread of it traces; each child traces a little. */
static void fork_and_trace(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, trace_in_thread, NULL);
	while (!traced_stopped()) {
		pid_t pid = traced_fork();

		if (pid == 0) {
			const uint32_t writer = traced_writer();

			for (int n = 0; n < 100; n++)
				traced_emit(writer);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		usleep(1000);
	}
	pthread_join(thread, NULL);
}

/* Another program that joins: this one, executed anew. */
static void join_and_trace(void)
{
	cases_exec("joiner");
	_exit(9);
}

static bool have_joined(void)
{
	return __atomic_load_n(&((struct wire_session *)ledger.view.base)->joined, __ATOMIC_RELAXED) >= 3;
}

static const char *hazard_3(void)
{
	begin();
	for (int n = 0; n < 2; n++)
		if (traced_fork() == 0)
			join_and_trace();
	if (traced_fork() == 0) {
		fork_and_trace();
		_exit(0);
	}
	read_until(have_joined);
	collect_children();
	if (!ledger.why[0] && !have_joined())
		return "the programs did not join";
	return end();
}

/* ---- 5: the reader meets writers ---- */

static bool have_overwritten(void)
{
	return ledger.overwritten > 0;
}

static const char *meet(bool must_lose)
{
	const char *why;

	begin();
	for (int n = 0; n < 3; n++) {
		if (traced_fork() == 0) {
			trace_until_stopped();
			_exit(0);
		}
	}
	read_until(must_lose ? have_overwritten : NULL);
	collect_children();
	why = end();
	if (why == CASE_SAID && must_lose && ledger.overwritten == 0)
		return "nothing was overwritten";
	return why;
}

static const char *hazard_5_overwrite(void)
{
	return meet(true);
}

static const char *hazard_5_discard(void)
{
	return meet(false);
}

/* ---- 6: stale bytes ---- */

/* Every slot is full of records that are whole, but were never written. */
static void fill_with_stale(void)
{
	const struct wire_geometry *geometry = &ledger.view.geometry;
	uint64_t bytes = (uint64_t)(geometry->cpus + geometry->locked) * geometry->ring_packets *
			 geometry->packet_bytes;
	char *at = ledger.view.base + geometry->rings_offset;
	struct __attribute__((packed)) {
		struct wire_compact header;
		uint32_t writer, epoch;
		uint64_t number, clock, sum;
		uint32_t padding;
	} record = { .header = { ledger.id_plain, 44, 12345, (uint32_t)getpid() },
		     .writer = TRACED_WRITERS - 1 };

	record.sum = traced_sum(record.writer, 0, 0, 0);
	for (; bytes >= sizeof(record); bytes -= sizeof(record), at += sizeof(record))
		memcpy(at, &record, sizeof(record));
}

static const char *hazard_6(void)
{
	begin();
	fill_with_stale();
	for (int n = 0; n < 2; n++) {
		if (traced_fork() == 0) {
			trace_until_stopped();
			_exit(0);
		}
	}
	read_until(NULL);
	collect_children();
	return end();
}

/* ---- 7: counters, clocks and CPUs ---- */

/* All rings as if they had been written and read up to some packets before the tail wraps. */
static void wind_forward(void)
{
	for (unsigned n = 0; n < session_names_index(&ledger.view); n++) {
		struct ring *ring = session_ring_use(&ledger.view, n);
		uint64_t position = (UINT64_C(1) << 40) - (2 + n) * ring->packet_words;
		uint64_t sequence = position / ring->packet_words - 1;

		*(struct wire_packet *)(ring->slots + (sequence * ring->packet_words & ring->word_mask) * 8) =
			(struct wire_packet){ .sequence = sequence };
		ring->control->consumed = sequence;
		ring->control->tail = position << WIRE_TAIL_COUNT_BITS;
		ledger.rings[n].cursor = (struct ring_cursor){ .sequence = sequence,
							       .offset = (uint32_t)ring->packet_words * 8 };
	}
}

static bool have_wrapped(void)
{
	for (unsigned n = 0; n < session_names_index(&ledger.view); n++)
		if (ledger.rings[n].known && ledger.view.rings[n].control->tail >> 63 == 0)
			return true;
	return false;
}

static const char *hazard_7_wrap(void)
{
	begin();
	wind_forward();
	if (traced_fork() == 0) {
		trace_until_stopped();
		_exit(0);
	}
	read_until(have_wrapped);
	collect_children();
	return have_wrapped() ? end() : "no tail has wrapped";
}

static uint64_t clock_steps(void)
{
	uint64_t steps = 0;

	for (unsigned n = 0; n < session_names_index(&ledger.view); n++)
		steps += __atomic_load_n(&ledger.view.rings[n].control->clock_steps, __ATOMIC_RELAXED);
	return steps;
}

/* The clock steps back: seen from a ring, its last record is in the future. */
static const char *hazard_7_clock(void)
{
	begin();
	ledger.times_loose = true;
	if (traced_fork() == 0) {
		trace_until_stopped();
		_exit(0);
	}
	for (unsigned n = 0; n < case_ms() / 2 || (clock_steps() == 0 && n < CASE_WAIT_MS / 2); n++) {
		ledger_read(&ledger);
		for (unsigned index = 0; index < session_names_index(&ledger.view); index++) {
			struct ring *ring = session_ring_view(&ledger.view, index);
			uint64_t position = ring ? ring->control->tail >> WIRE_TAIL_COUNT_BITS : 0;
			uint64_t packet = (position - 1) & ring->word_mask & ~ring->packet_mask;

			if (position)
				__atomic_fetch_add(
					&((struct wire_packet *)(ring->slots + packet * 8))->time_end,
					10000000, __ATOMIC_RELAXED);
		}
		usleep(2000);
	}
	traced_stop();
	collect_children();
	if (clock_steps() == 0 && !ledger.why[0])
		return "no clock step was counted";
	return end();
}

static bool both_known(void)
{
	uint64_t others = 0;

	for (unsigned n = 1; n < session_names_index(&ledger.view); n++)
		others += ledger.rings[n].known;
	return ledger.rings[0].known && others;
}

/* Processes on CPUs that the session knows and does not know. */
static const char *hazard_7_cpu(void)
{
	const char *why;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		harness_skip("%s: there is only one", cases_name());
		return CASE_SAID;
	}
	begin();
	if (ledger.view.geometry.cpus != 1) {
		harness_skip("%s: there are no rings of CPUs here", cases_name());
		return CASE_SAID;
	}
	for (int cpu = 0; cpu < 2; cpu++) {
		if (traced_fork() == 0) {
			traced_pin(cpu);
			trace_until_stopped();
			_exit(0);
		}
	}
	if (traced_fork() == 0) {
		migrate_and_trace((void *)(uintptr_t)random_next(cases_random()));
		_exit(0);
	}
	read_until(both_known);
	collect_children();
	why = ledger_balance(&ledger);
	if (why)
		return why;
	if (!both_known())
		return "no records on the known CPU, or none on others";
	return end();
}

/* Taking a CPU away disturbs everybody on the machine, and may cost it its clock: only for who asks for it.
 */
static const char *hazard_7_offline(void)
{
	static const char file[] = "/sys/devices/system/cpu/cpu1/online";
	FILE *online;

	if (!getenv("TEST_CPU_OFFLINE") || access(file, W_OK) != 0) {
		harness_skip("%s: %s", cases_name(),
			     access(file, W_OK) != 0 ? "no permission or no hotplug here"
						     : "set TEST_CPU_OFFLINE=1 on a machine of your own");
		return CASE_SAID;
	}
	begin();
	for (int n = 0; n < 3; n++) {
		if (traced_fork() == 0) {
			trace_until_stopped();
			_exit(0);
		}
	}
	for (int n = 0; n < 6; n++) {
		online = fopen(file, "w");
		if (online) {
			fprintf(online, "%d\n", n & 1);
			fclose(online);
		}
		for (int k = 0; k < 200; k++) {
			ledger_read(&ledger);
			usleep(500);
		}
	}
	traced_stop();
	collect_children();
	return end();
}

#define STREAM(buffer, packet) \
	.options = { .mode = WIRE_MODE_STREAM, .buffer_bytes = (buffer), .packet_bytes = (packet) }
#define FLIGHT(buffer, packet) \
	.options = { .mode = WIRE_MODE_FLIGHT, .buffer_bytes = (buffer), .packet_bytes = (packet) }

int main(int argc, char **argv)
{
#define MIGRATE "hazard 1: threads that migrate while they trace"
#define SIGNALS "hazard 2: signal handlers that trace"
#define SHARED	"hazard 3: processes on one ring, by fork and by joining"
#define COPIED	"hazard 5: a reader copies what is being overwritten"
	static const struct session_case cases[] = {
		{ .name = MIGRATE ", stream", .run = hazard_1, STREAM(16 << 20, 64 << 10) },
		{ .name = MIGRATE ", flight", .run = hazard_1, FLIGHT(64 << 10, 16 << 10) },
		{ .name = MIGRATE ", without rseq",
		  .run = hazard_1,
		  STREAM(16 << 20, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = SIGNALS, .run = hazard_2, STREAM(16 << 20, 64 << 10) },
		{ .name = SIGNALS ", without rseq",
		  .run = hazard_2,
		  STREAM(16 << 20, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = SHARED, .run = hazard_3, STREAM(16 << 20, 64 << 10) },
		{ .name = SHARED ", without rseq",
		  .run = hazard_3,
		  STREAM(16 << 20, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = COPIED, .run = hazard_5_overwrite, FLIGHT(16 << 10, 4 << 10) },
		{ .name = COPIED ", without rseq",
		  .run = hazard_5_overwrite,
		  FLIGHT(16 << 10, 4 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = "hazard 5: a reader frees what writers wait for",
		  .run = hazard_5_discard,
		  STREAM(16 << 10, 4 << 10) },
		{ .name = "hazard 6: stale bytes in every slot, flight",
		  .run = hazard_6,
		  FLIGHT(16 << 10, 4 << 10) },
		{ .name = "hazard 6: stale bytes in every slot, stream",
		  .run = hazard_6,
		  STREAM(64 << 10, 4 << 10) },
		{ .name = "hazard 7: the tail wraps", .run = hazard_7_wrap, STREAM(1 << 20, 16 << 10) },
		{ .name = "hazard 7: a clock that steps back",
		  .run = hazard_7_clock,
		  STREAM(4 << 20, 16 << 10) },
		{ .name = "hazard 7: a CPU that the session does not know",
		  .run = hazard_7_cpu,
		  STREAM(4 << 20, 64 << 10),
		  .cpus = 1 },
		{ .name = "hazard 7: a CPU goes and comes",
		  .run = hazard_7_offline,
		  STREAM(4 << 20, 64 << 10) },
	};
	const char *mode = getenv("TEST_ROLE");

	if (mode && strcmp(mode, "joiner") == 0) {
		traced_begin();
		trace_until_stopped();
		return 0;
	}
	return cases_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
