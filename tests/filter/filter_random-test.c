/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Random filters, compared with a reference that walks a tree; programs with changed and with random bytes. */
#include "filter_events.h"

/* ---- Comparison with a reference ---- */

static void random_value(struct value *value)
{
	static const char *const texts[] = { "", "tcp", "udp", "a", "ab", "*", "a[b", WIRE_NULL, "t\"c\\p" };
	static const double reals[] = { 0.0,   -0.0,   1,	 -1,	    1.5, 0.1,
					1e300, -1e300, INFINITY, -INFINITY, NAN, 5e-324 };
	unsigned bits;

	memset(value, 0, sizeof(*value));
	value->type = 1 + below(15);
	bits = value->type == WIRE_BOOL ? 1 : 8 * format_type_bytes(value->type);
	if (value->type == WIRE_STR) {
		strcpy(value->text, texts[below(sizeof(texts) / sizeof(texts[0]))]);
	} else if (value->type == WIRE_BYTES) {
		value->integer = below(9);
	} else if (is_float(value->type)) {
		value->real = below(3) ? reals[below(sizeof(reals) / sizeof(reals[0]))]
				       : (double)(int64_t)random_next() / (double)(1 << below(31));
		if (value->type == WIRE_F32)
			value->real = (float)value->real;
	} else {
		uint64_t raw = below(2) ? random_next() : below(4) - (uint64_t)2;

		raw = raw << (64 - bits) >> (64 - bits);
		value->integer = raw;
		if (is_signed(value->type) && raw >> (bits - 1))
			value->integer -= (wide)1 << bits;
	}
}

/* Compare a value with a constant by C's operators. */
static bool holds(int comparison, long double a, long double b)
{
	switch (comparison) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 2:
		return a < b;
	case 3:
		return a <= b;
	case 4:
		return a > b;
	default:
		return a >= b;
	}
}

static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=" };
static const int mirrors[] = { 0, 1, 4, 5, 2, 3 };

static bool random_string(char *out, const char *name, const char *text)
{
	static const char *const rules[] = { "tcp", "t*", "", "?", "[ab]*", "[*]", "a[b", "*p" };
	const char *rule = rules[below(sizeof(rules) / sizeof(rules[0]))];
	bool differs = below(2), null = below(8) == 0;

	if (null)
		sprintf(out, "%s %s NULL", name, signs[differs]);
	else
		sprintf(out, "%s %s \"%s\"", name, signs[differs], rule);
	return (null ? strcmp(text, WIRE_NULL) == 0 : glob_match(rule, text)) != differs;
}

static bool random_number(char *out, const char *name, long double value)
{
	static const long double edges[] = { 0,
					     1,
					     -1,
					     127,
					     128,
					     255,
					     256,
					     -129,
					     4294967295,
					     1.5L,
					     9223372036854775807.0L,
					     18446744073709551615.0L };
	int comparison = (int)below(6);
	long double constant = edges[below(sizeof(edges) / sizeof(edges[0]))];
	char number[64];

	if (below(2) && value == value && value < 0x1p63L && value > -0x1p63L)
		constant = value + (long double)below(3) - 1;
	if (constant == (long double)(wide)constant) {
		unsigned long long size = (unsigned long long)(constant < 0 ? -constant : constant);

		sprintf(number, below(2) ? "%s%llu" : "%s0x%llx", constant < 0 ? "-" : "", size);
	} else {
		constant = (double)constant;
		sprintf(number, "%.17g", (double)constant);
	}
	if (below(3) == 0)
		sprintf(out, "%s %s %s", number, signs[mirrors[comparison]], name);
	else
		sprintf(out, "%s%s%s", name, signs[comparison], number);
	return holds(comparison, value, constant);
}

/* The value of a field as a wide integer, changed as a filter changes it; with its text. */
static wide random_change(char *out, const char *name, wide value, bool has_sign)
{
	static const int64_t numbers[] = { 1, 2, 3, 7, 10, 100, 255, 256, 65535, INT32_MAX, INT64_MAX };
	const int64_t by = numbers[below(sizeof(numbers) / sizeof(numbers[0]))];

	switch (below(4)) {
	case 0:
		sprintf(out, "%s %% %lld", name, (long long)by);
		return value % by;
	case 1:
		sprintf(out, "%s & 0x%llx", name, (unsigned long long)by);
		return (wide)((uint64_t)value & (uint64_t)by);
	case 2:
		sprintf(out, "%s & -%lld", name, (long long)by);
		return has_sign ? (wide)((int64_t)value & -by) : (wide)((uint64_t)value & (uint64_t)-by);
	default:
		strcpy(out, name);
		return value;
	}
}

static bool holds_wide(int comparison, wide a, wide b)
{
	return comparison == 0	 ? a == b
	       : comparison == 1 ? a != b
	       : comparison == 2 ? a < b
	       : comparison == 3 ? a <= b
	       : comparison == 4 ? a > b
				 : a >= b;
}

/* Two fields, or bits and remainders of one. Return: false: the event has no such fields. */
static bool random_pair(char *out, const struct event *event, bool *wanted)
{
	const unsigned one = below(event->count), other = below(event->count);
	const struct value *a = &event->values[one], *b = &event->values[other];
	const int comparison = (int)below(6);
	char left[64], right[64], name[16];
	wide x, y;

	sprintf(name, "f%u", one);
	sprintf(right, "f%u", other);
	if (a->type == WIRE_BYTES || b->type == WIRE_BYTES || is_float(a->type) != is_float(b->type) ||
	    (a->type == WIRE_STR) != (b->type == WIRE_STR))
		return false;
	if (a->type == WIRE_STR) {
		sprintf(out, "%s %s %s", name, signs[comparison & 1], right);
		*wanted = (strcmp(a->text, b->text) == 0) == !(comparison & 1);
		return true;
	}
	if (is_float(a->type)) {
		sprintf(out, "%s%s%s", name, signs[comparison], right);
		*wanted = holds(comparison, (long double)a->real, (long double)b->real);
		return true;
	}
	x = random_change(left, name, a->integer, is_signed(a->type));
	y = b->integer;
	if (below(2)) {
		y = below(2) ? x : (wide)below(300) - 100;
		sprintf(right, y > INT64_MAX ? "%llu" : "%lld", (long long)y);
	}
	if (below(2))
		sprintf(out, "%s %s %s", left, signs[comparison], right);
	else
		sprintf(out, "%s %s (%s)", right, signs[mirrors[comparison]], left);
	*wanted = holds_wide(comparison, x, y);
	return true;
}

static bool random_leaf(char *out, const struct event *event)
{
	bool wanted;

	unsigned n = below(event->count + 1);
	const struct value *value = &event->values[n];
	char name[16];
	long double number;

	if (event->count && below(2) && random_pair(out, event, &wanted))
		return wanted;
	sprintf(name, below(2) ? "f%u" : "arg%u", n);
	if (name[0] == 'a')
		sprintf(name, "arg%u", n + 1);
	if (n == event->count || value->type == WIRE_BYTES)
		return random_number(out, "tid", subject.tid);
	if (value->type == WIRE_STR)
		return random_string(out, name, value->text);
	number = is_float(value->type) ? (long double)value->real : (long double)value->integer;
	if (below(5) == 0) {
		strcpy(out, name);
		return number != 0;
	}
	return random_number(out, name, number);
}

static bool random_condition(char *out, const struct event *event, unsigned depth)
{
	bool left, right, is_and;

	if (depth == 0 || below(4) == 0)
		return random_leaf(out, event);
	if (below(4) == 0) {
		strcpy(out, "!(");
		left = random_condition(out + 2, event, depth - 1);
		strcat(out, ")");
		return !left;
	}
	is_and = below(2);
	strcpy(out, "(");
	left = random_condition(out + 1, event, depth - 1);
	strcat(out, is_and ? ")&&(" : ") || (");
	right = random_condition(out + strlen(out), event, depth - 1);
	strcat(out, ")");
	return is_and ? left && right : left || right;
}

static void random_event(struct event *event)
{
	memset(event, 0, sizeof(*event));
	event->count = below(ARGS + 1);
	for (unsigned n = 0; n < event->count; n++)
		random_value(&event->values[n]);
	event_pack(event);
}

static void differential(void **state)
{
	unsigned truths = 0;

	(void)state;
	random_state = seed;
	for (int round = 0; round < 20000; round++) {
		struct event event;
		char text[TEXT_MAX];
		bool wanted;

		random_event(&event);
		wanted = random_condition(text, &event, below(4));
		truths += wanted;
		if (run(text, &event) != wanted)
			fail_msg("round %d: %s of \"%s\" is not %d", round, text, event.format, wanted);
		event_close(&event);
	}
	assert_in_range(truths, 5000, 15000);
}

/* ---- Invalid programs ---- */

/* Run a program on random bytes of exactly the stated length. */
static void run_on_garbage(const struct wire_filter *copy)
{
	uint32_t bytes = below(64);
	char *payload = malloc(bytes + !bytes);

	assert_non_null(payload);
	for (uint32_t n = 0; n < bytes; n++)
		payload[n] = (char)(below(2) ? 0 : below(256));
	filter_passes(copy, payload, bytes, &subject);
	free(payload);
}

/* Flip bits or set bytes to significant values. */
static void mutate(char *bytes, size_t count)
{
	static const unsigned char values[] = { 0, 1, 2, 7, 8, 16, 18, 24, 253, 254, 255 };

	for (unsigned n = 1 + below(3); n; n--) {
		size_t at = below((unsigned)count);

		if (below(2))
			bytes[at] = (char)(bytes[at] ^ 1 << below(8));
		else
			bytes[at] = (char)values[below(sizeof(values))];
	}
}

static void mutations(void **state)
{
	unsigned sound = 0, unsound = 0;

	(void)state;
	random_state = seed + 1;
	for (int round = 0; round < 40000; round++) {
		struct event event;
		char text[TEXT_MAX];
		struct wire_filter *copy;
		size_t room;

		random_event(&event);
		random_condition(text, &event, below(3));
		compile(text, event.format, event.types);
		room = filter->bytes;
		copy = malloc(room);
		assert_non_null(copy);
		memcpy(copy, program, room);
		mutate((char *)copy, room);
		if (memcmp(copy, program, room) != 0)
			assert_int_not_equal(filter_verify(copy, room, event.types), 0);
		if (copy->bytes <= room)
			copy->checksum = filter_checksum(copy, copy->bytes);
		if (filter_verify(copy, room, below(4) ? event.types : copy->types) == 0) {
			sound++;
			run_on_garbage(copy);
			filter_passes(copy, event.payload, event.bytes, &subject);
		} else {
			unsound++;
		}
		free(copy);
		event_close(&event);
	}
	assert_true(sound > 1000 && unsound > 1000);
}

static void garbage(void **state)
{
	(void)state;
	random_state = seed + 2;
	for (int round = 0; round < 40000; round++) {
		size_t room = below(WIRE_FILTER_MAX + 65) / 8 * 8;
		char *bytes = malloc(room + !room);

		assert_non_null(bytes);
		for (size_t n = 0; n < room; n++)
			bytes[n] = (char)random_next();
		assert_int_not_equal(filter_verify(bytes, room, random_next()), 0);
		free(bytes);
	}
}

/* Break each condition that the evaluator relies on, one at a time, with a valid checksum. */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differential),
		cmocka_unit_test(mutations),
		cmocka_unit_test(garbage),
	};
	const char *given = getenv("TEST_SEED");

	seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	printf("# TEST_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
