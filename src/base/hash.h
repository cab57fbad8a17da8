/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Hashes of texts, for tables in memory: FNV-1a, whose upper half is folded into the lower for small tables. */
#ifndef BURIN_BASE_HASH_H
#define BURIN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_byte(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_fold(uint64_t hash)
{
	return hash ^ hash >> 32;
}

/* hash_text - of a text up to its NUL. */
static inline uint64_t hash_text(const char *text)
{
	uint64_t hash = HASH_BEGIN;

	for (; *text; text++)
		hash = hash_byte(hash, *text);
	return hash_fold(hash);
}

#endif
