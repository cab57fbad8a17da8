/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Comparisons of generated spans: a cause that only the slowest have, of each kind; none; and few spans. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/blame/tail.h"

enum {
	SPANS = 2000,
	SLOW = SPANS / 100,
	BAND = SPANS / 5,
	SEEDS = 20,
	SEEDS_OF_NONE = 100,
	PERIOD = 1000000, /* ns from one sample to the next */
	CAUSE = 20000000,
	/* Parts */
	PARSE = 2,
	ANSWER,
	FAULT,
	BEHIND,
	WAIT,
	UNKNOWN,
	LOST,
	CULPRIT,
	PARTS = CULPRIT + 1,
};

static struct blame_vector vectors[SPANS];
static const struct blame_vector *order[SPANS];
static uint64_t planted; /* ns, of all */

/* A part of its own for the cause, of any kind. */
static void name_parts(struct blame_part parts[PARTS], enum blame_kind kind)
{
	memset(parts, 0, PARTS * sizeof(*parts));
	for (uint32_t n = 1; n < PARTS; n++)
		parts[n].what = n;
	parts[FAULT].kind = BLAME_FAULT;
	parts[BEHIND].kind = BLAME_RUNNABLE;
	parts[WAIT].kind = BLAME_BLOCKED;
	parts[UNKNOWN].kind = BLAME_UNKNOWN;
	parts[LOST].kind = BLAME_LOST;
	parts[CULPRIT].kind = kind;
}

static double between(double low, double high)
{
	return low + (high - low) * rand() / RAND_MAX;
}

static void add(struct blame_vector *vector, uint32_t part, uint64_t number)
{
	vector->shares[vector->count++] = (struct blame_share){ part, number, 1 };
}

static void run(struct blame_vector *vector, uint32_t part, uint64_t ns)
{
	uint64_t samples = ns / PERIOD + (between(0, PERIOD) < (double)(ns % PERIOD));

	vector->running += ns;
	vector->time += ns;
	if (samples)
		add(vector, part, samples * PERIOD);
}

static void spend(struct blame_vector *vector, uint32_t part, uint64_t ns)
{
	vector->time += ns;
	add(vector, part, ns);
}

static int slowest_first(const void *a, const void *b)
{
	const struct blame_vector *const *one = a, *const *other = b;

	return (*one)->time > (*other)->time ? -1 : (*one)->time < (*other)->time;
}

/* @noise: by which all times differ; @cause: the kind of what one of a hundred suffers; BLAME_KINDS: none does */
static void generate(double noise, enum blame_kind cause)
{
	planted = 0;
	for (unsigned n = 0; n < SPANS; n++) {
		struct blame_vector *vector = &vectors[n];
		const uint64_t much = (uint64_t)(CAUSE * between(0.9, 1.1));

		free(vector->shares);
		*vector = (struct blame_vector){ .shares = calloc(PARTS, sizeof(struct blame_share)) };
		run(vector, PARSE, (uint64_t)(30000 * between(1 - noise, 1 + noise)));
		run(vector, ANSWER, (uint64_t)(60000 * between(1 - noise, 1 + noise)));
		run(vector, FAULT, (uint64_t)(2000 * between(1 - noise, 1 + noise)));
		spend(vector, BEHIND, (uint64_t)(3000 * between(1 - noise, 1 + noise)));
		spend(vector, WAIT, (uint64_t)(9000 * between(1 - noise, 1 + noise)));
		order[n] = vector;
		if (cause == BLAME_KINDS || n % 100 != 37)
			continue;
		planted += much;
		if (cause <= BLAME_FAULT)
			run(vector, CULPRIT, much);
		else
			spend(vector, CULPRIT, much);
	}
	qsort(order, SPANS, sizeof(*order), slowest_first);
}

static void compare(struct tail *tail, const struct blame_part *parts)
{
	assert_int_equal(tail_make(tail, parts, PARTS, (struct tail_set){ order, SLOW },
				   (struct tail_set){ order + SPANS * 2 / 5, BAND }, true),
			 0);
}

static void test_causes(void **state)
{
	(void)state;
	for (enum blame_kind kind = 0; kind < BLAME_KINDS; kind++) {
		struct blame_part parts[PARTS];

		name_parts(parts, kind);
		for (unsigned seed = 1; seed <= SEEDS; seed++) {
			struct tail tail;
			double whole = 0;

			srand(seed);
			generate(0.3, kind);
			compare(&tail, parts);
			assert_int_equal(tail.rows[0].part, CULPRIT);
			assert_true(tail.rows[0].sure);
			assert_false(tail.by_samples);
			assert_true(tail.rows[0].low > 0 && tail.rows[0].low <= tail.rows[0].high);
			assert_true(fabs(tail.rows[0].slow - (double)planted / SLOW) < 0.02 * tail.slow);
			for (size_t n = 0; n < tail.count; n++)
				whole += tail.rows[n].slow;
			assert_true(fabs(whole - tail.slow) < 1);
			/* Any of the slowest, which all have it. */
			assert_true(order[tail.rows[0].example]->time > CAUSE / 2);
			tail_free(&tail);
		}
	}
}

/* The slowest differ from the others by chance alone. */
static void test_none(void **state)
{
	struct blame_part parts[PARTS];
	unsigned wrong = 0;

	(void)state;
	name_parts(parts, BLAME_RUNNING);
	for (unsigned seed = 1; seed <= SEEDS_OF_NONE; seed++) {
		struct tail tail;
		bool sure = false;

		srand(seed);
		generate(0.1, BLAME_KINDS);
		compare(&tail, parts);
		for (size_t n = 0; n < tail.count; n++)
			sure |= tail.rows[n].sure;
		wrong += sure;
		tail_free(&tail);
	}
	assert_true(wrong <= SEEDS_OF_NONE * 5 / 100);
}

/* A part that any span may have is in a few of both sets: more of it in the slowest is chance. */
static void test_rare(void **state)
{
	struct blame_part parts[PARTS];
	unsigned wrong = 0;

	(void)state;
	name_parts(parts, BLAME_BLOCKED);
	for (unsigned seed = 1; seed <= SEEDS_OF_NONE; seed++) {
		struct tail tail;

		srand(seed);
		generate(0.3, BLAME_RUNNABLE);
		for (unsigned n = 0; n < SPANS; n++)
			if (rand() % 20 == 0)
				spend(&vectors[n], LOST, 5000);
		compare(&tail, parts);
		for (size_t n = 0; n < tail.count; n++)
			wrong += tail.rows[n].part == LOST && tail.rows[n].sure;
		tail_free(&tail);
	}
	assert_true(wrong <= SEEDS_OF_NONE * 5 / 100);
}

/* Short spans that become slow by the cost of a sample, in whatever function it is taken. */
static void test_samples(void **state)
{
	struct blame_part parts[PARTS];

	(void)state;
	name_parts(parts, BLAME_BLOCKED);
	for (unsigned seed = 1; seed <= SEEDS_OF_NONE; seed++) {
		struct tail tail;

		srand(seed);
		generate(0.3, BLAME_KINDS);
		for (unsigned n = 0; n < SPANS; n++) {
			const uint64_t ns = (uint64_t)between(20000, 40000);

			vectors[n].count = 0;
			vectors[n].time = vectors[n].running = ns;
			if (between(0, PERIOD) >= (double)ns)
				continue;
			add(&vectors[n], rand() % 2 ? PARSE : ANSWER, PERIOD);
			vectors[n].time = vectors[n].running = ns + 50000;
		}
		qsort(order, SPANS, sizeof(*order), slowest_first);
		compare(&tail, parts);
		assert_true(tail.by_samples);
		for (size_t n = 0; n < tail.count; n++)
			assert_false(tail.rows[n].sure);
		tail_free(&tail);
	}
}

static void test_few(void **state)
{
	struct blame_part parts[PARTS];
	struct tail tail;

	(void)state;
	name_parts(parts, BLAME_BLOCKED);
	generate(0.3, BLAME_BLOCKED);
	for (size_t slow = 0; slow < TAIL_SPANS_MIN; slow++) {
		assert_int_equal(tail_make(&tail, parts, PARTS, (struct tail_set){ order, slow },
					   (struct tail_set){ order + SLOW, BAND }, true),
				 0);
		for (size_t n = 0; n < tail.count; n++)
			assert_false(tail.rows[n].sure);
		tail_free(&tail);
	}
	assert_int_equal(tail_make(&tail, parts, 0, (struct tail_set){ order, 0 },
				   (struct tail_set){ order, 0 }, true),
			 0);
	assert_int_equal(tail.count, 0);
	tail_free(&tail);
}

/* Any vector's parts add up to its time, whatever the weights of its samples are. */
static void test_sums(void **state)
{
	static const uint64_t weights[] = { 0, 1, 3, 4000000, UINT64_MAX / 2, UINT64_MAX };
	struct blame_part parts[PARTS];
	struct blame_share room[PARTS + 1];

	(void)state;
	name_parts(parts, BLAME_BLOCKED);
	srand(1);
	for (unsigned n = 0; n < 20000; n++) {
		struct blame_share shares[PARTS];
		struct blame_vector vector = { .shares = shares };
		uint64_t sum = 0, last = UINT64_MAX;
		size_t count;

		vector.running = vector.time = (uint64_t)rand() % 3 ? (uint64_t)rand() : 0;
		for (uint32_t part = 1; part < PARTS; part++) {
			if (rand() % 3)
				continue;
			if (blame_is_sampled(&parts[part]))
				add(&vector, part, weights[rand() % 6]);
			else
				spend(&vector, part, (uint64_t)rand());
		}
		count = blame_resolve(&vector, parts, room);
		assert_true(count <= vector.count + 1);
		for (size_t at = 0; at < count; at++) {
			sum += room[at].number;
			assert_true(room[at].number <= last);
			last = room[at].number;
		}
		assert_int_equal(sum, vector.time);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),	cmocka_unit_test(test_none), cmocka_unit_test(test_rare),
		cmocka_unit_test(test_samples), cmocka_unit_test(test_few),  cmocka_unit_test(test_sums),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	for (unsigned n = 0; n < SPANS; n++)
		free(vectors[n].shares);
	return failed;
}
