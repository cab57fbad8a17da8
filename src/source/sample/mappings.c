/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mappings in order; see mappings.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "source/sample/mappings.h"

/* The first mapping that ends behind an address. */
static unsigned first_behind(const struct mappings *mappings, uint64_t address)
{
	unsigned low = 0, high = mappings->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (mappings->all[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Whether the mapping of that number has an address. */
static bool has(const struct mappings *mappings, unsigned n, uint64_t address)
{
	return n < mappings->count && mappings->all[n].begin <= address && address < mappings->all[n].end;
}

const struct mapping *mappings_find(struct mappings *mappings, uint64_t address)
{
	if (!has(mappings, mappings->last, address))
		mappings->last = first_behind(mappings, address);
	return has(mappings, mappings->last, address) ? &mappings->all[mappings->last] : NULL;
}

static int reserve(struct mappings *mappings, unsigned more)
{
	if (mappings->room - mappings->count < more) {
		unsigned room = 2 * mappings->count + more + 6;
		struct mapping *all = realloc(mappings->all, room * sizeof(*all));

		if (!all)
			return -ENOMEM;
		mappings->all = all;
		mappings->room = room;
	}
	return 0;
}

/* Put `count` mappings in the place of those from `from` to `to`; there is room. */
static void replace(struct mappings *mappings, unsigned from, unsigned to, const struct mapping *with,
		    unsigned count)
{
	memmove(&mappings->all[from + count], &mappings->all[to], (mappings->count - to) * sizeof(*with));
	memcpy(&mappings->all[from], with, count * sizeof(*with));
	mappings->count = mappings->count - (to - from) + count;
}

int mappings_add(struct mappings *mappings, const struct mapping *mapping)
{
	unsigned from = first_behind(mappings, mapping->begin), to = from, count = 0;
	struct mapping parts[3], last;

	if (mapping->begin >= mapping->end)
		return 0;
	if (reserve(mappings, 2))
		return -ENOMEM;
	while (to < mappings->count && mappings->all[to].begin < mapping->end)
		to++;
	if (to > from && mappings->all[from].begin < mapping->begin) { /* its front stays */
		parts[count] = mappings->all[from];
		parts[count++].end = mapping->begin;
	}
	parts[count++] = *mapping;
	if (to > from && mappings->all[to - 1].end > mapping->end) { /* its end stays */
		last = mappings->all[to - 1];
		last.offset += mapping->end - last.begin;
		last.begin = mapping->end;
		parts[count++] = last;
	}
	replace(mappings, from, to, parts, count);
	return 0;
}

int mappings_fill(struct mappings *mappings, const struct mapping *mapping)
{
	uint64_t at = mapping->begin;
	int error = 0;

	while (!error && at < mapping->end) {
		const unsigned n = first_behind(mappings, at);
		const struct mapping *next = n < mappings->count ? &mappings->all[n] : NULL;
		struct mapping part = *mapping;
		const uint64_t behind = next && next->begin < mapping->end ? next->end : mapping->end;

		part.begin = at;
		part.offset = mapping->offset + (at - mapping->begin);
		if (next && next->begin < part.end)
			part.end = next->begin;
		error = mappings_add(mappings, &part);
		at = behind;
	}
	return error;
}

int mappings_copy(struct mappings *to, const struct mappings *from)
{
	*to = (struct mappings){ 0 };
	if (from->count == 0)
		return 0;
	if (reserve(to, from->count))
		return -ENOMEM;
	memcpy(to->all, from->all, from->count * sizeof(*to->all));
	to->count = from->count;
	return 0;
}

void mappings_clear(struct mappings *mappings)
{
	free(mappings->all);
	*mappings = (struct mappings){ 0 };
}
