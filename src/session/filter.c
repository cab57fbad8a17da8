/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Verifying and running filters. What filter_passes() relies on, filter_verify() has looked at: keep them side
 * by side.
 */
#include "session/filter.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/number.h"
#include "wire/event.h"
#include "wire/format.h"

/* ---- Running ---- */

/*
 * The argument in a payload whose arguments before it are not all of fixed size; NULL if the payload ends
 * before the argument does.
 */
static __attribute__((noinline)) const char *walk(uint64_t types, unsigned arg, const char *at,
						  const char *end)
{
	for (;; types >>= 4, arg--) {
		unsigned type = types & 15;
		size_t bytes = format_type_bytes(type), left = (size_t)(end - at);

		if (type == WIRE_STR) {
			const char *nul = memchr(at, 0, left);

			if (!nul)
				return NULL;
			bytes = (size_t)(nul - at) + 1;
		} else if (type == WIRE_BYTES) {
			if (left < 2)
				return NULL;
			bytes = 2 + (size_t)number_load16(at);
		}
		if (bytes > left)
			return NULL;
		if (arg == 0)
			return at;
		at += bytes;
	}
}

/*
 * A string that the text equals, or as a glob matches. The first byte mostly tells, and is cheaper to load from
 * what was just stored than the many at once that memcmp() loads.
 */
static __attribute__((noinline)) bool text_holds(const struct wire_filter *filter,
						 const struct wire_filter_test *test, const char *at,
						 const char *end)
{
	const char *text = (const char *)filter + test->low;

	if (test->op % WIRE_FILTER_WALK == WIRE_FILTER_TEXT)
		return (size_t)(end - at) >= test->span && *at == *text && memcmp(at, text, test->span) == 0;
	return memchr(at, 0, (size_t)(end - at)) && glob_match(text, at);
}

static inline bool holds(const struct wire_filter *filter, const struct wire_filter_test *test,
			 const char *at, const char *end)
{
	switch (test->op % WIRE_FILTER_WALK) {
	case WIRE_FILTER_8:
		return (uint8_t)(*(const uint8_t *)at - test->low) <= test->span;
	case WIRE_FILTER_16:
		return (uint16_t)(number_load16(at) - test->low) <= test->span;
	case WIRE_FILTER_32:
		return (uint32_t)(number_load32(at) - test->low) <= test->span;
	case WIRE_FILTER_64:
		return filter_load64(at) - test->low <= test->span;
	case WIRE_FILTER_F32:
		return (uint32_t)(filter_key32(number_load32(at)) - test->low) <= test->span;
	case WIRE_FILTER_F64:
		return filter_key64(filter_load64(at)) - test->low <= test->span;
	default:
		return text_holds(filter, test, at, end);
	}
}

bool filter_passes(const struct wire_filter *filter, const void *payload, uint32_t payload_bytes,
		   const struct filter_subject *subject)
{
	const char *end = (const char *)payload + payload_bytes;
	unsigned next = 0;

	if (payload_bytes < filter->prefix)
		return false;
	do {
		const struct wire_filter_test *test = &filter->test[next];
		const char *at = (const char *)payload + test->offset;

		if (test->op >= WIRE_FILTER_SUBJECT)
			at = (const char *)subject + test->offset;
		else if (test->op >= WIRE_FILTER_WALK)
			at = walk(filter->types, test->arg, payload, end);
		next = at && holds(filter, test, at, end) ? test->then : test->otherwise;
	} while (next < WIRE_FILTER_NO);
	return next == WIRE_FILTER_YES;
}

/* ---- Verifying ---- */

/* The operation on an argument of a type; strings know another one, globs. WIRE_FILTER_OPS: none. */
static const uint8_t type_op[16] = {
	[WIRE_END] = WIRE_FILTER_OPS, [WIRE_BOOL] = WIRE_FILTER_8,   [WIRE_I8] = WIRE_FILTER_8,
	[WIRE_I16] = WIRE_FILTER_16,  [WIRE_I32] = WIRE_FILTER_32,   [WIRE_I64] = WIRE_FILTER_64,
	[WIRE_U8] = WIRE_FILTER_8,    [WIRE_U16] = WIRE_FILTER_16,   [WIRE_U32] = WIRE_FILTER_32,
	[WIRE_U64] = WIRE_FILTER_64,  [WIRE_F32] = WIRE_FILTER_F32,  [WIRE_F64] = WIRE_FILTER_F64,
	[WIRE_PTR] = WIRE_FILTER_64,  [WIRE_STR] = WIRE_FILTER_TEXT, [WIRE_BYTES] = WIRE_FILTER_OPS,
	[WIRE_CHAR] = WIRE_FILTER_8,
};

unsigned filter_op(unsigned type)
{
	return type_op[type & 15];
}

unsigned filter_offset(uint64_t types, unsigned arg, bool *fixed)
{
	unsigned offset = 0;

	*fixed = true;
	for (; arg && types & 15; types >>= 4, arg--) {
		unsigned bytes = format_type_bytes(types & 15);

		if (!bytes) {
			*fixed = false;
			break;
		}
		offset += bytes;
	}
	return offset;
}

/* Nothing comes behind the end. */
static bool types_sound(uint64_t types)
{
	while (types & 15)
		types >>= 4;
	return types == 0;
}

static bool is_text(const struct wire_filter_test *test)
{
	unsigned op = test->op % WIRE_FILTER_WALK;

	return op == WIRE_FILTER_TEXT || op == WIRE_FILTER_GLOB;
}

/* Whether the test looks at what is there, in the way of its type. */
static bool place_sound(const struct wire_filter_test *test, uint64_t types)
{
	unsigned op = is_text(test) ? WIRE_FILTER_TEXT : test->op % WIRE_FILTER_WALK, offset;
	bool fixed;

	if (test->op == (WIRE_FILTER_SUBJECT | WIRE_FILTER_64))
		return test->arg == 0 && test->offset == offsetof(struct filter_subject, correlation);
	if (test->op == (WIRE_FILTER_SUBJECT | WIRE_FILTER_32))
		return test->arg == 0 && test->offset % 4 == 0 &&
		       test->offset < offsetof(struct filter_subject, correlation);
	if (test->arg >= WIRE_ARGS_MAX || test->op >= WIRE_FILTER_SUBJECT || op >= WIRE_FILTER_OPS ||
	    filter_op(types >> 4 * test->arg & 15) != op)
		return false;
	offset = filter_offset(types, test->arg, &fixed);
	return fixed ? test->op < WIRE_FILTER_WALK && test->offset == offset
		     : test->op >= WIRE_FILTER_WALK && test->offset == 0;
}

/* Whether the text lies behind the tests, within the program, and ends in its only NUL. */
static bool text_sound(const struct wire_filter *filter, const struct wire_filter_test *test)
{
	size_t begin = sizeof(*filter) + filter->tests * sizeof(*test);

	if (!is_text(test))
		return true;
	return test->low >= begin && test->low < filter->bytes && test->span >= 1 &&
	       test->span <= filter->bytes - test->low &&
	       memchr((const char *)filter + test->low, 0, test->span) ==
		       (const char *)filter + test->low + test->span - 1;
}

static bool way_sound(const struct wire_filter *filter, unsigned from, unsigned next)
{
	return next >= WIRE_FILTER_NO || (next > from && next < filter->tests);
}

int filter_verify(const void *program, size_t room, uint64_t types)
{
	const struct wire_filter *filter = (const struct wire_filter *)program;
	bool fixed;

	if ((uintptr_t)program % _Alignof(struct wire_filter) || room < sizeof(*filter) ||
	    filter->bytes > room || filter->bytes > WIRE_FILTER_MAX || filter->bytes % WIRE_FILTER_ALIGN ||
	    filter->tests < 1 || sizeof(*filter) + filter->tests * sizeof(filter->test[0]) > filter->bytes)
		return -EINVAL;
	if (filter->checksum != filter_checksum(program, filter->bytes))
		return -EBADMSG;
	if (filter->types != types)
		return -ESTALE;
	if (!types_sound(types) || filter->prefix != filter_offset(types, WIRE_ARGS_MAX, &fixed))
		return -EINVAL;
	for (unsigned n = 0; n < filter->tests; n++) {
		const struct wire_filter_test *test = &filter->test[n];

		if (!place_sound(test, types) || !text_sound(filter, test) ||
		    !way_sound(filter, n, test->then) || !way_sound(filter, n, test->otherwise))
			return -EINVAL;
	}
	return 0;
}
