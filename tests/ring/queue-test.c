/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Random operations on a ring against a plain queue (queue.h): appends of all sizes, a reader in between,
 * laps, another size at any moment, refused memory, a clock that jumps and steps back, a tail that wraps, slots full of stale records.
 *
 * Built twice: with a faked clock, so that everything can be predicted (QUEUE_FAKE; then also under the
 * sanitizers and for other processors), and with restartable sequences and the real clock. Each kind of
 * sabotage (canary) must be found.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue.h"
#include "ring/lock.h"
#include "ring/ring_deps.h"
#ifdef QUEUE_FAKE
#include "fake_world.h"
static struct fake_world world;
struct fake_world *fake_world = &world;
#ifdef QUEUE_KERNEL /* the kernel's flavour: one writer, which keeps its place */
#include "ring/section_place.h"
bool ring_clock_is_tsc; /* no: the world's clock is the monotonic one */
static struct ring_place place;
#endif
#else
#include "ring/section_rseq.h"
#endif

enum sabotage {
	SABOTAGE_NONE,
	SABOTAGE_FLIP,	    /* a bit of a record that is yet to be read */
	SABOTAGE_TAIL,	    /* the tail before the record is there */
	SABOTAGE_CLOSED,    /* the header over a closed packet's rest is not there */
	SABOTAGE_WHOLE,	    /* a slot that is written to, and whose packet keeps its sequence */
	SABOTAGE_UNCOUNTED, /* a loss that is not counted */
	SABOTAGE_KINDS
};

static const char *const sabotage_names[SABOTAGE_KINDS] = {
	[SABOTAGE_FLIP] = "a flipped bit",
	[SABOTAGE_TAIL] = "a tail that is ahead",
	[SABOTAGE_CLOSED] = "an unmarked rest",
	[SABOTAGE_WHOLE] = "a packet that is overwritten and keeps its sequence",
	[SABOTAGE_UNCOUNTED] = "an uncounted loss",
};

static uint32_t dead_tid; /* of a process that has ended */

static void make_dead_tid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	dead_tid = (uint32_t)pid;
}

#if defined(QUEUE_FAKE) && !defined(QUEUE_KERNEL)
/* The lock by itself: who may take it from whom. */
static void test_lock(void)
{
	const uint32_t alive = (uint32_t)getppid();
	uint64_t lock = 0, before;
	const char *why = NULL;

	if (!harness_begin_case("the lock", NULL))
		return;
	if (!lock_take(&lock, 5) || (uint32_t)lock != 5 || lock_take(&lock, 5))
		why = "a free lock is taken once";
	before = lock;
	lock_drop(&lock);
	if ((uint32_t)lock != 0 || !lock_take(&lock, alive) || lock <= before)
		why = "a lock that is dropped can be taken, and counts";
	if (lock_take(&lock, 5) || (lock_break_reused(&lock, 5), (uint32_t)lock != alive))
		why = "the lock of a living thread is left alone";
	lock = (lock & ~(uint64_t)UINT32_MAX) | dead_tid;
	if (!lock_take(&lock, 6) || (uint32_t)lock != 6)
		why = "the lock of a dead thread is taken over";
	lock_break_reused(&lock, 6); /* a dead thread had the id that we have now */
	if ((uint32_t)lock != 0)
		why = "the lock of a dead namesake is freed";
	harness_case("the lock", why);
}
#endif

static uint32_t choose_length(const struct queue *queue, struct random *random)
{
	const uint32_t most = queue->ring.record_max, least = sizeof(struct wire_compact);
	const uint64_t inside = queue->position % queue->ring.packet_words;
	const uint64_t rest = (queue->ring.packet_words - inside) * 8;
	uint64_t length;

	/* The largest seldom: they take their time to fill and compare. */
	switch (random_below(random, most > 8000 ? 64 : 16)) {
	case 0: /* anything */
		length = random_below(random, most + 1);
		break;
	case 1: /* the largest */
		length = most - random_below(random, 9);
		break;
	case 2: /* what just fits, or just not, or not with the full time */
		length = rest + 8 - random_below(random, 25);
		break;
	case 3:
	case 4:
		length = random_below(random, 600);
		break;
	default:
		length = least + random_below(random, 60);
		break;
	}
	return (uint32_t)(length < least ? least : length > most ? most : length);
}

#ifdef QUEUE_FAKE

static void move_clock(struct random *random)
{
	switch (random_below(random, 64)) {
	case 0: /* a long silence; exactly the limits, too */
		world.clock += (UINT64_C(1) << 32) - 2 + random_below(random, 4);
		break;
	case 1:
		world.clock += random_next(random) >> 24;
		break;
	case 2: /* it steps back */
		world.clock -= random_below(random, world.clock < 1 << 20 ? world.clock : 1 << 20);
		break;
	case 3:
		break;
	default:
		world.clock += random_below(random, 1000);
		break;
	}
}

#ifdef QUEUE_KERNEL

static void append(struct queue *queue, struct expected expected, struct random *random)
{
	static _Alignas(8) char buffer[QUEUE_BUFFER];
	struct ring_record record = queue_prepare(buffer, &expected);
	enum ring_result result = RING_DONE;

	move_clock(random);
	if (!section_place_put(&place, record)) {
		result = ring_append(&queue->ring, record);
		ring_place_find(&queue->ring, &place);
	}
	if (result == RING_FULL)
		ring_lose(&queue->ring, WIRE_LOST_FULL);
	queue_wrote(queue, expected, result, false, world.clock, 0, 0);
}

#else

/* The lock may be left over from a dead owner; a living owner keeps us out. */
static void append(struct queue *queue, struct expected expected, struct random *random)
{
	static _Alignas(8) char buffer[QUEUE_BUFFER];
	struct ring_record record = queue_prepare(buffer, &expected);
	enum ring_result result;

	move_clock(random);
	world.no_memory = random_below(random, 100) == 0;
	switch (random_below(random, 50)) {
	case 0:
		queue->control.lock = dead_tid;
		break;
	case 1:
		queue->control.lock = (uint32_t)getppid();
		if (ring_append_locked(&queue->ring, record, 1) != RING_BUSY)
			snprintf(queue->why, sizeof(queue->why), "a lock whose owner lives was taken");
		queue->control.lock = 0;
		break;
	case 2: /* our own: a signal handler in the append; it need not be asked whether we live */
		world.owner_asks = 0;
		queue->control.lock = 77;
		if (ring_append_locked(&queue->ring, record, 77) != RING_BUSY || world.owner_asks)
			snprintf(queue->why, sizeof(queue->why), "a thread took the lock that it holds");
		queue->control.lock = 0;
		break;
	default:
		break;
	}
	result = ring_append_locked(&queue->ring, record, (uint32_t)getpid());
	if ((uint32_t)queue->control.lock != 0)
		snprintf(queue->why, sizeof(queue->why), "the lock is still held after the append");
	if (result == RING_FULL)
		ring_lose(&queue->ring, WIRE_LOST_FULL);
	queue_wrote(queue, expected, result, world.no_memory, world.clock, 0, 0);
}

#endif
#else

/* A silence of more than 2^32 ticks, or a clock that steps: what the packet's header would look like then. */
static void disturb_times(struct queue *queue, struct random *random)
{
	const uint64_t word = (queue->control.tail >> WIRE_TAIL_COUNT_BITS) - 1;
	struct wire_packet *open =
		(struct wire_packet *)(queue->slots +
				       ((word & ~queue->ring.packet_mask) & queue->ring.word_mask) * 8);

	if (!queue->begun || queue->control.tail == 0)
		return;
	switch (random_below(random, 100)) {
	case 0:
		open->base_time -= UINT64_C(2) << 32;
		queue->base_time -= UINT64_C(2) << 32;
		break;
	case 1:
		open->time_end += 5000; /* about 2 us; the next records are held there */
		queue->time_end += 5000;
		break;
	default:
		break;
	}
}

static void append(struct queue *queue, struct expected expected, struct random *random)
{
	static _Alignas(8) char buffer[QUEUE_BUFFER];
	struct ring_record record = queue_prepare(buffer, &expected);
	enum ring_result result;
	uint64_t before;

	disturb_times(queue, random);
	before = ring_clock();
	do {
		result = section_rseq_put(&queue->ring, record);
		if (result == RING_ROOM || result == RING_GAP)
			result = ring_append(&queue->ring, record);
	} while (result == RING_MOVED);
	if (result == RING_FULL)
		ring_lose(&queue->ring, WIRE_LOST_FULL);
	queue_wrote(queue, expected, result, false, 0, before, ring_clock());
}

#endif

/* Return: whether it could be done now. */
static bool do_sabotage(struct queue *queue, enum sabotage kind, struct random *random)
{
	const uint64_t tail = queue->control.tail, position = tail >> WIRE_TAIL_COUNT_BITS;
	char *behind = queue->slots + (position & queue->ring.word_mask) * 8;
	uint32_t rest;

	switch (kind) {
	case SABOTAGE_FLIP: /* of the last record's last word; not where the ring has just come round */
		if (queue->in_packet < 2 || behind == queue->slots ||
		    queue->records[(queue->written - 1) % queue->room].length % 8)
			return false;
		behind[-1 - (long)random_below(random, 4)] ^= (char)(1 << random_below(random, 8));
		return true;
	case SABOTAGE_TAIL:
		if (position % queue->ring.packet_words == 0 ||
		    position % queue->ring.packet_words + 3 > queue->ring.packet_words)
			return false;
		queue->control.tail = tail + ((uint64_t)3 << WIRE_TAIL_COUNT_BITS) + 1;
		return true;
	case SABOTAGE_CLOSED: /* a packet whose rest was marked and that has not been read yet */
		if (!queue->begun || queue->cursor.sequence >= queue->sequence)
			return false;
		for (uint32_t at = sizeof(struct wire_packet); at < queue->ring.packet_words * 8; at += 8) {
			char *slot = queue->slots + queue->cursor.sequence * queue->ring.packet_words %
							    (queue->ring.word_mask + 1) * 8;

			memcpy(&rest, slot + at, 4);
			if (rest == WIRE_ID_CLOSED) {
				memset(slot + at, 0, 4);
				return true;
			}
		}
		return false;
	case SABOTAGE_WHOLE: {
		const uint64_t oldest = queue->sequence < 3 ? 0 : queue->sequence - 3;

		if (!queue->begun || queue->cursor.sequence > oldest || queue->cursor.offset)
			return false;
		memset(queue->slots + oldest % 4 * queue->ring.packet_words * 8 + sizeof(struct wire_packet),
		       1, 16);
		while (queue_read(queue))
			continue;
		return true;
	}
	case SABOTAGE_UNCOUNTED:
		queue->written++;
		return true;
	default:
		return true;
	}
}

/* What befalls a ring that is made larger and smaller. */
static void resize(struct queue *queue, struct random *random)
{
	enum ring_result result;

	switch (random_below(random, 60)) {
	case 0: /* anybody may store anything there */
		queue_resize(queue, (uint32_t)random_next(random));
		break;
	case 1:
	case 2:
		queue_resize(queue, (uint32_t)(4 + random_below(random, queue->ring.window)));
		break;
	case 3:
#ifdef QUEUE_KERNEL
		result = ring_switch_packet(&queue->ring);
		ring_place_find(&queue->ring, &place);
		queue_turned(queue, result, false, world.clock);
#elif defined(QUEUE_FAKE)
		world.no_memory = random_below(random, 10) == 0;
		result = ring_switch_packet_locked(&queue->ring, 4711);
		queue_turned(queue, result, world.no_memory, world.clock);
#else
		do
			result = ring_switch_packet(&queue->ring);
		while (result == RING_MOVED);
		queue_turned(queue, result, false, 0);
#endif
		break;
	case 4:
	case 5:
		queue_punch(queue);
		break;
	default:
		break;
	}
}

static void run(struct queue *queue, const struct queue_shape *shape, uint64_t seed, unsigned operations,
		enum sabotage kind)
{
	struct random random = { seed };
	bool to_do = kind != SABOTAGE_NONE;

	queue_init(queue, shape, random_next(&random));
#ifdef QUEUE_KERNEL
	place = (struct ring_place){ 0 };
#endif
#ifdef QUEUE_FAKE
	world = (struct fake_world){ .clock = random_next(&random) >> random_below(&random, 40) };
	if (shape->near_wrap)
		world.clock |= UINT64_C(1) << 40;
#endif
	for (unsigned n = 0; n < operations && !queue->why[0]; n++) {
		if (random_below(&random, 12) == 0) {
			for (uint64_t k =
				     random_below(&random, 1 + random_below(&random, 2 * shape->packets));
			     k > 0; k--)
				if (!queue_read(queue))
					break;
		}
		if (shape->packets > 4)
			resize(queue, &random);
		append(queue,
		       (struct expected){ .seed = random_next(&random),
					  .id = (uint16_t)(1 + random_below(&random, 4000)),
					  .tid = (uint32_t)random_next(&random),
					  .length = choose_length(queue, &random) },
		       &random);
		if (to_do && n >= operations / 2 && do_sabotage(queue, kind, &random))
			to_do = false;
	}
	queue_finish(queue);
#ifdef QUEUE_FAKE
	if (!queue->why[0] && queue->control.clock_steps != queue->steps)
		snprintf(queue->why, sizeof(queue->why), "%llu clock steps were counted, not %llu",
			 (unsigned long long)queue->control.clock_steps, (unsigned long long)queue->steps);
#endif
	if (kind != SABOTAGE_NONE && to_do)
		snprintf(queue->why, sizeof(queue->why), "(there was no chance for sabotage)");
}

static void report(const struct queue *queue, uint64_t seed)
{
	char why[300];

	if (!queue->why[0]) {
		harness_ok("%s (%llu written, %llu read, %llu overwritten, %llu discarded)", harness.name,
			   (unsigned long long)queue->written, (unsigned long long)queue->read,
			   (unsigned long long)queue->overwritten, (unsigned long long)queue->discarded);
		return;
	}
	snprintf(why, sizeof(why), "%s (round's seed 0x%llx)", queue->why, (unsigned long long)seed);
	harness_fail("%s: %s", harness.name, why);
}

static void run_shape(const struct queue_shape *shape)
{
	const char *wanted = getenv("TEST_ROUNDS");
	const unsigned rounds = wanted ? (unsigned)atoi(wanted) : harness.is_long ? 100 : 6;
	struct queue queue, sum = { 0 };
	struct random random;
	char name[100];
	uint64_t seed = 0;

	snprintf(name, sizeof(name), "%s, %u packets of %u%s%s", shape->overwrite ? "flight" : "stream",
		 shape->packets, shape->packet_bytes, shape->packets > 4 ? ", resized" : "",
		 shape->near_wrap ? ", the tail wraps" : "");
	if (!harness_begin_case(name, &random))
		return;
	for (unsigned n = 0; n < rounds && !sum.why[0]; n++) {
		seed = random_next(&random);
		run(&queue, shape, seed, 6000, SABOTAGE_NONE);
		sum.written += queue.written;
		sum.read += queue.read;
		sum.overwritten += queue.overwritten;
		sum.discarded += queue.discarded;
		memcpy(sum.why, queue.why, sizeof(sum.why));
		queue_free(&queue);
	}
	report(&sum, seed);
}

static void run_canaries(void)
{
	for (enum sabotage kind = SABOTAGE_NONE + 1; kind < SABOTAGE_KINDS; kind++) {
		const struct queue_shape shape = { .packet_bytes = 4096,
						   .packets = 4,
						   .overwrite = kind == SABOTAGE_WHOLE,
						   .locked = true };
		unsigned found = 0, rounds = 20;
		struct queue_shape here = shape;
		struct random random;
		struct queue queue;
		char name[100];

#ifndef QUEUE_FAKE
		here.locked = false;
		here.cpu = (uint32_t)sched_getcpu();
#endif
		snprintf(name, sizeof(name), "canary: %s is found", sabotage_names[kind]);
		if (!harness_begin_case(name, &random))
			continue;
		for (unsigned n = 0; n < rounds; n++) {
			run(&queue, &here, random_next(&random), 500, kind);
			found += queue.why[0] != 0;
			queue_free(&queue);
		}
		if (found == rounds)
			harness_ok("%s", name);
		else
			harness_fail("%s: only %u of %u times", name, found, rounds);
	}
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 4096, 65536 }, counts[] = { 4, 16 };

	harness_begin(argc, argv);
	make_dead_tid();
#ifdef QUEUE_KERNEL
#elif defined(QUEUE_FAKE)
	test_lock();
#else
	cpu_set_t here;

	if (!RING_HAVE_RSEQ || __rseq_size == 0) {
		harness_skip("queue with restartable sequences: there are none here");
		return harness_end();
	}
	CPU_ZERO(&here);
	CPU_SET((unsigned)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	ring_clock_source = WIRE_CLOCK_TSC;
#if RING_HAVE_RSEQ
	ring_rseq_offset = __rseq_offset;
#endif
#endif
	for (unsigned n = 0; n < 16; n++) {
		struct queue_shape shape = { .packet_bytes = sizes[n & 1],
					     .packets = counts[n >> 1 & 1],
					     .overwrite = n >> 2 & 1,
					     .near_wrap = n >> 3 & 1,
					     .locked = true };

#ifndef QUEUE_FAKE
		shape.locked = false;
		shape.cpu = (uint32_t)sched_getcpu();
#endif
		run_shape(&shape);
	}
	run_canaries();
	return harness_end();
}
