/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hazard 8: a process that scribbles over the session while others trace, record, join and announce
 * themselves. Whatever it writes, wherever: no process crashes or hangs, and when it has stopped and the
 * session is mended, tracing works.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "drain/drain.h"
#include "file/named.h"
#include "ledger.h"
#include "ring/ring_deps.h"

enum {
	PROCESSES_MAX = 8,
	HANG_S = 120, /* without progress */
	SEGMENT = 4096,
};

static struct session view;
static char *healthy; /* what lies before the rings, as it was */
static uint64_t healthy_bytes;
static uint32_t live_tid, dead_tid;
static char trace_path[200];
static uint32_t recorder_progress, joiner_progress; /* not writers, but noted on the board like one */

/* ---- who must survive ---- */

static uint32_t handler_writer;

static void trace_in_handler(int signal_number)
{
	(void)signal_number;
	traced_emit(handler_writer);
}

static void *trace_slowly(void *data)
{
	const uint32_t writer = traced_writer();

	(void)data;
	for (unsigned n = 1; !traced_stopped(); n++) {
		traced_emit(writer);
		if (n % 64 == 0)
			usleep(100);
	}
	return NULL;
}

static _Noreturn void be_traced(bool with_handler)
{
	pthread_t thread;

	if (with_handler) {
		handler_writer = traced_writer();
		signal(SIGALRM, trace_in_handler);
		setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 500 }, { 0, 500 } }, NULL);
	}
	pthread_create(&thread, NULL, trace_slowly, NULL);
	trace_slowly(NULL);
	pthread_join(thread, NULL);
	_exit(0);
}

/* Programs that join, trace a little, and go. */
static _Noreturn void be_joined(void)
{
	while (!traced_stopped()) {
		pid_t pid = traced_fork();
		int status;

		if (pid == 0) {
			if (freopen("/dev/null", "w", stderr)) /* it says that it is untraced: rightly */
				cases_exec("joiner");
			_exit(9);
		}
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
			fprintf(stderr, "a program that joined ended with status %#x\n", status);
			_exit(1);
		}
		board->writers[joiner_progress].completed++;
		usleep(20000);
	}
	_exit(0);
}

static int be_joiner(void)
{
	traced_begin();
	for (uint32_t n = 0, writer = traced_writer(); n < 20; n++)
		traced_emit(writer);
	return 0;
}

static _Noreturn void be_recorder(void)
{
	struct drain_totals totals;
	struct drain drain;
	unsigned fullest;
	char why[NAMED_WHY];
	int error = drain_begin(&drain, &view, named_directory(trace_path, false, why),
				&(struct drain_options){ .command = "scribble" });

	while (!error && !traced_stopped()) {
		error = drain_round(&drain, &fullest);
		__atomic_fetch_add(&board->writers[recorder_progress].completed, 1, __ATOMIC_RELAXED);
		usleep(2000);
	}
	if (!error)
		error = drain_finish(&drain, "exit 0", &totals);
	if (error)
		fprintf(stderr, "the recorder failed: %s\n", strerror(-error));
	_exit(error != 0);
}

/* ---- the scribbler ---- */

static uint64_t odd_value(struct random *random, uint64_t before)
{
	switch (random_below(random, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return before + random_below(random, 100);
	case 3:
		return before - random_below(random, 100);
	case 4:
		return before ^ UINT64_C(1) << random_below(random, 64);
	case 5: /* a position near the wrap, or in the middle of a record */
		return before + (random_below(random, 4096) << WIRE_TAIL_COUNT_BITS);
	default:
		return random_next(random) >> random_below(random, 64);
	}
}

static void scribble_word(struct random *random, uint64_t *word)
{
	__atomic_store_n(word, odd_value(random, *word), __ATOMIC_RELAXED);
}

static void scribble_bytes(struct random *random, uint64_t offset, uint64_t bytes)
{
	for (uint64_t n = 0; n < bytes && offset + n < view.geometry.file_bytes; n++)
		view.base[offset + n] = (char)random_next(random);
}

static uint32_t odd_tid(struct random *random)
{
	const uint32_t tids[] = {
		live_tid, dead_tid, 1, UINT32_MAX, 0x80000001, (uint32_t)random_next(random)
	};

	return tids[random_below(random, 6)];
}

/* The header of a packet that is probably the open one, or of any. */
static void scribble_header(struct random *random, unsigned index)
{
	struct ring *ring = &view.rings[index];
	uint64_t position = ring->control->tail >> WIRE_TAIL_COUNT_BITS & ring->word_mask;
	char *slots = view.base + (index == session_names_index(&view)
					   ? view.geometry.names_offset
					   : view.geometry.rings_offset + index * (ring->word_mask + 1) * 8);
	struct wire_packet *packet;

	if (random_below(random, 3) == 0)
		position = random_next(random) & ring->word_mask;
	packet = (struct wire_packet *)(slots + (position & ~ring->packet_mask) * 8);
	switch (random_below(random, 6)) {
	case 0:
		scribble_word(random, &packet->base_time);
		break;
	case 1:
		packet->base_offset = (uint32_t)random_next(random) >> random_below(random, 32);
		break;
	case 2:
		scribble_word(random, &packet->time_end);
		break;
	case 3:
		scribble_word(random, &packet->sequence);
		break;
	case 4:
		scribble_word(random, &packet->events_before);
		break;
	default:
		scribble_word(random, (uint64_t *)packet + random_below(random, sizeof(*packet) / 8));
		break;
	}
}

static void scribble_once(struct random *random)
{
	const unsigned index = (unsigned)random_below(random, view.ring_count);
	struct wire_ring *control = view.rings[index].control;

	switch (random_below(random, 12)) {
	case 0:
		scribble_word(random, &control->tail);
		break;
	case 1:
		scribble_word(random, &control->consumed);
		break;
	case 2:
		control->lock = odd_tid(random) | random_next(random) << 32;
		break;
	case 3:
		scribble_word(random, (uint64_t *)control + random_below(random, sizeof(*control) / 8));
		break;
	case 4:
	case 5:
		scribble_header(random, index);
		break;
	case 6: /* the event table */
		scribble_bytes(random, view.geometry.events_offset + random_below(random, 200),
			       1 + random_below(random, 40));
		break;
	case 7:
		scribble_bytes(random, view.geometry.text_offset + random_below(random, 400),
			       1 + random_below(random, 40));
		break;
	case 8:
		view.switches[random_below(random, 8)] = (uint8_t)random_next(random);
		break;
	case 9:
		((struct wire_session *)view.base)->events_lock = odd_tid(random);
		break;
	case 10: /* the session's own header */
		scribble_bytes(random, random_below(random, sizeof(struct wire_session)),
			       1 + random_below(random, 16));
		break;
	default: /* anywhere */
		scribble_bytes(random, random_below(random, view.geometry.file_bytes),
			       1 + random_below(random, SEGMENT));
		break;
	}
}

/* ---- watching ---- */

static pid_t pids[PROCESSES_MAX];
static unsigned process_count;

static void start(void (*be)(void))
{
	fflush(stdout);
	pids[process_count] = traced_fork();
	if (pids[process_count] == 0) {
		be();
		_exit(0);
	}
	process_count++;
}

static void be_traced_plainly(void)
{
	be_traced(false);
}

static void be_traced_with_handler(void)
{
	be_traced(true);
}

/* NULL if everybody lives. */
static const char *casualties(int flags)
{
	for (unsigned n = 0; n < process_count; n++) {
		int status;

		if (pids[n] && waitpid(pids[n], &status, flags) == pids[n]) {
			pids[n] = 0;
			if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
				return cases_why("process %u (0-2 traced, 3 recorder, 4 joining) ended with "
						 "status %#x",
						 n, status);
		}
	}
	return NULL;
}

/* Everybody has got further since `before`. */
static bool all_progressed(const uint64_t *before, uint32_t count)
{
	for (uint32_t n = 0; n < count; n++)
		if (__atomic_load_n(&board->writers[n].completed, __ATOMIC_RELAXED) - before[n] <
		    (n <= joiner_progress ? 0 : 4))
			return false;
	return true;
}

static void mend(void)
{
	memcpy(view.base, healthy, healthy_bytes);
}

/* One round: scribble, and see that everybody comes further. */
static const char *round_of(struct random *random, uint32_t lasting, unsigned number)
{
	const uint64_t begin = harness_ns();
	uint64_t before[64];
	const char *why;

	for (uint32_t n = 0; n < lasting; n++)
		before[n] = __atomic_load_n(&board->writers[n].completed, __ATOMIC_RELAXED);
	/* Some rounds once, and then watch; some all the while. */
	for (uint64_t n = 1 + random_below(random, 10); n > 0; n--)
		scribble_once(random);
	while (!all_progressed(before, lasting)) {
		if (number % 2)
			scribble_once(random);
		else
			usleep(200);
		why = casualties(WNOHANG);
		if (why)
			return why;
		if (harness_ns() - begin > HANG_S * UINT64_C(1000000000)) {
			for (uint32_t n = 0; n < lasting; n++)
				if (board->writers[n].completed == before[n])
					return cases_why(
						"writer %u (0 joining, 1 recorder) hangs in round %u", n,
						number);
		}
	}
	if (random_below(random, 4) == 0)
		mend();
	return NULL;
}

/* Wait until all have begun: 3 processes of two threads each, a handler, and the two numbers that are no
 * writers. */
static bool all_begun(uint32_t lasting)
{
	const uint64_t begin = harness_ns();

	while (__atomic_load_n(&board->used, __ATOMIC_RELAXED) < lasting)
		if (harness_ns() - begin > HANG_S * UINT64_C(1000000000))
			return false;
	return true;
}

static const char *scribble(void)
{
	const unsigned rounds = harness.is_long ? 20000 : 200;
	const uint64_t end = harness_ns() + (harness.is_long ? 300 : 4) * UINT64_C(1000000000);
	const char *why = "";
	const uint32_t lasting = 9;
	uint64_t records = 0;
	unsigned round;
	pid_t pid;
	int file;

	traced_begin();
	file = session_file(AT_FDCWD, cases_session(), true, &why);
	if (file < 0 || session_open(&view, file, &why) != 0)
		return why;
	close(file);
	healthy_bytes = view.geometry.rings_offset;
	healthy = malloc(healthy_bytes);
	memcpy(healthy, view.base, healthy_bytes);
	pid = traced_fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	dead_tid = (uint32_t)pid;
	live_tid = (uint32_t)getpid();
	snprintf(trace_path, sizeof(trace_path), "%s/burin-scribble-%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());

	joiner_progress = traced_writer();
	recorder_progress = traced_writer();
	start(be_traced_plainly);
	start(be_traced_with_handler);
	start(be_traced_plainly);
	start(be_recorder);
	why = all_begun(lasting) ? NULL : "the processes did not start";
	start(be_joined);
	for (round = 0; round < rounds && !why && harness_ns() < end; round++)
		why = round_of(cases_random(), lasting, round);
	mend();
	traced_stop();
	if (!why)
		why = casualties(0);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", trace_path, NULL);
		_exit(1);
	}
	wait(NULL);
	if (why)
		return why;
	for (uint32_t n = recorder_progress + 1; n < lasting; n++)
		records += board->writers[n].completed;
	harness_ok("%s: %u rounds; %llu records of 3 programs, %llu programs joined, %llu rounds of the "
		   "recorder",
		   cases_name(), round, (unsigned long long)records,
		   (unsigned long long)board->writers[joiner_progress].completed,
		   (unsigned long long)board->writers[recorder_progress].completed);
	return CASE_SAID;
}

#define OPTIONS(mode_) \
	.options = { .mode = (mode_), .buffer_bytes = 64 << 10, .packet_bytes = 4 << 10 }, .seconds = 900

int main(int argc, char **argv)
{
	static const struct session_case cases[] = {
		{ .name = "hazard 8: scribbling, stream", .run = scribble, OPTIONS(WIRE_MODE_STREAM) },
		{ .name = "hazard 8: scribbling, flight", .run = scribble, OPTIONS(WIRE_MODE_FLIGHT) },
		{ .name = "hazard 8: scribbling, without rseq",
		  .run = scribble,
		  OPTIONS(WIRE_MODE_STREAM),
		  .tunables = CASE_NO_RSEQ },
	};
	const char *mode = getenv("TEST_ROLE");

	if (mode && strcmp(mode, "joiner") == 0)
		return be_joiner();
	return cases_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
