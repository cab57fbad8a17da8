/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Trees of calls against the trees that their records were made from: random ones, with losses, with clocks that stand
 * still, with open calls, put together in runs and cut into spans. Each call has a function of its own, its number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "view/calls/call_tree.h"

enum {
	CALLS_MAX = 4000,
	STACKS = 4,
	ROUNDS = 300,
	DEEP = 70000, /* more than the depth's 16 bits */
};

struct truth {
	struct burin_call call;
	uint32_t parent; /* number of the caller; 0: none */
	bool lost, open; /* no record; an open call */
	/* What the tree said. */
	unsigned ended, placed;
	uint64_t callees; /* calls */
};

struct world {
	struct truth *calls; /* by number; [0] is not used */
	uint32_t count;
	uint32_t *order; /* numbers in order of the records */
	uint32_t records;
	uint64_t clock;
	bool joined; /* siblings may come in one */
	char why[200];
};

#define REQUIRE(condition)                                                                             \
	do {                                                                                           \
		if (!(condition) && !*world->why)                                                      \
			snprintf(world->why, sizeof(world->why), "line %d: %s", __LINE__, #condition); \
	} while (0)

static struct random chance;

/* ---- What is true */

static void world_free(struct world *world)
{
	free(world->calls);
	free(world->order);
	*world = (struct world){ 0 };
}

static void world_new(struct world *world, uint32_t calls)
{
	*world = (struct world){ .clock = 1000 };
	world->calls = calloc(calls + 1, sizeof(*world->calls));
	world->order = calloc(calls + 1, sizeof(*world->order));
	if (!world->calls || !world->order)
		harness_die("no memory");
}

static void begin_call(struct world *world, uint32_t tid, uint32_t parent, uint32_t depth)
{
	const uint32_t number = ++world->count;

	world->calls[number] = (struct truth){
		.call = { .function = number, .tid = tid, .begin = world->clock, .depth = depth },
		.parent = parent
	};
}

static void end_call(struct world *world, uint32_t number)
{
	world->calls[number].call.end = world->clock;
	world->calls[number].call.depth &= 0xffff;
	world->order[world->records++] = number;
}

/* Calls begin and end on several stacks. @step: the clock moves by less than this; 1: it moves by 1 each time */
static void make_calls(struct world *world, uint32_t calls, uint64_t step)
{
	uint32_t open[STACKS][CALLS_MAX], depth[STACKS] = { 0 };

	while (world->count < calls) {
		const uint32_t stack = (uint32_t)random_below(&chance, STACKS), at = depth[stack];

		world->clock += step > 1 ? random_below(&chance, step) : 1;
		if (at && random_below(&chance, 100) < 50 - (at < 3) * 20) {
			end_call(world, open[stack][--depth[stack]]);
			continue;
		}
		begin_call(world, 100 + stack, at ? open[stack][at - 1] : 0, at);
		open[stack][depth[stack]++] = world->count;
	}
	for (uint32_t stack = 0; stack < STACKS; stack++)
		while (depth[stack]) {
			const uint32_t number = open[stack][--depth[stack]];

			world->clock++;
			if (random_below(&chance, 2)) { /* those below it are open, too */
				for (uint32_t n = 0; n <= depth[stack]; n++)
					world->calls[open[stack][n]].open = true;
				break;
			}
			end_call(world, number);
		}
	world->clock++;
	for (uint32_t n = 1; n <= world->count; n++)
		if (world->calls[n].open)
			world->calls[n].call.end = world->clock;
}

static void lose(struct world *world, unsigned percent)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < world->records; n++) {
		struct truth *call = &world->calls[world->order[n]];

		call->lost = random_below(&chance, 100) < percent;
		if (!call->lost)
			world->order[kept++] = world->order[n];
	}
	world->records = kept;
}

/* Records of one tick in the wrong order, as if they were in two rings. Those without a duration keep their place. */
static void swap_ties(struct world *world)
{
	for (uint32_t n = 1; n < world->records; n++) {
		const uint32_t one = world->order[n - 1], other = world->order[n];
		const struct burin_call *a = &world->calls[one].call, *b = &world->calls[other].call;

		if (a->end == b->end && a->tid == b->tid && a->begin < a->end && b->begin < b->end &&
		    random_below(&chance, 2)) {
			world->order[n - 1] = other;
			world->order[n] = one;
		}
	}
}

/* The nearest caller that the trace has. */
static uint32_t caller_of(const struct world *world, uint32_t number)
{
	do
		number = world->calls[number].parent;
	while (number && world->calls[number].lost);
	return number;
}

/* ---- What the tree says */

static int see_call(void *data, const struct call_stack *stack, struct call_node *call,
		    const struct call_node *callees, size_t count)
{
	struct world *world = data;
	struct truth *truth = &world->calls[call->function];
	uint64_t time = 0;

	truth->ended++;
	REQUIRE(call->calls == 1 && !call->user);
	REQUIRE(stack->tid == truth->call.tid);
	REQUIRE(call->begin == truth->call.begin && call->end == truth->call.end);
	REQUIRE(call->depth == truth->call.depth);
	REQUIRE(!(call->flags & CALL_NODE_OPEN) == !truth->open);
	for (size_t n = 0; n < count; n++) {
		struct truth *callee = &world->calls[callees[n].function];

		REQUIRE(callees[n].user == callees[n].calls); /* see_join() counts, too */
		REQUIRE(caller_of(world, callees[n].function) == call->function);
		REQUIRE(world->joined || callees[n].calls == 1);
		REQUIRE(call_tree_direct(call, &callees[n]) == (callee->parent == call->function));
		callee->placed++;
		truth->callees += callees[n].calls;
		time += callees[n].time;
	}
	REQUIRE(call->callees == time && call_tree_self(call) == call->time - time);
	call->user = 1;
	return 0;
}

static int see_roots(void *data, const struct call_stack *stack, const struct call_node *roots, size_t count)
{
	struct world *world = data;

	(void)stack;
	for (size_t n = 0; n < count; n++) {
		REQUIRE(caller_of(world, roots[n].function) == 0);
		world->calls[roots[n].function].placed++;
		world->calls[0].callees += roots[n].calls;
	}
	return 0;
}

static int see_join(void *data, struct call_node *call, const struct call_node *next)
{
	struct world *world = data;

	REQUIRE(world->joined);
	REQUIRE(call->end <= next->begin);
	REQUIRE(caller_of(world, call->function) == caller_of(world, next->function));
	call->user += next->user;
	world->calls[next->function].placed++;
	return 0;
}

static void check(struct world *world)
{
	uint64_t *callees = calloc(world->count + 1, sizeof(*callees));

	if (!callees)
		harness_die("no memory");
	for (uint32_t n = 1; n <= world->count; n++)
		if (!world->calls[n].lost)
			callees[caller_of(world, n)]++;
	for (uint32_t n = 0; n <= world->count; n++) {
		const struct truth *call = &world->calls[n];

		REQUIRE(call->callees == callees[n]);
		REQUIRE(!n || call->ended == !call->lost);
		REQUIRE(!n || call->placed == !call->lost);
	}
	free(callees);
}

static const struct call_consumer consumer = { .call = see_call, .roots = see_roots, .join = see_join };

static void start(struct world *world, struct call_tree *tree, uint32_t run_max)
{
	struct call_consumer mine = consumer;

	mine.data = world;
	world->joined = run_max != 0;
	call_tree_init(tree, &mine, run_max);
	for (uint32_t n = 1; n <= world->count; n++)
		if (world->calls[n].open)
			REQUIRE(!call_tree_open_call(tree, &world->calls[n].call));
}

static void read_whole(struct world *world, uint32_t run_max)
{
	struct call_tree tree;

	start(world, &tree, run_max);
	for (uint32_t n = 0; n < world->records; n++)
		REQUIRE(!call_tree_add(&tree, &world->calls[world->order[n]].call));
	REQUIRE(!call_tree_finish(&tree));
	call_tree_free(&tree);
	check(world);
}

static void read_in_spans(struct world *world, uint32_t run_max, uint64_t length)
{
	struct call_tree whole, span;
	uint64_t from = 0;
	uint32_t n = 0;

	start(world, &whole, run_max);
	while (n < world->records) {
		start(world, &span, run_max);
		call_tree_span(&span, from);
		from += 1 + random_below(&chance, length);
		for (; n < world->records && world->calls[world->order[n]].call.end < from; n++)
			REQUIRE(!call_tree_add(&span, &world->calls[world->order[n]].call));
		REQUIRE(!call_tree_flush(&span));
		REQUIRE(!call_tree_append(&whole, &span));
		call_tree_free(&span);
	}
	REQUIRE(!call_tree_finish(&whole));
	call_tree_free(&whole);
	check(world);
}

/* ---- Cases */

static void report(const char *name, struct world *world)
{
	harness_case(name, world->why);
	world_free(world);
}

static void test_random(void)
{
	struct world world = { 0 };

	for (unsigned n = 0; n < ROUNDS && !*world.why; n++) {
		world_free(&world);
		world_new(&world, CALLS_MAX);
		make_calls(&world, 1 + (uint32_t)random_below(&chance, CALLS_MAX), 1);
		read_whole(&world, 0);
	}
	report("each call has its callees", &world);
}

static void test_losses(void)
{
	struct world world = { 0 };

	for (unsigned n = 0; n < ROUNDS && !*world.why; n++) {
		world_free(&world);
		world_new(&world, CALLS_MAX);
		make_calls(&world, 1 + (uint32_t)random_below(&chance, CALLS_MAX), 1);
		lose(&world, 1 + (unsigned)random_below(&chance, 99));
		read_whole(&world, 0);
	}
	report("with lost records, callees of a lost call are its caller's", &world);
}

static void test_ties(void)
{
	struct world world = { 0 };

	for (unsigned n = 0; n < ROUNDS && !*world.why; n++) {
		world_free(&world);
		world_new(&world, CALLS_MAX);
		make_calls(&world, 1 + (uint32_t)random_below(&chance, CALLS_MAX), 2 + n % 2);
		swap_ties(&world);
		read_whole(&world, 0);
	}
	report("calls of one tick are placed by their depth", &world);
}

static void test_runs(void)
{
	struct world world = { 0 };

	for (unsigned n = 0; n < ROUNDS && !*world.why; n++) {
		world_free(&world);
		world_new(&world, CALLS_MAX);
		make_calls(&world, 1 + (uint32_t)random_below(&chance, CALLS_MAX), 1 + n % 2);
		read_whole(&world, 1 + (uint32_t)random_below(&chance, 9));
	}
	report("siblings that are put together keep their sums", &world);
}

static void test_spans(void)
{
	struct world world = { 0 };

	for (unsigned n = 0; n < ROUNDS && !*world.why; n++) {
		world_free(&world);
		world_new(&world, CALLS_MAX);
		make_calls(&world, 1 + (uint32_t)random_below(&chance, CALLS_MAX), 1);
		if (n % 2)
			lose(&world, 1 + (unsigned)random_below(&chance, 30));
		read_in_spans(&world, n % 2 ? 0 : (uint32_t)random_below(&chance, 9),
			      1 + random_below(&chance, 3000));
	}
	report("spans of a trace make the tree of the whole", &world);
}

/* Some calls of the open ones ended while the trace was written: the trace has both. */
static void test_open_and_ended(void)
{
	struct world world = { 0 };

	for (unsigned n = 0; n < ROUNDS && !*world.why; n++) {
		struct call_tree tree;

		world_free(&world);
		world_new(&world, CALLS_MAX);
		make_calls(&world, 1 + (uint32_t)random_below(&chance, 200), 1);
		start(&world, &tree, 0);
		for (uint32_t at = world.records; at && at + 20 > world.records; at--) {
			struct burin_call call = world.calls[world.order[at - 1]].call;

			call.end = world.clock;
			if (random_below(&chance, 2) && call_tree_open_call(&tree, &call))
				harness_die("no memory");
		}
		for (uint32_t at = 0; at < world.records; at++)
			if (call_tree_add(&tree, &world.calls[world.order[at]].call))
				harness_die("no memory");
		if (call_tree_finish(&tree))
			harness_die("no memory");
		call_tree_free(&tree);
		check(&world);
	}
	report("an open call that has a record counts once", &world);
}

static void test_deep(void)
{
	struct world world;

	world_new(&world, DEEP);
	for (uint32_t n = 0; n < DEEP; n++, world.clock++)
		begin_call(&world, 1, n, n);
	for (uint32_t n = DEEP; n; n--, world.clock++)
		end_call(&world, n);
	read_whole(&world, 0);
	report("a recursion deeper than the depth's bits", &world);
}

static int count_call(void *data, const struct call_stack *stack, struct call_node *call,
		      const struct call_node *callees, size_t count)
{
	uint64_t *calls = data;

	(void)stack;
	(void)callees;
	*calls += call->calls + count;
	return 0;
}

/* A loop's calls take no memory while they wait for their caller. */
static void test_memory(void)
{
	const uint64_t loop = 1000000;
	struct call_tree tree;
	uint64_t calls = 0;
	bool failed = false;

	call_tree_init(&tree, &(struct call_consumer){ .call = count_call, .data = &calls }, 64);
	for (uint64_t n = 0; n <= loop; n++)
		failed |= call_tree_add(&tree, &(struct burin_call){ .tid = 1,
								     .function = 1,
								     .depth = 1,
								     .begin = 2 * n + 1,
								     .end = 2 * n + 2 }) != 0;
	harness_case("a loop of a million calls waits in little memory",
		     failed			  ? "no memory"
		     : tree.stacks[0]->room > 200 ? "its array is large"
		     : calls != loop		  ? "not all were passed"
						  : NULL);
	call_tree_free(&tree);
}

int main(int argc, char **argv)
{
	harness_begin(argc, argv);
	chance.state = harness.seed;
	test_random();
	test_losses();
	test_ties();
	test_runs();
	test_spans();
	test_open_and_ended();
	test_deep();
	test_memory();
	return harness_end();
}
