/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A radix sort: of a million pairs, comparing two at a time would take longer than counting them. */
#include "view/pairs.h"

#include <errno.h>
#include <stdlib.h>

enum {
	WORDS = 3, /* of a key */
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

static void join(struct view_pair *pair, const struct view_pair *more)
{
	pair->samples += more->samples;
	pair->weight = view_add(pair->weight, more->weight);
	pair->squares += more->squares;
}

/* The keys, and as much room again. */
static struct order *order_new(const struct view_pair *pairs, size_t count)
{
	struct order *order = count > UINT32_MAX ? NULL : malloc(2 * count * sizeof(*order) + 1);

	for (size_t n = 0; order && n < count; n++)
		order[n] = (struct order){ { pairs[n].state, pairs[n].stack, pairs[n].task }, (uint32_t)n };
	return order;
}

int view_pairs_sort(struct view_pair **pairs, size_t *count)
{
	struct view_pair *list = malloc(*count * sizeof(*list) + 1);
	struct order *order = list ? order_new(*pairs, *count) : NULL, *sorted;
	size_t kept = 0;

	if (!order) {
		free(list);
		return -ENOMEM;
	}
	sorted = sort(order, order + *count, *count);
	for (size_t n = 0; n < *count; n++) {
		const struct view_pair *pair = &(*pairs)[sorted[n].at];

		if (kept && !view_pair_order(&list[kept - 1], pair))
			join(&list[kept - 1], pair);
		else
			list[kept++] = *pair;
	}
	free(order);
	free(*pairs);
	*pairs = list;
	*count = kept;
	return 0;
}
