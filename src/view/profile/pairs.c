/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A radix sort: to compare a million pairs two at a time would take longer than to count them. */
#include "view/profile/pairs.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>

enum {
	WORDS = 3, /* of a key */
};

/* A sort key, the least significant word first. */
struct order {
	uint32_t words[WORDS];
	uint32_t at; /* index in the list */
};

int view_pair_order(const void *a, const void *b)
{
	const struct view_pair *one = a, *other = b;

	return number_order(one->task, other->task) ?:
	       number_order(one->stack, other->stack) ?:
	       number_order(one->state, other->state);
}

/* A stable sort by one byte of the keys. */
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

/* Sorts by every byte in which keys differ. Return: the array with the result, one of the two. */
static struct order *pairs_sort(struct order *one, struct order *other, size_t count)
{
	uint32_t differ[WORDS] = { 0 };

	for (size_t n = 1; n < count; n++)
		for (unsigned word = 0; word < WORDS; word++)
			differ[word] |= one[n].words[word] ^ one[0].words[word];
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

static void pairs_join(struct view_pair *pair, const struct view_pair *more)
{
	pair->samples += more->samples;
	pair->weight = view_add(pair->weight, more->weight);
	pair->squares += more->squares;
}

/* The keys, and as much room again for pairs_sort(). */
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
	sorted = pairs_sort(order, order + *count, *count);
	for (size_t n = 0; n < *count; n++) {
		const struct view_pair *pair = &(*pairs)[sorted[n].at];

		if (kept && !view_pair_order(&list[kept - 1], pair))
			pairs_join(&list[kept - 1], pair);
		else
			list[kept++] = *pair;
	}
	free(order);
	free(*pairs);
	*pairs = list;
	*count = kept;
	return 0;
}
