/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Verify and run filters. filter_passes() relies on all that filter_verify() checks: change both together.
 */
#include "filter/filter.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/number.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

/* ---- Running ---- */

/*
 * Find an argument behind arguments of variable size. Return: NULL: the payload ends before the argument does.
 */
static __attribute__((__noinline__)) const char *filter_walk(uint64_t types, unsigned arg, const char *at,
							     const char *end)
{
	struct format_type type;

	for (;; arg--) {
		uint32_t bytes = 0;

		if (format_type_next(&types, &type))
			bytes = format_argument_bytes(type, at, (uint32_t)(end - at));
		if (bytes == 0 || arg == 0)
			return bytes ? at : NULL;
		at += bytes;
	}
}

/* The type of an argument; WIRE_END: there is none. */
static struct format_type filter_type_of(uint64_t types, unsigned arg)
{
	struct format_type type;

	do {
		if (!format_type_next(&types, &type))
			return (struct format_type){ WIRE_END, 0 };
	} while (arg--);
	return type;
}

/* The type of the elements of an array or bytes; WIRE_END: the argument is neither. */
static unsigned element_of(uint64_t types, unsigned arg)
{
	const struct format_type type = filter_type_of(types, arg);

	return type.type == WIRE_ARRAY ? type.element : type.type == WIRE_BYTES ? WIRE_U8 : WIRE_END;
}

/*
 * Whether a string equals the text, or matches it as a glob. The first byte mostly decides. Loading it from a recent
 * store is cheaper than the wide loads of memcmp().
 */
static __attribute__((__noinline__)) bool text_holds(const struct wire_filter *filter,
						     const struct wire_filter_test *test, const char *at,
						     const char *end)
{
	const char *text = (const char *)filter + test->low;

	if (test->op % WIRE_FILTER_WALK == WIRE_FILTER_TEXT)
		return (size_t)(end - at) >= test->span && *at == *text && memcmp(at, text, test->span) == 0;
	return memchr(at, 0, (size_t)(end - at)) && glob_match(text, at);
}

static inline bool filter_holds(const struct wire_filter *filter, const struct wire_filter_test *test,
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

/* Whether a test of any element holds. */
static __attribute__((__noinline__)) bool any_holds(const struct wire_filter *filter,
						    const struct wire_filter_test *test, const char *payload,
						    const char *end)
{
	const char *at = filter_walk(filter->types, test->arg, payload, end);
	const unsigned bytes = format_type_bytes(element_of(filter->types, test->arg));

	if (!at)
		return false;
	for (unsigned count = number_load16(at), n = 0; n < count; n++)
		if (filter_holds(filter, test, at + 2 + (size_t)n * bytes, end))
			return true;
	return false;
}

/* The operand of a test that has one; NULL: the payload ends before it does. */
static inline const char *operand_of(const struct wire_filter *filter, const struct wire_filter_test *test,
				     const char *payload, const char *end,
				     const struct filter_subject *subject)
{
	const unsigned source = filter_source(test);

	if (source == WIRE_FILTER_SUBJECT)
		return (const char *)subject + test->offset;
	/* The count of an array is where the array begins. */
	return source == WIRE_FILTER_FIXED ? payload + test->offset
					   : filter_walk(filter->types, test->arg, payload, end);
}

bool filter_passes(const struct wire_filter *filter, const void *payload, uint32_t payload_bytes,
		   const struct filter_subject *subject)
{
	const char *end = (const char *)payload + payload_bytes, *at;
	unsigned next = 0;

	if (payload_bytes < filter->prefix)
		return false;
	do {
		const struct wire_filter_test *test = &filter->test[next];
		bool passed;

		if (filter_source(test) == WIRE_FILTER_ANY) {
			passed = any_holds(filter, test, payload, end);
		} else {
			at = operand_of(filter, test, payload, end, subject);
			passed = at && filter_holds(filter, test, at, end);
		}
		next = passed ? test->then : test->otherwise;
	} while (next < WIRE_FILTER_NO);
	return next == WIRE_FILTER_YES;
}

/* ---- Verifying ---- */

/* The operation on an argument of a type. Strings also have WIRE_FILTER_GLOB. WIRE_FILTER_OPS: none. */
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
	return type < sizeof(type_op) ? type_op[type] : WIRE_FILTER_OPS;
}

unsigned filter_offset(uint64_t types, unsigned arg, bool *fixed)
{
	struct format_type type;
	unsigned offset = 0;

	*fixed = true;
	for (; arg && format_type_next(&types, &type); arg--) {
		unsigned bytes = format_type_bytes(type.type);

		if (!bytes) {
			*fixed = false;
			break;
		}
		offset += bytes;
	}
	return offset;
}

static bool filter_is_text(const struct wire_filter_test *test)
{
	unsigned op = test->op % WIRE_FILTER_WALK;

	return op == WIRE_FILTER_TEXT || op == WIRE_FILTER_GLOB;
}

/* Whether the test's operand exists, and its operation fits the type. */
static bool operand_sound(const struct wire_filter_test *test, uint64_t types)
{
	const unsigned op = filter_is_text(test) ? WIRE_FILTER_TEXT : test->op % WIRE_FILTER_WALK;
	const size_t correlation = offsetof(struct filter_subject, correlation);
	unsigned offset;
	bool fixed;

	switch (filter_source(test)) {
	case WIRE_FILTER_SUBJECT:
		return test->arg == 0 &&
		       (op == WIRE_FILTER_64 ? test->offset == correlation
					     : op == WIRE_FILTER_32 && test->offset % 4 == 0 &&
						       test->offset < correlation);
	case WIRE_FILTER_ANY:
		return test->offset == 0 && op < WIRE_FILTER_OPS &&
		       filter_op(element_of(types, test->arg)) == op;
	case WIRE_FILTER_COUNT:
		return test->offset == 0 && op == WIRE_FILTER_16 && element_of(types, test->arg) != WIRE_END;
	case WIRE_FILTER_FIXED:
	case WIRE_FILTER_WALK:
		break;
	default:
		return false;
	}
	if (op >= WIRE_FILTER_OPS || filter_op(filter_type_of(types, test->arg).type) != op)
		return false;
	offset = filter_offset(types, test->arg, &fixed);
	return fixed ? test->op < WIRE_FILTER_WALK && test->offset == offset
		     : test->op >= WIRE_FILTER_WALK && test->offset == 0;
}

/* Whether the text lies behind the tests, within the program, and ends in its only NUL. */
static bool text_sound(const struct wire_filter *filter, const struct wire_filter_test *test)
{
	size_t begin = sizeof(*filter) + filter->tests * sizeof(*test);

	if (!filter_is_text(test))
		return true;
	return test->low >= begin && test->low < filter->bytes && test->span >= 1 &&
	       test->span <= filter->bytes - test->low &&
	       memchr((const char *)filter + test->low, 0, test->span) ==
		       (const char *)filter + test->low + test->span - 1;
}

static bool jump_sound(const struct wire_filter *filter, unsigned from, unsigned next)
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
	if (format_types_count(types) < 0 || filter->prefix != filter_offset(types, WIRE_ARGS_MAX, &fixed))
		return -EINVAL;
	for (unsigned n = 0; n < filter->tests; n++) {
		const struct wire_filter_test *test = &filter->test[n];

		if (!operand_sound(test, types) || !text_sound(filter, test) ||
		    !jump_sound(filter, n, test->then) || !jump_sound(filter, n, test->otherwise))
			return -EINVAL;
	}
	return 0;
}
