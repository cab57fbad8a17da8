/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A table of distinct texts, numbered from 1 in the order of arrival. */
#ifndef BURIN_IMAGE_SYMBOLIZE_TEXTS_H
#define BURIN_IMAGE_SYMBOLIZE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_table.h"

struct texts_entry {
	char *text;
	uint32_t bytes;
};

struct texts {
	struct texts_entry *all; /* number n is all[n - 1] */
	size_t room;
	uint32_t count;
	struct hash_table numbers;
};

/*
 * texts_number - the number of a text.
 * @fresh: set to whether it is new
 * Return: 0: no memory.
 */
uint32_t texts_number(struct texts *texts, const char *text, size_t bytes, bool *fresh);
void texts_free(struct texts *texts);

#endif
