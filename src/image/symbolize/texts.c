/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A table of distinct texts; see texts.h. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "image/symbolize/texts.h"

static uint64_t texts_hash_of(const char *text, size_t bytes)
{
	uint64_t hash = hash_begin();

	for (size_t n = 0; n < bytes; n++)
		hash = hash_byte(hash, text[n]);
	return hash;
}

uint32_t texts_number(struct texts *texts, const char *text, size_t bytes, bool *fresh)
{
	const uint64_t hash = texts_hash_of(text, bytes);
	struct texts_entry entry = { .bytes = (uint32_t)bytes };
	uint32_t number;

	*fresh = false;
	for (size_t at = 0; (number = hash_table_next(&texts->numbers, hash, &at));) {
		const struct texts_entry *old = &texts->all[number - 1];

		if (old->bytes == bytes && !memcmp(old->text, text, bytes))
			return number;
	}
	if (!hash_table_reserve(&texts->numbers) ||
	    !array_reserve_max(texts->all, texts->room, (size_t)texts->count + 1, UINT32_MAX / 4))
		return 0;
	entry.text = malloc(bytes + 1);
	if (!entry.text)
		return 0;
	memcpy(entry.text, text, bytes);
	entry.text[bytes] = 0;
	texts->all[texts->count++] = entry;
	hash_table_add(&texts->numbers, hash, texts->count);
	*fresh = true;
	return texts->count;
}

void texts_free(struct texts *texts)
{
	for (uint32_t n = 0; n < texts->count; n++)
		free(texts->all[n].text);
	free(texts->all);
	hash_table_free(&texts->numbers);
	*texts = (struct texts){ 0 };
}
