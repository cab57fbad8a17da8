/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts, each kept once: a table of hashes with linear probing, at most half full. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/texts.h"

static uint32_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = HASH_BEGIN;

	for (size_t n = 0; n < bytes; n++)
		hash = hash_byte(hash, text[n]);
	return (uint32_t)hash_fold(hash);
}

/* The slot of a text, or the free one where it belongs. */
static uint32_t *slot_of(const struct texts *texts, const char *text, size_t bytes, uint32_t hash)
{
	const uint32_t mask = texts->room * 2 - 1;

	for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
		const uint32_t number = texts->slots[at];
		const struct texts_entry *entry = number ? &texts->all[number - 1] : NULL;

		if (!entry ||
		    (entry->hash == hash && entry->bytes == bytes && !memcmp(entry->text, text, bytes)))
			return &texts->slots[at];
	}
}

static bool grow(struct texts *texts)
{
	const uint32_t room = texts->room ? texts->room * 2 : 1024;
	struct texts_entry *all = room < UINT32_MAX / 4 ? reallocarray(texts->all, room, sizeof(*all)) : NULL;
	uint32_t *slots = all ? calloc((size_t)room * 2, sizeof(*slots)) : NULL;

	if (all)
		texts->all = all;
	if (!slots)
		return false;
	free(texts->slots);
	texts->slots = slots;
	texts->room = room;
	for (uint32_t n = 0; n < texts->count; n++)
		*slot_of(texts, all[n].text, all[n].bytes, all[n].hash) = n + 1;
	return true;
}

uint32_t texts_number(struct texts *texts, const char *text, size_t bytes, bool *fresh)
{
	const uint32_t hash = hash_of(text, bytes);
	struct texts_entry entry = { .bytes = (uint32_t)bytes, .hash = hash };
	uint32_t *slot;

	*fresh = false;
	if (texts->count == texts->room && !grow(texts))
		return 0;
	slot = slot_of(texts, text, bytes, hash);
	if (*slot)
		return *slot;
	entry.text = malloc(bytes + 1);
	if (!entry.text)
		return 0;
	memcpy(entry.text, text, bytes);
	entry.text[bytes] = 0;
	texts->all[texts->count++] = entry;
	*slot = texts->count;
	*fresh = true;
	return *slot;
}

void texts_free(struct texts *texts)
{
	for (uint32_t n = 0; n < texts->count; n++)
		free(texts->all[n].text);
	free(texts->all);
	free(texts->slots);
	*texts = (struct texts){ 0 };
}
