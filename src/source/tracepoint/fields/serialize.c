/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pack the arguments of records with strings or byte arrays, and pass them to burin_emit.
 *
 * There are two tiers. The first is for the usual record with short strings: one pass into a buffer on the stack, which
 * checks only the buffer's end. The second starts again for all other records: those with strings of hundreds of bytes,
 * strings beyond the limit, and strings that must be read byte by byte. It measures all arguments and writes into a
 * buffer of that size. Strings may change between the passes or during one. Each is written within the measured bounds,
 * and the stored bytes are the same load that was tested for NUL (text_load.h). So the record is always well formed.
 *
 * The first tier stores 8 or 16 bytes for each argument; the next argument overwrites those that are too many, and 8
 * bytes of zeros come last. This is the fastest way, with one exception. burin_emit loads the word in which the payload
 * begins, and a load that spans several stores waits until they have left the processor's store buffer. So that word is
 * stored once more, as a whole.
 */
#include "source/tracepoint/fields/serialize.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "wire/wire_format.h"
#include "burin/burin.h"
#include "source/tracepoint/fields/text_load.h"
#include "wire/wire_event.h"
#include "wire/wire_record.h"

/* The second tier's buffer is on the stack, which is small in the kernel (kernel/Kbuild). */
#ifndef SERIALIZE_PAYLOAD_MAX
#define SERIALIZE_PAYLOAD_MAX (WIRE_LENGTH_MAX - WIRE_HEADROOM)
#endif

enum {
	FAST_BYTES = 512, /* of payload in the first tier; checked only for long strings and byte arrays */
	FAST_SLACK = WIRE_ARGS_MAX * TEXT_CHUNK + TEXT_CHUNK, /* behind them: bytes stored without a check */
	SLACK = 16, /* the second tier stores a word behind the bytes that it has written, and reads it */
	PAYLOAD_MAX = SERIALIZE_PAYLOAD_MAX,
	MARK_BYTES = sizeof(WIRE_TRUNCATED) - 1,
};

static_assert((int)FAST_BYTES < (int)WIRE_STRING_MAX, "the first tier does not check the limit");

/* Bytes of a type in the payload, 0 if they vary: format_type_bytes without a call. A table of 16 nibbles. */
#define TYPE_BYTES(type) ((unsigned)(0x1008848421842110u >> (4 * (type)) & 15))

/* The scalars of four bytes. */
#define FOUR_BYTES (1u << WIRE_I32 | 1u << WIRE_U32 | 1u << WIRE_F32)

uint32_t burin_string_max = WIRE_STRING_MAX;
uint32_t text_reach = TEXT_REACH;

void serialize_careful(void)
{
	text_reach = 0;
}

struct serializer {
	uint64_t *at;	/* address of the current word */
	uint64_t word;	/* its bytes so far, then zeros */
	unsigned bytes; /* their number, 0..7 */
};

static inline struct serializer serializer_begin(uint64_t *buffer)
{
	return (struct serializer){ buffer + WIRE_HEADROOM / 8, 0, WIRE_HEADROOM % 8 };
}

/* Write the low 1 to 8 bytes of a value whose other bytes are zero. */
static inline void serializer_put(struct serializer *out, uint64_t value, unsigned bytes)
{
	unsigned shift = 8 * out->bytes, total = out->bytes + bytes;
	uint64_t word = out->word | value << shift;

	*out->at = word;
	out->at += total / 8;
	out->word = total >= 8 ? value >> 1 >> (63 - shift) : word;
	out->bytes = total % 8;
}

/* Store the last word. Return: bytes of the payload. */
static inline size_t serializer_end(struct serializer *out, const uint64_t *buffer)
{
	*out->at = out->word;
	return (size_t)(out->at - buffer) * 8 + out->bytes - WIRE_HEADROOM;
}

static inline void serializer_put_scalar(struct serializer *out, uint64_t value, unsigned bytes)
{
	serializer_put(out, value & ~(uint64_t)0 >> (64 - 8 * bytes), bytes);
}

/*
 * Write a string of at most `max` bytes, with its NUL. Return: false: there was no NUL in the first max + 1 bytes, and up
 * to `max` bytes have been written.
 */
TEXT_UNCHECKED static inline bool serializer_put_text(struct serializer *out, const char *text, ptrdiff_t max)
{
	for (;; text += 8, max -= 8) {
		uint64_t word = text_load(text), nul = text_nul(word);

		if (nul) {
			unsigned end = text_end(nul);

			if (end > max)
				return false;
			serializer_put(out, word & (((uint64_t)1 << 8 * end) - 1), end + 1);
			return true;
		}
		if (max < 8)
			return false;
		serializer_put(out, word, 8);
	}
}

/* Where the next byte belongs, for those who write it themselves; serializer_wrote() then takes over what they wrote. */
static inline unsigned char *serializer_flush(struct serializer *out)
{
	*out->at = out->word;
	return (unsigned char *)out->at + out->bytes;
}

static inline void serializer_wrote(struct serializer *out, size_t bytes)
{
	bytes += out->bytes;
	out->at += bytes / 8;
	out->bytes = bytes % 8;
	out->word = 0;
	memcpy(&out->word, out->at, out->bytes);
}

static inline void serializer_put_array(struct serializer *out, const void *from, uint32_t count,
					uint32_t size)
{
	serializer_put(out, count, 2);
	if (count)
		memcpy(serializer_flush(out), from, (size_t)count * size);
	serializer_wrote(out, (size_t)count * size);
}

static inline const char *arg_text(const union burin_arg *arg)
{
	return arg->p ? arg->p : WIRE_NULL;
}

/*
 * The pair of a text and its length, a count of characters as of `%.*s`: a negative one is no limit. Return: the most bytes
 * that the text may have; SIZE_MAX: it ends in NUL.
 */
static inline size_t pair_text(const union burin_arg *pair, const char **text)
{
	*text = pair[1].p ? pair[1].p : pair[0].u ? WIRE_NULL : "";
	return pair[1].p && pair[0].u <= PTRDIFF_MAX ? (size_t)pair[0].u : SIZE_MAX;
}

/* The elements of @size bytes that the pair of a count and a pointer has, in at most @limit bytes. */
static inline uint32_t pair_count(const union burin_arg *pair, uint32_t size, uint32_t limit)
{
	if (!pair[1].p || pair[0].u > PTRDIFF_MAX) /* a negative length */
		return 0;
	return pair[0].u < limit / size ? (uint32_t)pair[0].u : limit / size;
}

/* Bytes of an element, also of BURIN_BYTES. */
static inline uint32_t element_bytes(unsigned type)
{
	return type == WIRE_BYTES ? 1 : TYPE_BYTES(type);
}

/* Write the first @count bytes of a text that may end before; another thread may shorten it, so the copy is searched. */
static inline size_t copy_text(unsigned char *at, const char *text, size_t count)
{
	const unsigned char *nul;

	memcpy(at, text, count);
	nul = memchr(at, 0, count);
	count = nul ? (size_t)(nul - at) : count;
	at[count] = '\0';
	return count + 1;
}

/* The largest length up to `length` that does not cut a UTF-8 character. Text that is not UTF-8 keeps its length. */
static size_t utf8_truncated(const unsigned char *text, size_t length)
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

/* Write a string that was found to be too long, byte by byte: cut and marked, at most `max` bytes in all. */
TEXT_UNCHECKED static void serializer_put_truncated(struct serializer *out, const char *text, size_t max)
{
	size_t mark = max >= MARK_BYTES ? MARK_BYTES : 0, length = 0;
	unsigned char *bytes = serializer_flush(out);

	while (length < max - mark) {
		unsigned char c = *(const volatile unsigned char *)(text + length);

		if (!c) /* it has become shorter: record all of it */
			break;
		bytes[length++] = c;
	}
	if (length == max - mark) {
		length = utf8_truncated(bytes, length);
		memcpy(bytes + length, WIRE_TRUNCATED, mark);
		length += mark;
	}
	bytes[length++] = '\0';
	serializer_wrote(out, length);
}

/* A text's length; limit + 1 if it is longer. */
static uint32_t measure_text(const char *text, size_t most, uint32_t limit)
{
	if (most == SIZE_MAX)
		return (uint32_t)text_length(text, limit);
	return (uint32_t)strnlen(text, most <= limit ? most : limit + 1u);
}

/* Return: bytes of the payload. @lengths: receives of each string its length (limit + 1 if longer), of each array its count */
static size_t measure(uint64_t types, const union burin_arg *arg, uint32_t limit, uint32_t *lengths)
{
	size_t payload = 0, most = SIZE_MAX;
	const char *text;

	for (; types; types >>= 4, arg++, lengths++) {
		const bool pair = (types & 15) == WIRE_END;
		const unsigned type = types >> 4 * pair & 15;

		if (type == WIRE_STR) {
			text = arg_text(arg);
			if (pair)
				most = pair_text(arg, &text);
			*lengths = measure_text(text, pair ? most : SIZE_MAX, limit);
			payload += (*lengths <= limit ? *lengths : limit) + 1;
		} else if (pair) {
			*lengths = pair_count(arg, element_bytes(type), limit);
			payload += 2 + (size_t)*lengths * element_bytes(type);
		} else {
			payload += TYPE_BYTES(type);
		}
		types >>= 4 * pair;
		arg += pair;
	}
	return payload;
}

/* Write a string of the measured length. One that has grown since is cut to it. */
static void put_measured_text(struct serializer *out, const union burin_arg *arg, bool pair, uint32_t length,
			      uint32_t limit)
{
	const struct serializer before = *out;
	const char *text = arg_text(arg);
	size_t most = pair ? pair_text(arg, &text) : SIZE_MAX;

	if (length > limit) {
		serializer_put_truncated(out, text, limit);
	} else if (most != SIZE_MAX) {
		serializer_wrote(out, copy_text(serializer_flush(out), text, length));
	} else if (!serializer_put_text(out, text, length)) {
		*out = before;
		serializer_put_truncated(out, text, length);
	}
}

/* The second tier. Not inlined: its buffer is as large as the record. */
static __attribute__((__noinline__, __cold__)) void emit_measured(struct burin_site *site, unsigned state,
								  uint64_t types, const union burin_arg *arg)
{
	uint32_t lengths[WIRE_ARGS_MAX], limit = __atomic_load_n(&burin_string_max, __ATOMIC_RELAXED);
	size_t payload;
	uint64_t *buffer;
	struct serializer out;

	if (limit > UINT16_MAX) /* longer than any record */
		limit = UINT16_MAX;
	payload = measure(types, arg, limit, lengths);
	if (payload > PAYLOAD_MAX) {
		burin_emit(site, state, NULL, payload);
		return;
	}
	buffer = __builtin_alloca(WIRE_HEADROOM + payload + SLACK);
	out = serializer_begin(buffer);
	for (const uint32_t *length = lengths; types; types >>= 4, arg++, length++) {
		const bool pair = (types & 15) == WIRE_END;
		const unsigned type = types >> 4 * pair & 15;

		if (type == WIRE_STR)
			put_measured_text(&out, arg, pair, *length, limit);
		else if (pair)
			serializer_put_array(&out, arg[1].p, *length, element_bytes(type));
		else
			serializer_put_scalar(&out, arg->u, TYPE_BYTES(type));
		types >>= 4 * pair;
		arg += pair;
	}
	payload = serializer_end(&out, buffer);
	burin_emit(site, state, buffer, payload);
}

/*
 * Write an array, or a text with its length, at `at`; the bytes behind it may be overwritten. Return: its bytes in the
 * payload; 0: use the second tier.
 */
static __attribute__((__noinline__)) size_t fast_put_pair(unsigned char *at, const unsigned char *end,
							  unsigned type, const union burin_arg *pair)
{
	const uint32_t size = element_bytes(type);
	const char *text;
	uint16_t count;
	size_t most;

	if (type == WIRE_STR) {
		most = pair_text(pair, &text);
		return most < (size_t)(end - at) ? copy_text(at, text, most) : 0;
	}
	count = (uint16_t)pair_count(pair, size, WIRE_STRING_MAX);
	if (end - at < (ptrdiff_t)(count * size + 2))
		return 0;
	memcpy(at, &count, 2);
	if (count)
		memcpy(at + 2, pair[1].p, count * size);
	return count * size + 2u;
}

/* The same for a string whose first chunk has been written. */
TEXT_UNCHECKED static __attribute__((__noinline__)) size_t
fast_put_long(unsigned char *at, const unsigned char *end, const char *text)
{
	size_t done = 0;

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

/* Write an argument of any type, in the same way. @first: NULL, or receives the first four bytes stored */
TEXT_UNCHECKED static inline size_t fast_put(unsigned char *at, const unsigned char *end, uint64_t types,
					     const union burin_arg *arg, uint32_t *first)
{
	size_t bytes = TYPE_BYTES(types & 15);
	text_chunk chunk;

	if (bytes) {
		memcpy(at, &arg->u, 8);
		if (first)
			*first = (uint32_t)arg->u;
		return bytes;
	}
	if ((types & 15) == WIRE_END) {
		bytes = fast_put_pair(at, end, types >> 4 & 15, arg);
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
	return bytes < TEXT_CHUNK ? bytes + 1 : fast_put_long(at, end, arg->p);
}

/* The first tier. */
TEXT_UNCHECKED static __attribute__((__noinline__)) void emit_fast(struct burin_site *site, unsigned state,
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
	bytes = fast_put(at, end, types, arg, &first);
	if (!bytes)
		goto measured;
	if (__builtin_expect(bytes >= sizeof(first), 1))
		buffer[WIRE_HEADROOM / 8] = (uint64_t)first << 32;
	for (;;) {
		const bool pair = (types & 15) == WIRE_END;

		at += bytes;
		arg += 1 + pair;
		types >>= 4 + 4 * pair;
		if (!types)
			break;
		bytes = fast_put(at, end, types, arg, NULL);
		if (!bytes)
			goto measured;
	}
	memset(at, 0, 8);
	burin_emit(site, state, buffer, (size_t)(at + FAST_BYTES - end));
	return;
measured:
	emit_measured(site, state, site->types, args);
}

/* Whether a string can be loaded by chunks, and may be as long as one. */
static inline bool is_plain(const char *text)
{
	return text && text_chunk_safe(text) && burin_string_max >= TEXT_CHUNK;
}

/*
 * Emit a record of up to 8 bytes of scalars, then one string shorter than a chunk. Its words are combined in registers and
 * each is stored once, so burin_emit need not wait for any of them. Inlined, so that without scalars the shifts are
 * constant.
 */
static inline __attribute__((__always_inline__)) void
emit_short(struct burin_site *site, unsigned state, struct text_words words, uint64_t scalars, unsigned bytes)
{
	uint64_t buffer[WIRE_HEADROOM / 8 + 5], *at = buffer + WIRE_HEADROOM / 8;
	const unsigned shift = (4 + bytes) % 8 * 8;

	/* The payload begins in the middle of a word; the string follows at byte `shift` / 8 of its own first word. */
	at[0] = scalars << 32;
	if (bytes >= 4)
		*++at = scalars >> 32;
	at[0] |= words.low << shift;
	at[1] = words.low >> 1 >> (63 - shift) | words.high << shift;
	at[2] = words.high >> 1 >> (63 - shift);
	at[3] = 0;
	burin_emit(site, state, buffer, bytes + words.length + 1);
}

/*
 * Emit a record of up to 8 bytes of scalars, then one longer string. The first words are combined in registers. The chunks
 * behind them begin where burin_emit begins to load pairs of words, so it loads nothing that spans two stores. A string of
 * hundreds of bytes, or one that goes on in another page, goes to the tiers.
 * @low, @high: the first 16 bytes of the text, none of them NUL
 */
TEXT_UNCHECKED static inline __attribute__((__always_inline__)) void
emit_long(struct burin_site *site, unsigned state, const union burin_arg *args, const char *text,
	  uint64_t low, uint64_t high, uint64_t scalars, unsigned bytes)
{
	uint64_t buffer[(WIRE_HEADROOM + FAST_BYTES + 2 * TEXT_CHUNK) / 8], *at = buffer + WIRE_HEADROOM / 8;
	unsigned char *const payload = (unsigned char *)buffer + WIRE_HEADROOM + bytes;
	const size_t page = text_chunk_page(text), last = page < FAST_BYTES ? page : FAST_BYTES;
	const unsigned shift = (4 + bytes) % 8 * 8;
	size_t done = bytes < 4 ? 4 - bytes : 20 - bytes;
	text_chunk chunk;
	unsigned nul;

	if (burin_string_max < WIRE_STRING_MAX)
		goto other;
	at[0] = scalars << 32;
	if (bytes >= 4)
		*++at = scalars >> 32;
	at[0] |= low << shift;
	at[1] = low >> 1 >> (63 - shift) | high << shift;
	for (;; done += TEXT_CHUNK) {
		if (done > last)
			goto other;
		chunk = text_chunk_load(text + done);
		nul = text_chunk_nul(chunk);
		if (nul)
			break;
		memcpy(payload + done, &chunk, sizeof(chunk));
	}
	chunk = text_chunk_keep(chunk, text_chunk_at(nul));
	memcpy(payload + done, &chunk, sizeof(chunk));
	burin_emit(site, state, buffer, bytes + done + text_chunk_at(nul) + 1);
	return;
other:
	emit_fast(site, state, args);
}

/* The same with constant shifts: a string alone, and one behind an integer of four bytes. */
TEXT_UNCHECKED static __attribute__((__noinline__)) void emit_long_alone(struct burin_site *site,
									 unsigned state,
									 const union burin_arg *args,
									 uint64_t low, uint64_t high)
{
	emit_long(site, state, args, args->p, low, high, 0, 0);
}

TEXT_UNCHECKED static __attribute__((__noinline__)) void emit_long_second(struct burin_site *site,
									  unsigned state,
									  const union burin_arg *args,
									  uint64_t low, uint64_t high)
{
	emit_long(site, state, args, args[1].p, low, high, (uint32_t)args->u, 4);
}

/*
 * Emit a record of one array, or of bytes, in the same way. One that is shorter than a word, or of hundreds of bytes, goes to
 * the tiers.
 */
static __attribute__((__noinline__)) void emit_array(struct burin_site *site, unsigned state,
						     const union burin_arg *args, unsigned type)
{
	const uint32_t size = element_bytes(type);
	const uint64_t count = args[0].u, bytes = count * size;
	const unsigned char *const from = args[1].p;
	uint64_t buffer[(WIRE_HEADROOM + 2 + FAST_BYTES) / 8 + 1], word;
	unsigned char *const payload = (unsigned char *)buffer + WIRE_HEADROOM + 2;
	size_t done = 2; /* two bytes behind the count, then words */
	uint16_t first;

	if (count > FAST_BYTES || bytes < 10 || bytes > FAST_BYTES || !from ||
	    burin_string_max < FAST_BYTES) {
		emit_fast(site, state, args);
		return;
	}
	memcpy(&first, from, 2);
	buffer[WIRE_HEADROOM / 8] = count << 32 | (uint64_t)first << 48;
	for (; done + TEXT_CHUNK <= bytes; done += TEXT_CHUNK)
		memcpy(payload + done, from + done, TEXT_CHUNK);
	if (done + 8 <= bytes) {
		memcpy(payload + done, from + done, 8);
		done += 8;
	}
	memcpy(&word, from + bytes - 8, 8);
	word = word >> 1 >> (63 - 8 * (bytes - done));
	memcpy(payload + done, &word, 8);
	burin_emit(site, state, buffer, bytes + 2);
}

/* Emit up to 8 bytes of scalars and one string in the same way; all other records go to the tiers. */
TEXT_UNCHECKED static __attribute__((__noinline__)) void emit_mixed(struct burin_site *site, unsigned state,
								    const union burin_arg *args)
{
	uint64_t types = site->types, scalars = 0;
	const union burin_arg *arg = args;
	struct text_words words;
	unsigned bytes = 0;

	for (; (types & 15) != WIRE_STR; types >>= 4, arg++) {
		unsigned size = TYPE_BYTES(types & 15);

		if (!size || bytes + size > 8)
			goto other;
		scalars |= arg->u << (64 - 8 * size) >> (64 - 8 * size) << 8 * bytes;
		bytes += size;
	}
	if (types != WIRE_STR || !is_plain(arg->p))
		goto other;
	if (text_words_load(arg->p, &words))
		emit_short(site, state, words, scalars, bytes);
	else
		emit_long(site, state, args, arg->p, words.low, words.high, scalars, bytes);
	return;
other:
	emit_fast(site, state, args);
}

/* The most usual records, a string alone or behind an integer, come before all others and have constant shifts. */
TEXT_UNCHECKED void burin_emit_args(struct burin_site *site, unsigned state, const union burin_arg *args)
{
	const uint64_t types = site->types, rest = types >> 4;
	struct text_words words;

	if (types == WIRE_STR && is_plain(args->p)) {
		if (text_words_load(args->p, &words))
			emit_short(site, state, words, 0, 0);
		else
			emit_long_alone(site, state, args, words.low, words.high);
	} else if (rest == WIRE_STR && FOUR_BYTES >> (types & 15) & 1 && is_plain(args[1].p)) {
		if (text_words_load(args[1].p, &words))
			emit_short(site, state, words, (uint32_t)args->u, 4);
		else
			emit_long_second(site, state, args, words.low, words.high);
	} else if ((types & 15) == WIRE_END && rest < WIRE_ARRAY && rest != WIRE_STR) {
		emit_array(site, state, args, (unsigned)rest);
	} else {
		emit_mixed(site, state, args);
	}
}
