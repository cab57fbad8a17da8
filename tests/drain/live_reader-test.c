/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading live (drain/live_reader.h): each record is visited once or counted as missed, and has the process of its thread. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "drain/live_reader.h"
#include "synthetic.h"

enum {
	ROUNDS = 200,
	MOST = 3000, /* records between two rounds: more than a ring holds */
};

static const struct session_options small = { .buffer_bytes = 64 << 10,
					      .packet_bytes = 4096,
					      .string_max = 999 };

/* The records of the first ring, as they are visited. */
struct visits {
	uint64_t next, count; /* the lowest number that may come */
	uint32_t pid;	      /* of the last */
	const char *bad;
};

static void visit_record(void *data, const struct live_event *event)
{
	struct visits *visits = data;
	const uint64_t number = number_load64(event->payload);

	if (number < visits->next)
		visits->bad = "a record from before, or for the second time";
	visits->next = number + 1;
	visits->count++;
	visits->pid = event->pid;
}

static const char *run_counts(struct synthetic *synthetic, struct random *random, bool stream)
{
	struct session_options options = small;
	struct live_reader live;
	struct visits visits = { 0 };
	uint64_t written;
	unsigned fullest;
	int error;

	options.mode = stream ? WIRE_MODE_STREAM : WIRE_MODE_FLIGHT;
	synthetic_begin(synthetic, &options);
	synthetic_write(synthetic, 0, (unsigned)random_below(random, MOST), 100);
	error = live_reader_begin(&live, &synthetic->session, NULL);
	visits.next = written = synthetic->written[0];
	for (unsigned n = 0; n < ROUNDS && !error && !visits.bad; n++) {
		synthetic_write(synthetic, 0, 1 + (unsigned)random_below(random, n % 9 ? 50 : MOST), 100);
		if (random_below(random, 3)) /* of a recorder, which gives packets back */
			error = drain_round(&synthetic->drain, &fullest);
		if (!error)
			error = live_reader_round(&live, visit_record, &visits);
	}
	written = synthetic->written[0] - written;
	if (!visits.bad && visits.count + live_reader_missed(&live) != written) {
		snprintf(synthetic->why, sizeof(synthetic->why), "%llu written, %llu visited, %llu missed",
			 (unsigned long long)written, (unsigned long long)visits.count,
			 (unsigned long long)live_reader_missed(&live));
		visits.bad = synthetic->why;
	}
	live_reader_free(&live);
	synthetic_finish(synthetic);
	return error ? strerror(-error) : visits.bad;
}

static void test_counts(bool stream, const char *name)
{
	struct synthetic synthetic;
	struct random random;
	const char *bad;

	if (!harness_begin_case(name, &random))
		return;
	bad = run_counts(&synthetic, &random, stream);
	synthetic_remove(&synthetic);
	harness_case(name, bad);
}

/* Writers that compact the names ring copy old names behind later ones. */
static void test_processes(void)
{
	static const char name[] =
		"live: a thread is of the process that announced it last, whatever is copied later";
	const uint32_t tid = (uint32_t)getpid();
	struct session_options options = small;
	struct visits visits = { 0 };
	struct synthetic synthetic;
	struct live_reader live;

	if (!harness_begin_case(name, NULL))
		return;
	options.mode = WIRE_MODE_FLIGHT;
	synthetic_begin(&synthetic, &options);
	if (session_announce_thread(&synthetic.writer, 7, tid, tid, "later", 200) != RING_DONE ||
	    session_announce_thread(&synthetic.writer, 6, tid, tid, "earlier", 100) != RING_DONE ||
	    live_reader_begin(&live, &synthetic.session, NULL) != 0)
		harness_die("no names");
	synthetic_write(&synthetic, 0, 1, 0);
	if (live_reader_round(&live, visit_record, &visits) != 0 || visits.count != 1)
		visits.bad = "the record was not visited";
	else if (visits.pid != 7)
		visits.bad = "it is of another process";
	live_reader_free(&live);
	synthetic_finish(&synthetic);
	synthetic_remove(&synthetic);
	harness_case(name, visits.bad);
}

int main(int argc, char **argv)
{
	harness_begin(argc, argv);
	test_counts(false, "live: each record is visited once or counted as missed");
	test_counts(true, "live: the same where a recorder gives packets back");
	test_processes();
	return harness_end();
}
