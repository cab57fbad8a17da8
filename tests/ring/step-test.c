/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Death between any two instructions of the append to a locked ring (hazard 4, the plain sections and the
 * lock).
 *
 * A child that is about to append is single-stepped K instructions far and killed, for every K until it gets
 * through. What it leaves, the half-taken lock included, must be what the reference queue expects, with the
 * record in flight either there or not; and the next writer goes on from there. The clock is faked, so that a
 * silence of 2^32 ticks is real.
 *
 * The canaries are appends that are wrong in one place: a death there must be noticed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue.h"
#include "ring/ring_deps.h"

static struct fake_world world;
struct fake_world *fake_world = &world;

#ifdef __x86_64__

enum situation {
	SITUATION_PUT,
	SITUATION_TAKEOVER, /* the lock's owner is dead already */
	SITUATION_EXTEND,
	SITUATION_EXTEND_NO_ROOM, /* only the compact form would have fit */
	SITUATION_OPEN,
	SITUATION_OPEN_EXACT, /* the old packet has no rest */
	SITUATION_FIRST,      /* nothing was ever written */
	SITUATION_LAP,	      /* the new packet's slot has been used before */
	SITUATION_SHORTER,    /* the lap ends early, since the ring has become smaller */
	SITUATION_LONGER,     /* a slot that was not in use in the lap before */
	SITUATION_FULL,
	SITUATIONS
};

static const char *const names[SITUATIONS] = {
	[SITUATION_PUT] = "put",
	[SITUATION_TAKEOVER] = "put with a dead owner's lock",
	[SITUATION_EXTEND] = "extend",
	[SITUATION_EXTEND_NO_ROOM] = "extend without room",
	[SITUATION_OPEN] = "open",
	[SITUATION_OPEN_EXACT] = "open behind a full packet",
	[SITUATION_FIRST] = "the first record",
	[SITUATION_LAP] = "open in a used slot",
	[SITUATION_SHORTER] = "open at a lap's early end, which the next writer does not find there",
	[SITUATION_LONGER] = "open in a slot that is new",
	[SITUATION_FULL] = "discard",
};

enum canary {
	CANARY_NONE,
	CANARY_PUBLISH_FIRST,	  /* the tail before the record */
	CANARY_BASE_TIME_FIRST,	  /* the time base before it is void */
	CANARY_BASE_NEVER_VOID,	  /* ... and without that at all */
	CANARY_REST_AFTER_COMMIT, /* the old packet's rest is closed when the new packet exists already */
	CANARIES
};

static const char *const canary_names[CANARIES] = {
	[CANARY_PUBLISH_FIRST] = "publish before fill",
	[CANARY_BASE_TIME_FIRST] = "a base that moves before it is void",
	[CANARY_BASE_NEVER_VOID] = "a base that is never void",
	[CANARY_REST_AFTER_COMMIT] = "a rest that is closed too late",
};

/* The wrong appends. Each commits with the tail that the right one would store. */
static void broken_append(struct queue *queue, struct ring_record record, enum canary kind)
{
	struct ring *ring = &queue->ring;
	const uint64_t tail = queue->control.tail, word = tail >> WIRE_TAIL_COUNT_BITS;
	const uint64_t words = wire_stride(record.length) / 8;
	volatile char *at = queue->slots + (word & ring->word_mask) * 8;
	volatile struct wire_packet *packet =
		(struct wire_packet *)(queue->slots + ((word & ring->word_mask) & ~ring->packet_mask) * 8);
	const volatile char *from = record.buffer;
	uint32_t extended[4] = { WIRE_ID_EXTENDED | (record.length + 8) << 16,
				 *(uint16_t *)((char *)record.buffer + 8), (uint32_t)world.clock,
				 (uint32_t)(world.clock >> 32) };
	const uint32_t offset = (uint32_t)(word & ring->packet_mask) * 8;

	switch (kind) {
	case CANARY_PUBLISH_FIRST:
		__atomic_store_n(&queue->control.tail, tail + (words << WIRE_TAIL_COUNT_BITS) + 1,
				 __ATOMIC_SEQ_CST);
		packet->time_end = world.clock;
		*(volatile uint32_t *)at = *(const volatile uint32_t *)(from + 8);
		*(volatile uint32_t *)(at + 4) = (uint32_t)world.clock;
		for (uint64_t n = 16; n < words * 8 + 8; n += 8)
			*(volatile uint64_t *)(at + n - 8) = *(const volatile uint64_t *)(from + n);
		break;
	case CANARY_BASE_TIME_FIRST:
	case CANARY_BASE_NEVER_VOID:
		packet->base_time = world.clock;
		if (kind == CANARY_BASE_TIME_FIRST)
			packet->base_offset = offset;
		packet->time_end = world.clock;
		for (unsigned n = 0; n < 4; n++)
			((volatile uint32_t *)at)[n] = extended[n];
		for (uint64_t n = 16; n < words * 8 + 8; n += 8)
			*(volatile uint64_t *)(at + n) = *(const volatile uint64_t *)(from + n);
		__atomic_store_n(&queue->control.tail, tail + ((words + 1) << WIRE_TAIL_COUNT_BITS) + 1,
				 __ATOMIC_SEQ_CST);
		break;
	default: { /* CANARY_REST_AFTER_COMMIT: run the right one, then pretend that the rest comes last */
		char stale[24];
		struct ring mine = *ring;
		uint64_t after;

		memcpy(stale, (const void *)at, sizeof(stale));
		ring_append_locked(&mine, record, (uint32_t)getpid());
		after = queue->control.tail;
		queue->control.tail = tail;
		memcpy((void *)at, stale, 8);
		__atomic_store_n(&queue->control.tail, after, __ATOMIC_SEQ_CST);
		*(volatile uint32_t *)at = WIRE_ID_CLOSED;
		break;
	}
	}
}

static volatile uint32_t *done; /* shared: the child has come through */
static uint32_t dead_tid;
static struct expected inflight;
static _Alignas(8) char buffer[QUEUE_BUFFER];

/* An append by this process, known to the reference. */
static void append(struct queue *queue, uint64_t seed, uint32_t length)
{
	struct expected expected = { .seed = seed, .id = 9, .tid = 99, .length = length };
	struct ring_record record = queue_prepare(buffer, &expected);
	enum ring_result result = ring_append_locked(&queue->ring, record, (uint32_t)getpid());

	if (result == RING_BUSY) {
		snprintf(queue->why, sizeof(queue->why), "the dead writer's lock cannot be taken");
		return;
	}
	if (result == RING_FULL)
		ring_lose(&queue->ring, WIRE_LOST_FULL);
	queue_wrote(queue, expected, result, false, world.clock, 0, 0);
}

static uint64_t rest_of(const struct queue *queue)
{
	return (queue->ring.packet_words - queue->position % queue->ring.packet_words) * 8;
}

/* Bring a fresh ring to where the append that will be killed meets the situation; decide its length. */
static void arrange(struct queue *queue, enum situation situation, struct random *random)
{
	const uint32_t small = 12 + (uint32_t)random_below(random, 60);

	inflight = (struct expected){ .seed = random_next(random), .id = 8, .tid = 88, .length = small };
	if (situation == SITUATION_FIRST)
		return;
	for (uint64_t n = 1 + random_below(random, 8); n > 0; n--, world.clock += 10)
		append(queue, random_next(random), 12 + (uint32_t)random_below(random, 200));
	if (situation == SITUATION_EXTEND_NO_ROOM ||
	    situation == SITUATION_OPEN) /* short, or there are steps without end */
		append(queue, random_next(random),
		       (uint32_t)(rest_of(queue) - 32 - random_below(random, 40)));
	switch (situation) {
	case SITUATION_TAKEOVER:
		queue->control.lock = dead_tid;
		break;
	case SITUATION_EXTEND:
		world.clock += UINT64_C(1) << 32;
		break;
	case SITUATION_EXTEND_NO_ROOM:
		inflight.length = (uint32_t)rest_of(queue);
		world.clock += UINT64_C(3) << 32;
		break;
	case SITUATION_OPEN:
		inflight.length = (uint32_t)(rest_of(queue) + 1);
		break;
	case SITUATION_OPEN_EXACT:
		append(queue, random_next(random), (uint32_t)rest_of(queue));
		break;
	case SITUATION_LAP:
		for (int n = 0; n < 5; n++) {
			append(queue, random_next(random), 3000);
			while (queue_read(queue))
				continue;
		}
		append(queue, random_next(random), (uint32_t)(rest_of(queue) - 32));
		inflight.length = (uint32_t)(rest_of(queue) + 1);
		break;
	case SITUATION_SHORTER: /* in the slot 5 of a second lap */
	case SITUATION_LONGER:
		queue_resize(queue, 6);
		while (queue->lap == 0 ||
		       queue->sequence < queue->lap + (situation == SITUATION_SHORTER ? 4 : 5)) {
			append(queue, random_next(random), 3000);
			while (!queue->ring.overwrite && queue_read(queue))
				continue;
		}
		queue_resize(queue, situation == SITUATION_SHORTER ? 4 : 8);
		append(queue, random_next(random), (uint32_t)(rest_of(queue) - 32));
		inflight.length = (uint32_t)(rest_of(queue) + 1);
		break;
	case SITUATION_FULL:
		while (queue->discarded == 0)
			append(queue, random_next(random), 3000);
		inflight.length = 3000;
		break;
	default:
		break;
	}
}

/* Fork a child, stop it at the append, let it do `steps` instructions, kill it. Return: whether it had come
 * through. */
static bool die_after(struct queue *queue, unsigned steps, enum canary canary)
{
	struct ring_record record = queue_prepare(buffer, &inflight);
	int status;
	pid_t pid;

	*done = 0;
	pid = fork();
	if (pid == 0) {
		const uint32_t tid = (uint32_t)getpid();
		struct ring ring = queue->ring; /* its own */

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		__asm__ __volatile__("int3" ::: "memory");
		if (canary)
			broken_append(queue, record, canary);
		else
			ring_append_locked(&ring, record, tid);
		*done = 1;
		for (;;)
			continue;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		harness_die("no child to kill");
	for (unsigned n = 0; n < steps && !*done; n++)
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid)
			harness_die("the child cannot be stepped");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return *done;
}

/* Return: whether the child came through. */
static bool one(struct queue *queue, enum situation situation, bool overwrite, unsigned steps, uint64_t seed,
		enum canary canary)
{
	const bool resized = situation == SITUATION_SHORTER || situation == SITUATION_LONGER;
	const struct queue_shape shape = {
		.packet_bytes = 4096, .packets = resized ? 8 : 4, .overwrite = overwrite, .locked = true
	};
	struct random random = { seed };
	uint64_t tail;
	bool through;

	world = (struct fake_world){ .clock = 12345 + (random_next(&random) >> 8) };
	queue_init(queue, &shape, random_next(&random));
	arrange(queue, situation, &random);
	tail = queue->control.tail;
	through = die_after(queue, steps, canary);
	random.state += steps; /* what follows is another story each time */
	if (queue->control.tail != tail)
		queue_wrote(queue, inflight, RING_DONE, false, world.clock, 0, 0);
	else if (through && situation != SITUATION_FULL)
		snprintf(queue->why, sizeof(queue->why), "the append came back and left nothing");
	if (situation == SITUATION_SHORTER) { /* what it has left in slot 0 stays there */
		queue_resize(queue, 8);
		if (queue->control.tail == tail)
			queue->holds[0] = 0;
	}
	for (unsigned n = 0; n < 12 && !queue->why[0]; n++) {
		world.clock += random_below(&random, 8) == 0 ? UINT64_C(1) << 33 : 7;
		append(queue, random_next(&random),
		       12 + (uint32_t)random_below(&random, n % 4 == 3 ? 3000 : 50));
		if (n % 3 == 0)
			queue_read(queue);
	}
	queue_finish(queue);
	return through;
}

/* Every number of steps, until the child comes through. Return: how many deaths; *found: how many were
 * noticed. */
static unsigned all_steps(enum situation situation, bool overwrite, struct random *random, enum canary canary,
			  char *why, size_t bytes, unsigned *found)
{
	static struct queue *queue;
	const uint64_t seed = random_next(random);
	unsigned steps = 0;
	bool through = false;

	if (!queue)
		queue = mmap(NULL, sizeof(*queue), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*found = 0;
	for (; !through && steps < 20000; steps++) {
		through = one(queue, situation, overwrite, steps, seed, canary);
		if (queue->why[0]) {
			if (!*found)
				snprintf(why, bytes, "after %u instructions: %s (seed 0x%llx)", steps,
					 queue->why, (unsigned long long)seed);
			++*found;
		}
		queue_free(queue);
	}
	return steps;
}

static void run_situation(enum situation situation, bool overwrite)
{
	const unsigned rounds = harness.is_long ? 30 : 1;
	unsigned deaths = 0, found = 0;
	char why[400] = "", name[160];
	struct random random;

	snprintf(name, sizeof(name), "hazard 4: SIGKILL at each instruction, locked ring, %s: %s",
		 overwrite ? "flight" : "stream", names[situation]);
	if (!harness_begin_case(name, &random))
		return;
	for (unsigned n = 0; n < rounds && !why[0]; n++)
		deaths += all_steps(situation, overwrite, &random, CANARY_NONE, why, sizeof(why), &found);
	if (why[0])
		harness_fail("%s: %s", name, why);
	else
		harness_ok("%s (%u deaths)", name, deaths);
}

static void run_canary(enum canary canary)
{
	static const enum situation where[CANARIES] = {
		[CANARY_PUBLISH_FIRST] = SITUATION_PUT,
		[CANARY_BASE_TIME_FIRST] = SITUATION_EXTEND,
		[CANARY_BASE_NEVER_VOID] = SITUATION_EXTEND,
		[CANARY_REST_AFTER_COMMIT] = SITUATION_OPEN,
	};
	char why[400] = "", name[160];
	unsigned found = 0, deaths = 0;
	struct random random;

	snprintf(name, sizeof(name), "canary: %s is found", canary_names[canary]);
	if (!harness_begin_case(name, &random))
		return;
	/* Whether a death shows depends on what is recorded next. */
	for (unsigned tries = 0; tries < 10 && !found; tries++)
		deaths += all_steps(where[canary], true, &random, canary, why, sizeof(why), &found);
	if (found)
		harness_ok("%s (%u of %u deaths)", name, found, deaths);
	else
		harness_fail("%s: not by any of %u deaths", name, deaths);
}

int main(int argc, char **argv)
{
	pid_t pid;

	harness_begin(argc, argv);
	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	dead_tid = (uint32_t)pid;
	for (enum situation situation = 0; situation < SITUATIONS; situation++)
		run_situation(situation, situation == SITUATION_OPEN || situation == SITUATION_FIRST ||
						 situation == SITUATION_SHORTER);
	run_situation(SITUATION_LAP, true);
	for (enum situation situation = 0; harness.is_long && situation < SITUATION_FULL; situation++)
		run_situation(situation, true);
	for (enum canary canary = CANARY_NONE + 1; canary < CANARIES; canary++)
		run_canary(canary);
	return harness_end();
}

#else

int main(int argc, char **argv)
{
	harness_begin(argc, argv);
	harness_skip("SIGKILL at each instruction: this test knows x86-64 only");
	return 0;
}

#endif
