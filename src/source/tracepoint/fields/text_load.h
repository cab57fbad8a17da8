/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Read a string that may change meanwhile: fast, bounded, and each byte once.
 *
 * Another thread may write to a string while it is recorded. So each byte is loaded once, into a register. The register
 * is tested for NUL, and the register is stored. So the copy has no NUL but its last byte and never exceeds its bound,
 * even if the string changes.
 *
 * Eight bytes are loaded at once. This may go beyond the string's end, but never into the next page, so it cannot fault.
 * Tools that check every byte report it all the same. These functions are exempt from AddressSanitizer; for valgrind,
 * text_reach = 0 makes them go byte by byte.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_FIELDS_TEXT_LOAD_H
#define BURIN_SOURCE_TRACEPOINT_FIELDS_TEXT_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TEXT_PAGE = 4096,
	TEXT_CHUNK = 16,
	TEXT_REACH = TEXT_PAGE - TEXT_CHUNK + 1,
};

/* A word or a chunk is loaded at once if its offset in its page is below this: TEXT_REACH, or 0 for never. */
extern uint32_t text_reach;

/* For every function into which a load is inlined. */
#define TEXT_UNCHECKED __attribute__((no_sanitize("address", "thread")))

/* Load eight bytes one by one, and none behind a NUL. */
TEXT_UNCHECKED static __attribute__((__noinline__, __cold__, __unused__)) uint64_t
text_load_careful(const char *text)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 8; i++) {
		unsigned char c = *(const volatile unsigned char *)(text + i);

		if (!c)
			break;
		word |= (uint64_t)c << 8 * i;
	}
	return word;
}

/* Load eight bytes of a string, of which at least the first is readable; the bytes behind its NUL are undefined. */
TEXT_UNCHECKED static inline uint64_t text_load(const char *text)
{
	typedef uint64_t unaligned __attribute__((aligned(1), may_alias));

	if (__builtin_expect(((uintptr_t)text & (TEXT_PAGE - 1)) < text_reach, 1))
		return *(const volatile unaligned *)text;
	return text_load_careful(text);
}

/* Not 0 if one of eight bytes is NUL; text_end() then returns the index of the first. */
static inline uint64_t text_nul(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;

	return (word - ones) & ~word & ones << 7;
}

static inline unsigned text_end(uint64_t nul)
{
	return (unsigned)__builtin_ctzll(nul) / 8;
}

/* A string of less than 16 bytes in two words, with zeros behind its end. */
struct text_words {
	uint64_t low, high;
	unsigned length;
};

/*
 * The mask of all bytes before the NUL follows from the NUL's bit in two steps. By vector instructions it would take
 * three times as long until the words are there, and a read of the clock waits for them on many processors.
 * Context: text_chunk_safe(). Return: false: the string is longer, and the words are its first sixteen bytes.
 */
TEXT_UNCHECKED static inline bool text_words_load(const char *text, struct text_words *words)
{
	typedef uint64_t unaligned __attribute__((aligned(1), may_alias));
	const uint64_t low = *(const volatile unaligned *)text,
		       high = *(const volatile unaligned *)(text + 8);
	const uint64_t nul_low = text_nul(low), nul_high = text_nul(high), within = -(uint64_t)(nul_low == 0),
		       nul = nul_low | (nul_high & within);

	words->low = low;
	words->high = high;
	if (!nul)
		return false;
	words->low = low & (nul_low ^ (nul_low - 1));
	words->high = high & (nul_high ^ (nul_high - 1)) & within;
	words->length = text_end(nul) + (8 & (unsigned)within);
	return true;
}

/* Sixteen bytes at once, without a careful variant. */
#if defined(__SSE2__)
typedef char text_chunk __attribute__((vector_size(16), aligned(1), may_alias));
#else
typedef struct {
	uint64_t low, high;
} __attribute__((packed, may_alias)) text_chunk;
#endif

static inline bool text_chunk_safe(const char *text)
{
	return __builtin_expect(((uintptr_t)text & (TEXT_PAGE - 1)) < text_reach, 1);
}

TEXT_UNCHECKED static inline text_chunk text_chunk_load(const char *text)
{
#if defined(__SSE2__)
	return *(const volatile text_chunk *)text;
#else
	const volatile text_chunk *chunk = (const volatile text_chunk *)text;

	return (text_chunk){ chunk->low, chunk->high };
#endif
}

/* The last offset from a text that text_chunk_safe() permits, at which the next sixteen bytes are safe in its page. */
static inline size_t text_chunk_page(const char *text)
{
	return TEXT_PAGE - TEXT_CHUNK - ((uintptr_t)text & (TEXT_PAGE - 1));
}

/* Not 0 if one of the bytes is NUL; text_chunk_at() then returns the index of the first. */
static inline unsigned text_chunk_nul(text_chunk chunk)
{
#if defined(__SSE2__)
	const text_chunk zeros = { 0 };

	return (unsigned)__builtin_ia32_pmovmskb128(chunk == zeros);
#else
	const uint64_t low = text_nul(chunk.low), high = text_nul(chunk.high);

	return (low ? 1u << text_end(low) : 0) | (high ? 1u << (8 + text_end(high)) : 0);
#endif
}

static inline unsigned text_chunk_at(unsigned nul)
{
	return (unsigned)__builtin_ctz(nul);
}

/* The index of the first NUL, or TEXT_CHUNK. */
static inline unsigned text_chunk_end(text_chunk chunk)
{
	return text_chunk_at(text_chunk_nul(chunk) | 1u << TEXT_CHUNK);
}

/* The chunk with zeros from its first NUL, at `end`, on. */
static inline text_chunk text_chunk_keep(text_chunk chunk, unsigned end)
{
#if defined(__SSE2__)
	static const unsigned char keep[2 * TEXT_CHUNK] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
							    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return chunk & *(const text_chunk *)(keep + TEXT_CHUNK - end);
#else
	uint64_t mask = ((uint64_t)1 << 8 * (end % 8)) - 1;

	return end < 8 ? (text_chunk){ chunk.low & mask, 0 } : (text_chunk){ chunk.low, chunk.high & mask };
#endif
}

/* text_length - a string's length, or max + 1 if there is no NUL in its first max + 1 bytes. */
TEXT_UNCHECKED static inline size_t text_length(const char *text, size_t max)
{
	for (size_t at = 0; at <= max; at += 8) {
		uint64_t nul = text_nul(text_load(text + at));

		if (nul) {
			at += text_end(nul);
			return at <= max ? at : max + 1;
		}
	}
	return max + 1;
}

#endif
