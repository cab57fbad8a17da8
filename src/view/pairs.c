/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Pairs: appending, and a radix sort. */
#include "view/pairs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	RECENT_BITS = 14,
	ROOM = 1 << 20, /* at first: memory that is not touched costs nothing, and sorting does */
	WORDS = 3,	/* of a key */
};

/* Where a pair was put; looking for it in the list would miss the cache. */
struct view_recent {
	uint32_t task, stack, at;
};

/* What the pairs are sorted by, the least important word first. */
struct order {
	uint32_t words[WORDS];
	uint32_t at; /* in the list */
};

int view_pair_order(const void *a, const void *b)
{
	const struct view_pair *one = a, *other = b;

	if (one->task != other->task)
		return one->task < other->task ? -1 : 1;
	if (one->stack != other->stack)
		return one->stack < other->stack ? -1 : 1;
	return (one->state > other->state) - (one->state < other->state);
}

/* Adds a pair to another, if it is the same but for the numbers. */
static bool join(struct view_pair *pair, const struct view_pair *more)
{
	if (pair->stack != more->stack || pair->task != more->task || pair->state != more->state)
		return false;
	pair->samples += more->samples;
	pair->weight = view_add(pair->weight, more->weight);
	pair->squares += more->squares;
	return true;
}

/* Sorts by a byte of the keys; those with the same byte stay in order. */
static void sort_by(const struct order *from, struct order *to, size_t count, unsigned word, unsigned shift)
{
	size_t begin[257] = { 0 };

	for (size_t n = 0; n < count; n++)
		begin[(from[n].words[word] >> shift & 255) + 1]++;
	for (unsigned byte = 0; byte < 256; byte++)
		begin[byte + 1] += begin[byte];
	for (size_t n = 0; n < count; n++)
		to[begin[from[n].words[word] >> shift & 255]++] = from[n];
}

/* Sorts by every byte in which keys differ. Return: which of the two arrays has the result. */
static struct order *sort(struct order *one, struct order *other, size_t count)
{
	uint32_t differ[WORDS] = { 0 };

	for (size_t n = 1; n < count; n++) {
		for (unsigned word = 0; word < WORDS; word++)
			differ[word] |= one[n].words[word] ^ one[0].words[word];
	}
	for (unsigned bit = 0; bit < 32 * WORDS; bit += 8) {
		struct order *sorted = other;

		if (!(differ[bit / 32] >> bit % 32 & 255))
			continue;
		sort_by(one, sorted, count, bit / 32, bit % 32);
		other = one;
		one = sorted;
	}
	return one;
}

static int order_new(struct order **order, const struct view_pairs *pairs)
{
	*order = malloc(2 * pairs->count * sizeof(**order) + 1);
	for (size_t n = 0; *order && n < pairs->count; n++) {
		const struct view_pair *pair = &pairs->list[n];

		(*order)[n] = (struct order){ { pair->state, pair->stack, pair->task }, (uint32_t)n };
	}
	return *order ? 0 : -ENOMEM;
}

/* Puts them in order and together, in a list of that room. */
static int settle(struct view_pairs *pairs, size_t room)
{
	struct view_pair *list = malloc(room * sizeof(*list) + 1);
	struct order *order, *sorted;
	size_t count = 0;

	if (!list || order_new(&order, pairs)) {
		free(list);
		return -ENOMEM;
	}
	sorted = sort(order, order + pairs->count, pairs->count);
	for (size_t n = 0; n < pairs->count; n++) {
		const struct view_pair *pair = &pairs->list[sorted[n].at];

		if (!count || !join(&list[count - 1], pair))
			list[count++] = *pair;
	}
	free(order);
	free(pairs->list);
	*pairs = (struct view_pairs){ list, count, room, pairs->recent };
	return 0;
}

int view_pairs_settle(struct view_pairs *pairs)
{
	return settle(pairs, pairs->count);
}

/* Room for more: what sorting makes free, if that is half of the list; otherwise the list grows. */
static int make_room(struct view_pairs *pairs)
{
	size_t room = pairs->room;

	if (!pairs->recent)
		pairs->recent = calloc(1 << RECENT_BITS, sizeof(*pairs->recent));
	if (!pairs->recent || room > UINT32_MAX / 2 || settle(pairs, room ? 2 * room : ROOM))
		return -ENOMEM;
	if (2 * pairs->count < room)
		pairs->room = room;
	return 0;
}

int view_pairs_add(struct view_pairs *pairs, const struct view_pair *pair)
{
	uint64_t hash = ((uint64_t)pair->task << 32 ^ pair->stack) * UINT64_C(0x9e3779b97f4a7c15);
	struct view_recent *recent;

	if (pairs->count == pairs->room && make_room(pairs))
		return -ENOMEM;
	recent = &pairs->recent[hash >> (64 - RECENT_BITS)];
	if (recent->task == pair->task && recent->stack == pair->stack && recent->at < pairs->count &&
	    join(&pairs->list[recent->at], pair))
		return 0;
	*recent = (struct view_recent){ pair->task, pair->stack, (uint32_t)pairs->count };
	pairs->list[pairs->count++] = *pair;
	return 0;
}

void view_pairs_free(struct view_pairs *pairs)
{
	free(pairs->list);
	free(pairs->recent);
	*pairs = (struct view_pairs){ .list = NULL };
}
