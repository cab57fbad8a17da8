/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rounds: records that are slightly out of order are sorted, late ones are detected, and none is left over. */
#include <stdlib.h>

#include "source/perf/rings/rounds.h"
#include "synthetic.h"

struct seen {
	uint64_t times[100000];
	unsigned count;
};

static void take(void *data, const struct rounds_entry *entry)
{
	struct seen *seen = data;

	seen->times[seen->count++] = entry->time;
}

static void add(struct rounds *rounds, struct rounds_chunk *chunk, uint64_t time)
{
	assert_int_equal(rounds_add(rounds, &(struct rounds_entry){ .time = time, .chunk = chunk }), 0);
}

static void inversions(void **state)
{
	static struct seen seen;
	struct rounds rounds = { 0 };
	struct rounds_chunk *chunk = rounds_chunk_make(&rounds, 8);

	(void)state;
	rounds_begin(&rounds, take, &seen); /* 0 */
	add(&rounds, chunk, 100);
	add(&rounds, chunk, 90);
	rounds_begin(&rounds, take, &seen); /* 1 */
	assert_int_equal(seen.count, 0);
	add(&rounds, chunk, 95); /* from another ring, read later */
	add(&rounds, chunk, 120);
	rounds_begin(&rounds, take, &seen); /* 2: up to 100 */
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.times[0], 90);
	assert_int_equal(seen.times[1], 95);
	assert_int_equal(seen.times[2], 100);
	assert_true(rounds_late(&rounds, 99));
	assert_false(rounds_late(&rounds, 100));
	add(&rounds, chunk, 110);
	rounds_begin(&rounds, take, &seen); /* 3: up to 120 */
	assert_int_equal(seen.count, 5);
	assert_int_equal(seen.times[3], 110);
	assert_true(rounds_late(&rounds, 119));
	add(&rounds, chunk, 130);
	rounds_chunk_done(&rounds, chunk);
	rounds_end(&rounds, take, &seen);
	assert_int_equal(seen.count, 6);
}

/* Rings are read at different moments of a round: a record at most one round behind is passed on in order. */
static void random_rings(void **state)
{
	static struct seen seen;
	struct rounds rounds = { 0 };
	uint64_t head[4] = { 0 }, now = 0;
	unsigned added = 0;

	(void)state;
	seen.count = 0;
	srand(1);
	for (unsigned n = 0; n < 500; n++) {
		rounds_begin(&rounds, take, &seen);
		for (unsigned ring = 0; ring < 4; ring++) {
			struct rounds_chunk *chunk = rounds_chunk_make(&rounds, 8);

			now += 100;
			while (head[ring] + 20 < now) {
				head[ring] += (uint64_t)rand() % 40;
				assert_false(rounds_late(&rounds, head[ring]));
				add(&rounds, chunk, head[ring]);
				added++;
			}
			rounds_chunk_done(&rounds, chunk);
		}
	}
	rounds_end(&rounds, take, &seen);
	assert_int_equal(seen.count, added);
	for (unsigned n = 1; n < seen.count; n++)
		assert_true(seen.times[n - 1] <= seen.times[n]);
}

/* Large chunks are recycled if they are large enough; and no more than the maximum of memory is kept. */
static void chunks(void **state)
{
	struct rounds rounds = { 0 };
	struct rounds_chunk *small = rounds_chunk_make(&rounds, 100), *large[40],
			    *one = rounds_chunk_make(&rounds, 100000);

	(void)state;
	assert_true(small->room >= 100 && one->room >= 100000);
	add(&rounds, one, 1);
	rounds_chunk_done(&rounds, small);
	rounds_chunk_done(&rounds, one);
	assert_null(rounds.spare); /* the small one is freed, the other has a record */
	for (unsigned n = 0; n < 40; n++) {
		large[n] = rounds_chunk_make(&rounds, 1 << 20);
		memset(large[n]->bytes, 1, 1 << 20);
	}
	for (unsigned n = 0; n < 40; n++)
		rounds_chunk_done(&rounds, large[n]);
	assert_in_range(rounds.spare_bytes, 1 << 20, 16 << 20);
	one = rounds.spare;
	assert_ptr_equal(rounds_chunk_make(&rounds, 100000), one);
	rounds_chunk_done(&rounds, one);
	one = rounds_chunk_make(&rounds, 3 << 20); /* replaces one that is smaller */
	assert_true(one->room >= 3 << 20);
	assert_in_range(rounds.spare_bytes, 1 << 20, 15 << 20);
	rounds_chunk_done(&rounds, one);
	rounds_free(&rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inversions),
		cmocka_unit_test(random_rings),
		cmocka_unit_test(chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
