/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mappings of an address space: their layout after random changes, sharing by forks, and the amount of work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/perf/tasks/mappings.h"

enum {
	PAGES = 300,
	TREES = 4,
	DEPTH_MAX = 80, /* of 2^18 mappings: a treap's depth is about 45, and practically never twice that */
};

/* The expected mapping of each page of a small address space. */
struct expected {
	struct {
		uint64_t offset;
		struct sample_image *image;
	} pages[PAGES];
};

static struct sample_image images[8];

static void put(struct expected *expected, const struct mapping *mapping, bool holes_only)
{
	for (uint64_t page = mapping->begin; page < mapping->end; page++) {
		if (holes_only && expected->pages[page].image)
			continue;
		expected->pages[page].image = mapping->image;
		expected->pages[page].offset = mapping->offset + (page - mapping->begin);
	}
}

static void compare(struct mappings *mappings, const struct expected *expected)
{
	for (uint64_t page = 0; page < PAGES; page++) {
		const struct mapping *found = mappings_find(mappings, page);

		assert_ptr_equal(found ? found->image : NULL, expected->pages[page].image);
		if (!found)
			continue;
		assert_int_equal(found->offset + (page - found->begin), expected->pages[page].offset);
		assert_in_range(found->image->mappings, 1, mappings_in_use());
	}
}

/* Random changes to several trees that are copies of each other. */
static void random_changes(void **state)
{
	struct mappings mappings[TREES] = { 0 };
	struct expected expected[TREES] = { 0 };

	(void)state;
	srandom(7);
	for (unsigned n = 0; n < 20000; n++) {
		const unsigned which = (unsigned)random() % TREES, other = (unsigned)random() % TREES;
		const uint64_t begin = (uint64_t)random() % (PAGES - 1);
		struct mapping mapping = { .begin = begin,
					   .end = begin + (uint64_t)random() % (random() % 8 ? 6 : PAGES),
					   .offset = (uint64_t)random(),
					   .image = &images[random() % 8] };

		if (mapping.end > PAGES)
			mapping.end = PAGES;
		if (random() % 50 == 0 && which != other) {
			mappings_clear(&mappings[which]);
			mappings_copy(&mappings[which], &mappings[other]);
			expected[which] = expected[other];
		} else if (random() % 200 == 0) {
			mappings_clear(&mappings[which]);
			expected[which] = (struct expected){ 0 };
		} else if (random() % 4 == 0) {
			assert_int_equal(mappings_fill(&mappings[which], &mapping), 0);
			put(&expected[which], &mapping, true);
		} else {
			assert_int_equal(mappings_add(&mappings[which], &mapping), 0);
			put(&expected[which], &mapping, false);
		}
		if (n % 10 == 0)
			for (unsigned tree = 0; tree < TREES; tree++)
				compare(&mappings[tree], &expected[tree]);
	}
	for (unsigned tree = 0; tree < TREES; tree++)
		mappings_clear(&mappings[tree]);
	for (unsigned n = 0; n < sizeof(images) / sizeof(images[0]); n++)
		assert_int_equal(images[n].mappings, 0);
}

/* The tree is not deep in any order of mapping, so the work stays small. */
static void depth(void **state)
{
	const unsigned count = 1 << 18;

	(void)state;
	for (unsigned order = 0; order < 3; order++) {
		struct mappings mappings = { 0 };

		for (uint64_t n = 0; n < count; n++) {
			const uint64_t at = order == 0 ? count - n : order == 1 ? n : n * 7919 % count;

			assert_int_equal(mappings_add(&mappings, &(struct mapping){ .begin = at * 16,
										    .end = at * 16 + 16,
										    .image = images }),
					 0);
		}
		assert_int_equal(mappings.count, count);
		assert_true(mappings_depth(&mappings) < DEPTH_MAX);
		mappings_clear(&mappings);
	}
}

/* A fork of a large address space takes no nodes, a change in it a few. */
static void forks(void **state)
{
	struct mappings first = { 0 }, forks[2000];
	const uint64_t count = 60000;

	(void)state;
	for (uint64_t n = 0; n < count; n++)
		assert_int_equal(
			mappings_add(&first,
				     &(struct mapping){ .begin = n * 2, .end = n * 2 + 1, .image = images }),
			0);
	/* 2,000 complete copies would exceed the limit of nodes. */
	for (unsigned n = 0; n < 2000; n++) {
		mappings_copy(&forks[n], &first);
		assert_int_equal(mappings_add(&forks[n], &(struct mapping){ .begin = n * 50,
									    .end = n * 50 + 1,
									    .image = images + 1 }),
				 0);
	}
	for (unsigned n = 0; n < 2000; n++) {
		assert_ptr_equal(mappings_find(&forks[n], n * 50)->image, images + 1);
		assert_ptr_equal(mappings_find(&forks[n], count)->image,
				 n * 50 == count ? images + 1 : images);
		mappings_clear(&forks[n]);
	}
	assert_ptr_equal(mappings_find(&first, 0)->image, images);
	mappings_clear(&first);
}

static unsigned fill(struct mappings *mappings)
{
	unsigned n = 0;

	while (mappings_add(mappings, &(struct mapping){ .begin = n, .end = n + 1, .image = images }) == 0)
		n++;
	assert_int_equal(mappings->count, n);
	return n;
}

/* One address space is limited, and all together; the existing mappings stay intact. */
static void limit(void **state)
{
	enum {
		COUNT = MAPPINGS_NODES_MAX / MAPPINGS_MAX,
	};
	struct mappings all[COUNT] = { 0 }, one = { 0 };

	(void)state;
	for (unsigned n = 0; n + 1 < COUNT; n++)
		assert_int_equal(fill(&all[n]), MAPPINGS_MAX);
	assert_in_range(fill(&all[COUNT - 1]), MAPPINGS_MAX - 4, MAPPINGS_MAX - 1);
	assert_in_range(mappings_in_use(), MAPPINGS_NODES_MAX - 4, MAPPINGS_NODES_MAX);
	assert_int_equal(mappings_add(&one, &(struct mapping){ .begin = 1, .end = 2, .image = images }),
			 -ENOMEM);
	for (unsigned n = 0; n < COUNT; n++)
		for (uint64_t at = 0; at < MAPPINGS_MAX - 4; at += 4099)
			assert_ptr_equal(mappings_find(&all[n], at)->image, images);
	for (unsigned n = 0; n < COUNT; n++)
		mappings_clear(&all[n]);
	assert_int_equal(mappings_in_use(), 0);
	assert_int_equal(mappings_add(&one, &(struct mapping){ .begin = 1, .end = 2, .image = images }), 0);
	mappings_clear(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes),
		cmocka_unit_test(depth),
		cmocka_unit_test(forks),
		cmocka_unit_test(limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
