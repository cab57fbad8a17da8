/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts, each kept once, numbered from 1 in the order of their coming. */
#ifndef BURIN_IMAGE_TEXTS_H
#define BURIN_IMAGE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct texts_entry {
	char *text;
	uint32_t bytes, hash;
};

struct texts {
	struct texts_entry *all; /* number n is all[n - 1] */
	uint32_t *slots;	 /* numbers, by hash; 0: free */
	uint32_t count, room;	 /* slots: twice as many */
};

/*
 * texts_number - the number of a text.
 * @fresh: set to whether it is new
 * Return: 0: no memory.
 */
uint32_t texts_number(struct texts *texts, const char *text, size_t bytes, bool *fresh);
void texts_free(struct texts *texts);

#endif
