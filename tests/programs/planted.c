/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ten functions with known shares of the work, in rounds that differ: planted [PERCENT [ROUNDS]]. PERCENT: so much more than otherwise does
 * one of them, planted_sort, which has 23 % of the work without that. Each round is a span, each function a call, and each has page faults.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <burin/burin.h>

enum {
	ROUNDS = 5000,
	UNIT = 20000, /* steps of a tenth of a round, in the mean */
	PAGES = 1,
};

static volatile uint64_t sink;

static uint64_t planted_step(uint64_t state)
{
	return state * 6364136223846793005u + 1442695040888963407u;
}

/* The loop is in each function: a sample is in the function itself. */
#define PART(name)                                                                    \
	static __attribute__((noinline, noclone)) void planted_##name(uint64_t steps) \
	{                                                                             \
		uint64_t state = steps;                                               \
		for (uint64_t n = 0; n < steps; n++)                                  \
			state = planted_step(state) ^ sizeof(#name);                  \
		sink = state;                                                         \
	}

PART(parse)
PART(hash)
PART(sort)
PART(format)
PART(compress)
PART(check)
PART(route)
PART(copy)
PART(log)
PART(rare)

/* Fresh pages, which the kernel has to clear. */
static void fault(void)
{
	char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned n = 0; pages != MAP_FAILED && n < PAGES; n++)
		pages[n * 4096] = 1;
	if (pages != MAP_FAILED)
		munmap(pages, PAGES * 4096);
}

int main(int argc, char **argv)
{
	const uint64_t percent = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
		       rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : ROUNDS;
	uint64_t state = 1;

	for (uint64_t n = 0; n < rounds; n++) {
		const uint64_t unit = UNIT / 2 + (state >> 33) % UNIT; /* rounds are not alike */

		BURIN_SCOPE("planted.round", "unit=%lu", unit);
		state = planted_step(state);
		planted_parse(unit * 25 / 10);
		planted_hash(unit * 18 / 10);
		planted_sort(unit * 25 / 10 * (100 + percent) / 100);
		planted_format(unit * 12 / 10);
		planted_compress(unit * 10 / 10);
		planted_check(unit * 8 / 10);
		planted_route(unit * 5 / 10);
		planted_copy(unit * 3 / 10);
		planted_log(unit * 2 / 10);
		planted_rare(unit * 1 / 10);
		fault();
	}
	return 0;
}
