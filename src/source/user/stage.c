/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Packs the arguments of records that have strings or byte arrays, and hands them to burin_emit.
 *
 * Two tiers. The first serves the usual record, whose strings are short: one pass into a buffer on the stack,
 * of which only the end is checked. What it cannot do (a string of hundreds of bytes, one that is longer than
 * the limit, one that would have to be read with care) the second does from the beginning: it measures
 * everything and writes into a buffer of that size. Strings may change between or during the two; each is
 * written within the bounds that were measured, and what is stored is what was looked at (text.h), so the
 * record is well formed whatever they become.
 *
 * The first tier stores more than an argument needs, 8 or 16 bytes, and lets what follows overwrite the rest;
 * 8 bytes of zeros come last. That is the fastest, but for one thing: burin_emit loads the word in which the
 * payload begins, and a load that spans several stores has to wait until they have left the processor's store
 * buffer. So that word is stored once more, as a whole.
 */
#include "source/user/stage.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "wire/format.h"
#include "burin/burin.h"
#include "source/user/text.h"
#include "wire/event.h"
#include "wire/record.h"

enum {
	FAST_BYTES = 512, /* of payload in the first tier, when more than ... */
	FAST_SLACK = WIRE_ARGS_MAX * TEXT_CHUNK +
		     TEXT_CHUNK, /* ... what may be stored without a look at the room left */
	SLACK = 16,		 /* the second tier's pen stores a word behind what it has written */
	PAYLOAD_MAX = WIRE_LENGTH_MAX - WIRE_HEADROOM,
	MARK_BYTES = sizeof(WIRE_TRUNCATED) - 1,
};

static_assert((int)FAST_BYTES < (int)WIRE_STRING_MAX, "the first tier knows no limit");

/* Bytes of a type in the payload, 0 if they vary: format_type_bytes without a call. A table of 16 nibbles. */
#define TYPE_BYTES(type) ((unsigned)(0x1008848421842110u >> (4 * (type)) & 15))

uint32_t text_reach = TEXT_REACH;

void stage_careful(void)
{
	text_reach = 0;
}

struct pen {
	uint64_t *at;	/* where the word goes */
	uint64_t word;	/* the bytes so far, zeros behind them */
	unsigned bytes; /* how many: 0..7 */
};

static inline struct pen pen_begin(uint64_t *buffer)
{
	return (struct pen){ buffer + WIRE_HEADROOM / 8, 0, WIRE_HEADROOM % 8 };
}

/* Writes 1 to 8 bytes of a value whose other bytes are zero. */
static inline void pen_put(struct pen *pen, uint64_t value, unsigned bytes)
{
	unsigned shift = 8 * pen->bytes, total = pen->bytes + bytes;
	uint64_t word = pen->word | value << shift;

	*pen->at = word;
	pen->at += total / 8;
	pen->word = total >= 8 ? value >> 1 >> (63 - shift) : word;
	pen->bytes = total % 8;
}

/* Stores the last word. Return: bytes of the payload. */
static inline size_t pen_end(struct pen *pen, const uint64_t *buffer)
{
	*pen->at = pen->word;
	return (size_t)(pen->at - buffer) * 8 + pen->bytes - WIRE_HEADROOM;
}

static inline void pen_put_scalar(struct pen *pen, uint64_t value, unsigned bytes)
{
	pen_put(pen, value & ~(uint64_t)0 >> (64 - 8 * bytes), bytes);
}

/*
 * Writes a string of at most `max` bytes, with its NUL. Return: false if there was no NUL in the first max +
 * 1 bytes; then up to `max` bytes of it have been written.
 */
TEXT_UNCHECKED static inline bool pen_put_text(struct pen *pen, const char *text, ptrdiff_t max)
{
	for (;; text += 8, max -= 8) {
		uint64_t word = text_load(text), nul = text_nul(word);

		if (nul) {
			unsigned end = text_end(nul);

			if (end > max)
				return false;
			pen_put(pen, word & (((uint64_t)1 << 8 * end) - 1), end + 1);
			return true;
		}
		if (max < 8)
			return false;
		pen_put(pen, word, 8);
	}
}

static inline void pen_put_bytes(struct pen *pen, const void *from, uint32_t count)
{
	const unsigned char *bytes = from;
	uint64_t word;

	pen_put(pen, count, 2);
	for (; count >= 8; bytes += 8, count -= 8) {
		memcpy(&word, bytes, 8);
		pen_put(pen, word, 8);
	}
	if (count) {
		word = 0;
		memcpy(&word, bytes, count);
		pen_put(pen, word, count);
	}
}

static inline const char *arg_text(const union burin_arg *arg)
{
	return arg->p ? arg->p : WIRE_NULL;
}

static inline uint32_t arg_bytes(const union burin_arg *arg, uint32_t limit)
{
	if (!arg[0].p || arg[1].u > PTRDIFF_MAX) /* a negative length */
		return 0;
	return arg[1].u < limit ? (uint32_t)arg[1].u : limit;
}

/* The largest length up to `length` at which a text does not end within a UTF-8 character. Text that is no
 * UTF-8 stays. */
static size_t utf8_cut(const unsigned char *text, size_t length)
{
	size_t lead = length, back = 0;
	unsigned need;

	while (back < 3 && lead > 0 && (text[lead - 1] & 0xc0) == 0x80) {
		lead--;
		back++;
	}
	if (lead == 0)
		return length;
	lead--;
	need = text[lead] >= 0xf8   ? 0
	       : text[lead] >= 0xf0 ? 3
	       : text[lead] >= 0xe0 ? 2
	       : text[lead] >= 0xc0 ? 1
				    : 0;
	return back < need ? lead : length;
}

/* Writes a string that has been found to be too long, byte by byte: cut, marked, and in all at most `max`
 * bytes long. */
TEXT_UNCHECKED static void pen_put_cut(struct pen *pen, const char *text, size_t max)
{
	size_t mark = max >= MARK_BYTES ? MARK_BYTES : 0, length = 0;
	unsigned char *bytes = (unsigned char *)pen->at + pen->bytes;

	*pen->at = pen->word;
	while (length < max - mark) {
		unsigned char c = *(const volatile unsigned char *)(text + length);

		if (!c) /* it has shrunk: all of it is recorded after all */
			break;
		bytes[length++] = c;
	}
	if (length == max - mark) {
		length = utf8_cut(bytes, length);
		memcpy(bytes + length, WIRE_TRUNCATED, mark);
		length += mark;
	}
	bytes[length++] = '\0';
	length += pen->bytes;
	pen->at += length / 8;
	pen->bytes = length % 8;
	pen->word = 0;
	memcpy(&pen->word, pen->at, pen->bytes);
}

/* Bytes of the payload; the lengths of strings (limit + 1 for longer ones) and byte arrays, one per argument.
 */
static size_t measure(uint64_t types, const union burin_arg *arg, uint32_t limit, uint32_t *lengths)
{
	size_t payload = 0;

	for (; types; types >>= 4, arg++, lengths++) {
		unsigned type = types & 15;

		if (type == WIRE_STR) {
			*lengths = (uint32_t)text_length(arg_text(arg), limit);
			payload += (*lengths <= limit ? *lengths : limit) + 1;
		} else if (type == WIRE_BYTES) {
			*lengths = arg_bytes(arg++, limit);
			payload += 2 + *lengths;
		} else {
			payload += TYPE_BYTES(type);
		}
	}
	return payload;
}

/* The second tier. Not inlined: its buffer is as large as the record. */
static __attribute__((noinline, cold)) void emit_measured(struct burin_site *site, unsigned state,
							  uint64_t types, const union burin_arg *arg)
{
	uint32_t lengths[WIRE_ARGS_MAX], limit = __atomic_load_n(&burin_string_max, __ATOMIC_RELAXED);
	size_t payload;
	uint64_t *buffer;
	struct pen pen;

	if (limit > UINT16_MAX) /* longer than any record */
		limit = UINT16_MAX;
	payload = measure(types, arg, limit, lengths);
	if (payload > PAYLOAD_MAX) {
		burin_emit(site, state, NULL, payload);
		return;
	}
	buffer = __builtin_alloca(WIRE_HEADROOM + payload + SLACK);
	pen = pen_begin(buffer);
	for (const uint32_t *length = lengths; types; types >>= 4, arg++, length++) {
		unsigned type = types & 15;

		if (type == WIRE_STR) {
			const char *text = arg_text(arg);
			const struct pen before = pen;

			/* One that has grown since is cut to what was measured. */
			if (*length > limit) {
				pen_put_cut(&pen, text, limit);
			} else if (!pen_put_text(&pen, text, *length)) {
				pen = before;
				pen_put_cut(&pen, text, *length);
			}
		} else if (type == WIRE_BYTES) {
			pen_put_bytes(&pen, arg->p, *length);
			arg++;
		} else {
			pen_put_scalar(&pen, arg->u, TYPE_BYTES(type));
		}
	}
	payload = pen_end(&pen, buffer);
	burin_emit(site, state, buffer, payload);
}

/*
 * Writes a byte array, or a string of which the first chunk has been written, at `at`, and scribbles behind
 * it. Return: its bytes in the payload, or 0: not in this tier.
 */
TEXT_UNCHECKED static __attribute__((noinline)) size_t
fast_put_long(unsigned char *at, const unsigned char *end, unsigned type, const union burin_arg *arg)
{
	const char *text = arg->p;
	size_t done = 0;

	if (type == WIRE_BYTES) {
		uint16_t count = (uint16_t)arg_bytes(arg, WIRE_STRING_MAX);

		if (end - at < (ptrdiff_t)count + 2)
			return 0;
		memcpy(at, &count, 2);
		if (count)
			memcpy(at + 2, text, count);
		return count + 2u;
	}
	for (;;) {
		text_chunk chunk;
		unsigned length;

		done += TEXT_CHUNK;
		if ((ptrdiff_t)done > end - at || !text_chunk_safe(text + done))
			return 0;
		chunk = text_chunk_load(text + done);
		memcpy(at + done, &chunk, sizeof(chunk));
		length = text_chunk_end(chunk);
		if (length < TEXT_CHUNK)
			return done + length + 1;
	}
}

/* Writes any argument, in the same way. @first: NULL, or gets the first four of the bytes stored. */
TEXT_UNCHECKED static inline size_t fast_put(unsigned char *at, const unsigned char *end, unsigned type,
					     const union burin_arg *arg, uint32_t *first)
{
	size_t bytes = TYPE_BYTES(type);
	text_chunk chunk;

	if (bytes) {
		memcpy(at, &arg->u, 8);
		if (first)
			*first = (uint32_t)arg->u;
		return bytes;
	}
	if (type != WIRE_STR) {
		bytes = fast_put_long(at, end, type, arg);
		if (first)
			memcpy(first, at, sizeof(*first));
		return bytes;
	}
	if (!arg->p || !text_chunk_safe(arg->p))
		return 0;
	chunk = text_chunk_load(arg->p);
	memcpy(at, &chunk, sizeof(chunk));
	if (first)
		memcpy(first, &chunk, sizeof(*first));
	bytes = text_chunk_end(chunk);
	return bytes < TEXT_CHUNK ? bytes + 1 : fast_put_long(at, end, type, arg);
}

/* The first tier. */
TEXT_UNCHECKED static __attribute__((noinline)) void emit_fast(struct burin_site *site, unsigned state,
							       const union burin_arg *args)
{
	uint64_t buffer[(WIRE_HEADROOM + FAST_BYTES + FAST_SLACK) / 8 + 1];
	unsigned char *at = (unsigned char *)buffer + WIRE_HEADROOM;
	const unsigned char *const end = at + FAST_BYTES;
	const union burin_arg *arg = args;
	uint64_t types = site->types;
	uint32_t first;
	size_t bytes;

	if (__builtin_expect(burin_string_max < WIRE_STRING_MAX, 0))
		goto measured;
	bytes = fast_put(at, end, types & 15, arg, &first);
	if (!bytes)
		goto measured;
	if (__builtin_expect(bytes >= sizeof(first), 1))
		buffer[WIRE_HEADROOM / 8] = (uint64_t)first << 32;
	for (;;) {
		at += bytes;
		arg += 1 + ((types & 15) == WIRE_BYTES);
		types >>= 4;
		if (!types)
			break;
		bytes = fast_put(at, end, types & 15, arg, NULL);
		if (!bytes)
			goto measured;
	}
	memset(at, 0, 8);
	burin_emit(site, state, buffer, (size_t)(at + FAST_BYTES - end));
	return;
measured:
	emit_measured(site, state, site->types, args);
}

/* Two words of a chunk, by way of registers. */
static inline void chunk_words(text_chunk chunk, uint64_t *low, uint64_t *high)
{
#if defined(__SSE2__)
	typedef uint64_t pair __attribute__((vector_size(16)));
	const pair words = (pair)chunk;

	*low = words[0];
	*high = words[1];
#else
	*low = chunk.low;
	*high = chunk.high;
#endif
}

/*
 * A record of up to 8 bytes of scalars, then one string of less than a chunk. Its words are put together in
 * registers and each is stored once: burin_emit need not wait for any of them. Inlined, so that without
 * scalars the shifts are constant. Return: false: not of that kind.
 */
TEXT_UNCHECKED static inline __attribute__((always_inline)) bool
emit_short(struct burin_site *site, unsigned state, const char *text, uint64_t scalars, unsigned bytes)
{
	uint64_t buffer[WIRE_HEADROOM / 8 + 5], *at = buffer + WIRE_HEADROOM / 8, low, high;
	unsigned length, shift = (4 + bytes) % 8 * 8;
	text_chunk chunk;

	if (!text || !text_chunk_safe(text) || burin_string_max < TEXT_CHUNK)
		return false;
	chunk = text_chunk_load(text);
	length = text_chunk_end(chunk);
	if (length == TEXT_CHUNK)
		return false;
	chunk_words(text_chunk_keep(chunk, length), &low, &high);

	/* The payload begins in the middle of a word; the string goes on in the middle of whichever comes
	 * then. */
	at[0] = scalars << 32;
	if (bytes >= 4)
		*++at = scalars >> 32;
	at[0] |= low << shift;
	at[1] = low >> 1 >> (63 - shift) | high << shift;
	at[2] = high >> 1 >> (63 - shift);
	at[3] = 0;
	burin_emit(site, state, buffer, bytes + length + 1);
	return true;
}

/* The same with scalars before the string, or whatever else there may be. */
TEXT_UNCHECKED static __attribute__((noinline)) void emit_mixed(struct burin_site *site, unsigned state,
								const union burin_arg *args)
{
	uint64_t types = site->types, scalars = 0;
	const union burin_arg *arg = args;
	unsigned bytes = 0;

	for (; (types & 15) != WIRE_STR; types >>= 4, arg++) {
		unsigned size = TYPE_BYTES(types & 15);

		if (!size || bytes + size > 8)
			goto other;
		scalars |= arg->u << (64 - 8 * size) >> (64 - 8 * size) << 8 * bytes;
		bytes += size;
	}
	if (types == WIRE_STR && emit_short(site, state, arg->p, scalars, bytes))
		return;
other:
	emit_fast(site, state, args);
}

/* Before the tiers, the most usual record of all, straight on: one short string. */
TEXT_UNCHECKED void burin_emit_args(struct burin_site *site, unsigned state, const union burin_arg *args)
{
	if (site->types != WIRE_STR || !emit_short(site, state, args->p, 0, 0))
		emit_mixed(site, state, args);
}

uint64_t stage_types(const char *format, uint64_t types)
{
	struct format parsed;

	while (format_parse(format, types, &parsed, NULL) < 0 && parsed.count < WIRE_ARGS_MAX) {
		const struct format_field *field = &parsed.fields[parsed.count];
		unsigned shift = 4 * parsed.count;

		/* On failure the field that did not fit comes after those that did. */
		if ((types >> shift & 15) != WIRE_STR || field->type != WIRE_STR || field->conversion != 'p')
			break;
		types ^= (uint64_t)(WIRE_STR ^ WIRE_PTR) << shift;
	}
	return types;
}
