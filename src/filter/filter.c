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

struct filter_record {
	const char *payload, *end;
	const struct filter_subject *subject;
};

/* Where an operand lies, and where the memory ends that it lies in. */
struct filter_operand {
	const char *at, *end;
};

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

/* ---- Tests with a second half ---- */

/* The integer of an operand, extended to 64 bits. */
static uint64_t filter_integer(unsigned op, bool has_sign, const char *at)
{
	switch (op % WIRE_FILTER_WALK) {
	case WIRE_FILTER_8:
		return has_sign ? (uint64_t) * (const int8_t *)at : *(const uint8_t *)at;
	case WIRE_FILTER_16:
		return has_sign ? (uint64_t)(int16_t)number_load16(at) : number_load16(at);
	case WIRE_FILTER_32:
		return has_sign ? (uint64_t)(int32_t)number_load32(at) : number_load32(at);
	default:
		return filter_load64(at);
	}
}

static uint64_t filter_change(const struct wire_filter_more *more, uint64_t value)
{
	const bool is_negative = more->has_sign && (int64_t)value < 0;

	switch (more->change) {
	case WIRE_FILTER_AND:
		return value & more->by;
	case WIRE_FILTER_REMAINDER: /* of the absolute value: `by` may be larger than any signed number */
		return is_negative ? 0 - (0 - value) % more->by : value % more->by;
	default:
		return value;
	}
}

/* A number of 32 bits as one of 64, by integers: each has the same value there. */
static uint64_t widen_float(uint32_t bits)
{
	const uint64_t sign = (uint64_t)(bits >> 31) << 63, fraction = bits & 0x7fffff;
	const unsigned exponent = bits >> 23 & 0xff;
	unsigned shift;

	if (exponent == 0xff)
		return sign | UINT64_C(0x7ff) << 52 | fraction << 29;
	if (exponent)
		return sign | (uint64_t)(exponent + 1023 - 127) << 52 | fraction << 29;
	if (!fraction)
		return sign;
	shift = (unsigned)__builtin_clz((uint32_t)fraction) - 8; /* to where the hidden bit of others is */
	return sign | (uint64_t)(1 + 1023 - 127 - shift) << 52 | (fraction << shift & 0x7fffff) << 29;
}

/* Whether a relation holds between two values in this order: below 0, 0, above 0. */
static bool relation_holds(unsigned relation, int order)
{
	switch (relation) {
	case WIRE_FILTER_EQUAL:
		return order == 0;
	case WIRE_FILTER_LESS:
		return order < 0;
	case WIRE_FILTER_LESS_EQUAL:
		return order <= 0;
	case WIRE_FILTER_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool floats_hold(unsigned relation, uint64_t one, uint64_t other)
{
	const uint64_t infinity = UINT64_C(0x7ff) << 52;

	if (one << 1 > infinity << 1 || other << 1 > infinity << 1) /* not a number */
		return false;
	/* -0 is equal to +0. */
	one = filter_key64(one << 1 ? one : 0);
	other = filter_key64(other << 1 ? other : 0);
	return relation_holds(relation, number_order(one, other));
}

static uint64_t float_bits(unsigned op, const char *at)
{
	return op % WIRE_FILTER_WALK == WIRE_FILTER_F32 ? widen_float(number_load32(at)) : filter_load64(at);
}

static bool integers_hold(const struct wire_filter_more *more, uint64_t one, uint64_t other)
{
	const bool is_negative = more->has_sign && (int64_t)one < 0,
		   other_is_negative = more->other_has_sign && (int64_t)other < 0;

	if (is_negative != other_is_negative)
		return relation_holds(more->relation, is_negative ? -1 : 1);
	return relation_holds(more->relation, number_order(one, other));
}

static bool texts_equal(const struct filter_operand *one, const struct filter_operand *other)
{
	const size_t room = (size_t)(one->end - one->at), other_room = (size_t)(other->end - other->at);
	const size_t bytes = strnlen(one->at, room);

	return bytes < room && bytes < other_room && memcmp(one->at, other->at, bytes + 1) == 0;
}

/* @other: the other operand, if the test has one */
static __attribute__((__noinline__)) bool more_holds(const struct wire_filter_test *test,
						     const struct wire_filter_more *more,
						     const struct filter_operand *operand,
						     const struct filter_operand *other)
{
	const unsigned op = test->op % WIRE_FILTER_WALK;
	uint64_t value;

	if (op == WIRE_FILTER_TEXT)
		return texts_equal(operand, other);
	if (op == WIRE_FILTER_F32 || op == WIRE_FILTER_F64)
		return floats_hold(more->relation, float_bits(op, operand->at),
				   float_bits(more->op, other->at));
	value = filter_change(more, filter_integer(op, more->has_sign, operand->at));
	if (more->relation == WIRE_FILTER_IN_RANGE)
		return value - test->low <= test->span;
	return integers_hold(more, value, filter_integer(more->op, more->other_has_sign, other->at));
}

/* ---- A whole test ---- */

static bool filter_is_text(const struct wire_filter_test *test)
{
	unsigned op = test->op % WIRE_FILTER_WALK;

	return op == WIRE_FILTER_TEXT || op == WIRE_FILTER_GLOB;
}

/* Find the operand of a test that has one. Return: false: the payload ends before it does. */
static inline bool find_operand(const struct wire_filter *filter, const struct wire_filter_test *test,
				const struct filter_record *record, struct filter_operand *operand)
{
	const unsigned source = filter_source(test);

	operand->end = record->end;
	if (source == WIRE_FILTER_SUBJECT) {
		operand->at = (const char *)record->subject + test->offset;
		if (filter_is_text(test)) {
			operand->at = *(const char *const *)(const void *)operand->at;
			operand->at = operand->at ? operand->at : WIRE_NULL;
			operand->end = operand->at + strlen(operand->at) + 1;
		}
		return true;
	}
	/* The count of an array is where the array begins. */
	operand->at = source == WIRE_FILTER_FIXED
			      ? record->payload + test->offset
			      : filter_walk(filter->types, test->arg, record->payload, record->end);
	return operand->at != NULL;
}

/* Whether a test of any element holds. */
static __attribute__((__noinline__)) bool any_holds(const struct wire_filter *filter,
						    const struct wire_filter_test *test,
						    const struct wire_filter_more *more,
						    const struct filter_record *record,
						    const struct filter_operand *other)
{
	const char *at = filter_walk(filter->types, test->arg, record->payload, record->end);
	const unsigned bytes = format_type_bytes(element_of(filter->types, test->arg));

	if (!at)
		return false;
	for (unsigned count = number_load16(at), n = 0; n < count; n++) {
		const struct filter_operand element = { at + 2 + (size_t)n * bytes, record->end };

		if (more ? more_holds(test, more, &element, other)
			 : filter_holds(filter, test, element.at, element.end))
			return true;
	}
	return false;
}

static inline bool test_holds(const struct wire_filter *filter, const struct wire_filter_test *test,
			      const struct filter_record *record)
{
	const struct wire_filter_more *more = filter_more(test);
	struct filter_operand operand, other = { NULL, NULL };

	if (more && more->relation != WIRE_FILTER_IN_RANGE) {
		const struct wire_filter_test place = filter_other(more);

		if (!find_operand(filter, &place, record, &other))
			return false;
	}
	if (filter_source(test) == WIRE_FILTER_ANY)
		return any_holds(filter, test, more, record, &other);
	if (!find_operand(filter, test, record, &operand))
		return false;
	return more ? more_holds(test, more, &operand, &other)
		    : filter_holds(filter, test, operand.at, operand.end);
}

bool filter_passes(const struct wire_filter *filter, const void *payload, uint32_t payload_bytes,
		   const struct filter_subject *subject)
{
	const struct filter_record record = { payload, (const char *)payload + payload_bytes, subject };
	unsigned next = 0;

	if (payload_bytes < filter->prefix)
		return false;
	do {
		const struct wire_filter_test *test = &filter->test[next];

		next = test_holds(filter, test, &record) ? test->then : test->otherwise;
	} while (next < WIRE_FILTER_NO);
	return next == WIRE_FILTER_YES;
}

/* ---- Facts ---- */

static const uint8_t fact_offsets[] = {
	offsetof(struct filter_subject, pid),	      offsetof(struct filter_subject, tid),
	offsetof(struct filter_subject, cpu),	      offsetof(struct filter_subject, depth),
	offsetof(struct filter_subject, correlation), offsetof(struct filter_subject, thread),
	offsetof(struct filter_subject, program),
};

static unsigned fact_at(unsigned offset)
{
	for (unsigned n = 0; n < sizeof(fact_offsets); n++)
		if (fact_offsets[n] == offset)
			return 1u << n;
	return 0;
}

uint8_t filter_fact_offset(unsigned fact)
{
	return fact_offsets[__builtin_ctz(fact)];
}

const char *filter_fact_name(unsigned fact)
{
	static const char names[][12] = { "pid", "tid", "cpu", "depth", "correlation", "thread", "program" };

	return names[__builtin_ctz(fact)];
}

unsigned filter_facts(const struct wire_filter *filter)
{
	unsigned facts = 0;

	for (unsigned n = 0; n < filter->tests; n += filter_step(&filter->test[n])) {
		const struct wire_filter_test *test = &filter->test[n];
		const struct wire_filter_more *more = filter_more(test);

		if (test->then == test->otherwise) /* a constant */
			continue;
		if (filter_source(test) == WIRE_FILTER_SUBJECT)
			facts |= fact_at(test->offset);
		if (more && more->op / WIRE_FILTER_OPS * WIRE_FILTER_OPS == WIRE_FILTER_SUBJECT)
			facts |= fact_at(more->offset);
	}
	return facts;
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

/* Whether a fact of the subject is there, and of this kind. */
static bool subject_sound(const struct wire_filter_test *test, unsigned op)
{
	const unsigned fact = fact_at(test->offset);

	return fact && (fact & FILTER_NAMES	     ? op == WIRE_FILTER_TEXT
			: fact == FILTER_CORRELATION ? op == WIRE_FILTER_64
						     : op == WIRE_FILTER_32);
}

/* Whether the test's operand exists, and its operation fits the type. */
static bool operand_sound(const struct wire_filter_test *test, uint64_t types)
{
	const unsigned op = filter_is_text(test) ? WIRE_FILTER_TEXT : test->op % WIRE_FILTER_WALK;
	const unsigned plain = test->op & ~(unsigned)WIRE_FILTER_MORE;
	unsigned offset;
	bool fixed;

	switch (filter_source(test)) {
	case WIRE_FILTER_SUBJECT:
		return test->arg == 0 && subject_sound(test, op);
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
	return fixed ? plain < WIRE_FILTER_WALK && test->offset == offset
		     : plain >= WIRE_FILTER_WALK && test->offset == 0;
}

enum {
	CLASS_INTEGER,
	CLASS_FLOAT,
	CLASS_TEXT,
	CLASS_GLOB,
};

static unsigned class_of(unsigned op)
{
	op %= WIRE_FILTER_WALK;
	return op <= WIRE_FILTER_64    ? CLASS_INTEGER
	       : op <= WIRE_FILTER_F64 ? CLASS_FLOAT
				       : op - WIRE_FILTER_TEXT + CLASS_TEXT;
}

/* Whether both halves of a test fit each other. */
static bool more_sound(const struct wire_filter_test *test, const struct wire_filter_more *more,
		       uint64_t types)
{
	const struct wire_filter_test other = filter_other(more);
	const unsigned class = class_of(test->op), source = filter_source(&other);

	if (more->relation >= WIRE_FILTER_RELATIONS || more->change >= WIRE_FILTER_CHANGES ||
	    more->has_sign > 1 || more->other_has_sign > 1 || class == CLASS_GLOB ||
	    (class != CLASS_INTEGER && (more->change || more->has_sign || more->other_has_sign)) ||
	    (more->change == WIRE_FILTER_REMAINDER && more->by == 0))
		return false;
	if (more->relation == WIRE_FILTER_IN_RANGE)
		return class == CLASS_INTEGER && !more->op && !more->arg && !more->offset;
	return (class != CLASS_TEXT || more->relation == WIRE_FILTER_EQUAL) && class_of(more->op) == class &&
	       source != WIRE_FILTER_ANY && !(more->op & WIRE_FILTER_MORE) && operand_sound(&other, types);
}

/* Whether the text lies behind the tests, within the program, and ends in its only NUL. */
static bool text_sound(const struct wire_filter *filter, const struct wire_filter_test *test)
{
	size_t begin = sizeof(*filter) + filter->tests * sizeof(*test);

	if (!filter_is_text(test) || filter_more(test))
		return true;
	return test->low >= begin && test->low < filter->bytes && test->span >= 1 &&
	       test->span <= filter->bytes - test->low &&
	       memchr((const char *)filter + test->low, 0, test->span) ==
		       (const char *)filter + test->low + test->span - 1;
}

/* @starts: a bit for each place where a test begins */
static bool jump_sound(uint32_t starts, unsigned from, unsigned next)
{
	return next >= WIRE_FILTER_NO || (next > from && next < 32 && starts >> next & 1);
}

/* Return: false: the last test lacks its second half. */
static bool find_starts(const struct wire_filter *filter, uint32_t *starts)
{
	unsigned n = 0;

	_Static_assert((int)WIRE_FILTER_TESTS_MAX <= 32, "a bit for each");
	*starts = 0;
	for (; n < filter->tests; n += filter_step(&filter->test[n]))
		*starts |= UINT32_C(1) << n;
	return n == filter->tests;
}

static bool test_sound(const struct wire_filter *filter, unsigned n, uint32_t starts)
{
	const struct wire_filter_test *test = &filter->test[n];
	const struct wire_filter_more *more = filter_more(test);

	return filter_source(test) < WIRE_FILTER_PLACES && operand_sound(test, filter->types) &&
	       (!more || more_sound(test, more, filter->types)) && text_sound(filter, test) &&
	       jump_sound(starts, n, test->then) && jump_sound(starts, n, test->otherwise);
}

int filter_verify(const void *program, size_t room, uint64_t types)
{
	const struct wire_filter *filter = (const struct wire_filter *)program;
	uint32_t starts;
	bool fixed;

	if ((uintptr_t)program % _Alignof(struct wire_filter) || room < sizeof(*filter) ||
	    filter->bytes > room || filter->bytes > WIRE_FILTER_MAX || filter->bytes % WIRE_FILTER_ALIGN ||
	    filter->tests < 1 || sizeof(*filter) + filter->tests * sizeof(filter->test[0]) > filter->bytes)
		return -EINVAL;
	if (filter->checksum != filter_checksum(program, filter->bytes))
		return -EBADMSG;
	if (filter->types != types)
		return -ESTALE;
	if (format_types_count(types) < 0 || filter->prefix != filter_offset(types, WIRE_ARGS_MAX, &fixed) ||
	    !find_starts(filter, &starts))
		return -EINVAL;
	for (unsigned n = 0; n < filter->tests; n += filter_step(&filter->test[n]))
		if (!test_sound(filter, n, starts))
			return -EINVAL;
	return 0;
}
