/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hashes for tables in memory. Texts: FNV-1a, whose upper half is folded into the lower for small tables. All of these
 * depend on a secret of the process. The keys often come from another user, who could otherwise choose keys that
 * collide and make every look-up walk through all of them. The one exception is hash_stable().
 */
#ifndef BURIN_BASE_CONTAINERS_HASH_H
#define BURIN_BASE_CONTAINERS_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* hash_secret - random bytes from the kernel, the same in the whole process. */
static inline uint64_t hash_secret(void)
{
	static uint64_t cached;
	uint64_t secret = __atomic_load_n(&cached, __ATOMIC_RELAXED);

	if (__builtin_expect(!secret, 0)) {
		const char *random = (const char *)getauxval(AT_RANDOM); // NOLINT: the value is an address

		if (random)
			memcpy(&secret, random, sizeof(secret));
		secret |= 1;
		__atomic_store_n(&cached, secret, __ATOMIC_RELAXED);
	}
	return secret;
}

/* hash_begin - start the hash of a text; continue with hash_byte(), end with hash_fold(). */
static inline uint64_t hash_begin(void)
{
	return UINT64_C(0xcbf29ce484222325) ^ hash_secret();
}

/* hash_pair - the hash of two numbers: each is mixed with the secret, and the halves of their product are combined. */
static inline uint64_t hash_pair(uint64_t one, uint64_t other)
{
	__extension__ typedef unsigned __int128 wide;
	const uint64_t secret = hash_secret();
	const wide product = (wide)(one ^ secret) *
			     ((other + UINT64_C(0x9e3779b97f4a7c15)) ^ (secret << 32 | secret >> 32));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_byte(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_fold(uint64_t hash)
{
	return hash ^ hash >> 32;
}

/* hash_text - the hash of a text up to its NUL. */
static inline uint64_t hash_text(const char *text)
{
	uint64_t hash = hash_begin();

	for (; *text; text++)
		hash = hash_byte(hash, *text);
	return hash_fold(hash);
}

/*
 * hash_stable - without the secret, for what processes share or repeat; not for tables whose keys others choose: FNV-1a
 * in 32 bits.
 */
static inline uint32_t hash_stable(const void *data, size_t bytes)
{
	const unsigned char *byte = (const unsigned char *)data;
	uint32_t hash = UINT32_C(2166136261);

	for (size_t n = 0; n < bytes; n++)
		hash = (hash ^ byte[n]) * UINT32_C(16777619);
	return hash;
}

#endif
