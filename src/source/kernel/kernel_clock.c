/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From the kernel's clock to the trace's; see kernel_clock.h.
 *
 * Why no time goes back. An interval between two pairs ends where the next one begins, in both clocks, since its rate
 * is that between them. Only the last interval has a rate that is guessed, that of the one before it. When a new pair
 * ends it, its times move a little. So a record that is converted in one round, and a later one in the next, may be
 * out of order by the error; kernel_reader.c clamps them.
 *
 * Why the error is an upper bound. A pair is read as ticks, ns, ticks: the true moment is between the two reads, so
 * half their distance is the most that it is wrong. The kernel changes the rate at unknown moments. If it does so
 * once in an interval, a straight line between its ends is wrong by a quarter of the difference between the expected
 * and the found end, at most.
 *
 * Pairs are kept in a circle. A flight recorder needs those of its whole life, so it has none: thin_out() leaves out
 * every second pair and adds to `thinned` by how much that is wrong at the pairs which are left out.
 */
#include "source/kernel/kernel_clock.h"
#include "session/clock.h"
#include "wire/wire_session.h"

enum {
	PAIR_TRIES = 8, /* the fastest was disturbed least */
};

static uint64_t read_ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

static struct kernel_clock_pair *pair_at(struct kernel_clock *clock, unsigned number)
{
	return &clock->pairs[number % KERNEL_CLOCK_PAIRS];
}

/* Ticks of a time in the interval that begins with a pair; before the pair, too. */
static uint64_t kernel_clock_convert(const struct kernel_clock_pair *from, uint64_t ns)
{
	const bool before = ns < from->ns;
	const uint64_t distance = before ? from->ns - ns : ns - from->ns;
	const uint64_t ticks = (uint64_t)((unsigned __int128)distance * from->rate >> 32);

	return before ? from->ticks - ticks : from->ticks + ticks;
}

static uint64_t to_ns(uint64_t ticks, uint64_t rate)
{
	return (uint64_t)(((unsigned __int128)ticks << 32) / rate);
}

static uint64_t rate_between(const struct kernel_clock_pair *from, const struct kernel_clock_pair *to)
{
	return (uint64_t)(((unsigned __int128)(to->ticks - from->ticks) << 32) / (to->ns - from->ns));
}

/* Leave out every second pair but the last one. By how much the times there are then wrong is known, and counts. */
static void thin_out(struct kernel_clock *clock)
{
	uint64_t wrong = 0;
	unsigned kept = 0;

	for (unsigned n = 0; n + 2 < clock->count; n += 2) {
		const struct kernel_clock_pair *left_out = &clock->pairs[n + 1], *next = &clock->pairs[n + 2];
		struct kernel_clock_pair *pair = &clock->pairs[kept++];
		uint64_t ticks, distance;

		*pair = clock->pairs[n];
		pair->rate = rate_between(pair, next);
		ticks = kernel_clock_convert(pair, left_out->ns);
		distance = ticks > left_out->ticks ? ticks - left_out->ticks : left_out->ticks - ticks;
		if (to_ns(distance, pair->rate) > wrong)
			wrong = to_ns(distance, pair->rate);
	}
	for (unsigned n = (clock->count - 1) / 2 * 2; n < clock->count; n++)
		clock->pairs[kept++] = clock->pairs[n];
	clock->thinned += wrong;
	clock->count = kept;
}

void kernel_clock_add(struct kernel_clock *clock, uint64_t ns, uint64_t ticks, uint64_t width)
{
	struct kernel_clock_pair *last = pair_at(clock, clock->count - 1),
				 *next = pair_at(clock, clock->count);
	uint64_t expected, wrong, error;

	if (ns - last->ns < KERNEL_CLOCK_STEP || ns <= last->ns || ticks <= last->ticks)
		return;
	/* If the rate changed somewhere in the interval, the interpolation is wrong by a quarter of this, at most. */
	expected = kernel_clock_convert(last, ns);
	wrong = expected > ticks ? expected - ticks : ticks - expected;
	last->rate = rate_between(last, &(struct kernel_clock_pair){ ns, ticks, 0 });
	error = to_ns((clock->count > 1 ? wrong / 4 : 0) + width / 2, last->rate) + 1;
	if (error > clock->error)
		clock->error = error;
	*next = (struct kernel_clock_pair){ ns, ticks, last->rate };
	clock->count++;
	if (clock->all && clock->count == KERNEL_CLOCK_PAIRS)
		thin_out(clock);
}

void kernel_clock_round(struct kernel_clock *clock)
{
	uint64_t best = UINT64_MAX, ns = 0, ticks = 0;

	if (clock->same)
		return;
	for (int tries = 0; tries < PAIR_TRIES; tries++) {
		const uint64_t before = read_ticks(), now = clock_ns(CLOCK_MONOTONIC), after = read_ticks();

		if (after - before >= best)
			continue;
		best = after - before;
		ns = now;
		ticks = before + best / 2;
	}
	if (clock->count)
		kernel_clock_add(clock, ns, ticks, best);
	else
		clock->pairs[clock->count++] = (struct kernel_clock_pair){ ns, ticks, clock->pairs[0].rate };
}

void kernel_clock_begin(struct kernel_clock *clock, uint32_t source, uint64_t hz)
{
	*clock = (struct kernel_clock){ .same = source == WIRE_CLOCK_MONOTONIC };
	clock->pairs[0].rate = (uint64_t)(((unsigned __int128)hz << 32) / 1000000000);
	kernel_clock_round(clock);
}

uint64_t kernel_clock_ticks(const struct kernel_clock *clock, uint64_t ns)
{
	const unsigned oldest = clock->count > KERNEL_CLOCK_PAIRS ? clock->count - KERNEL_CLOCK_PAIRS : 0;
	unsigned n = clock->count - 1;

	if (clock->same)
		return ns;
	while (n > oldest && clock->pairs[n % KERNEL_CLOCK_PAIRS].ns > ns)
		n--;
	return kernel_clock_convert(&clock->pairs[n % KERNEL_CLOCK_PAIRS], ns);
}
