/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Text: globs, escaping, sizes; and rendering by an event's format, held against printf itself. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "wire/format.h"
#include "base/glob.h"
#include "base/text.h"
#include "burin/read.h"
#include "synth.h"
#include "view/pattern.h"
#include "wire/event.h"

static void test_glob(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool fits;
	} cases[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "a.b", true },
		{ "a.b", "a.b", true },
		{ "a.b", "a.c", false },
		{ "a.*", "a.", true },
		{ "a.*", "ab", false },
		{ "*.b", "a.a.b", true },
		{ "*.b", "a.bb", false },
		{ "a*b*c", "aXbYbZc", true },
		{ "a*b*c", "aXcYb", false },
		{ "?", "a", true },
		{ "?", "", false },
		{ "??", "a", false },
		{ "[ab]", "b", true },
		{ "[ab]", "c", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]", "b", false },
		{ "[^a-c]", "d", true },
		{ "[]]", "]", true },
		{ "[!]]", "]", false },
		{ "[", "[", true },
		{ "[a", "[a", true },
		{ "[a", "a", false },
		{ "[a-]", "-", true },
		{ "A", "a", false },
		{ "**a**", "bab", true },
		{ "*[0-9]", "net.rx7", true },
		{ "*[0-9]", "net.rx", false },
		{ "[[][[]", "[[", true },
		{ "x[", "x", false },
	};
	char hostile[2049], text[128];
	clock_t begin = clock();

	(void)state;
	for (unsigned n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		if (glob_match(cases[n].pattern, cases[n].text) != cases[n].fits)
			fail_msg("\"%s\" and \"%s\"", cases[n].pattern, cases[n].text);
	}
	/* Patterns made to take long. */
	memset(text, '[', 127);
	text[127] = '\0';
	for (unsigned kind = 0; kind < 3; kind++) {
		for (unsigned n = 0; n < 2048; n++)
			hostile[n] = kind == 0	 ? (n % 2 ? '[' : '*')
				     : kind == 1 ? (n ? '[' : '*')
						 : "*[a-[]"[n % 6];
		hostile[2047] = 'x';
		hostile[2048] = '\0';
		assert_false(glob_match(hostile, text));
	}
	assert_true(clock() - begin < CLOCKS_PER_SEC / 2);
}

static void test_escape(void **state)
{
	static const struct {
		const char *in, *text, *json;
	} cases[] = {
		{ "plain", "plain", "plain" },
		{ "\033[31m", "\\e[31m", "\\u001b[31m" },
		{ "a\nb\tc\\", "a\\nb\\tc\\\\", "a\\nb\\tc\\\\" },
		{ "\"q\"", "\"q\"", "\\\"q\\\"" },
		{ "caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xff\x80", "\\xff\\x80", "\\ufffd\\ufffd" },
		{ "\xc0\xaf", "\\xc0\\xaf", "\\ufffd\\ufffd" },			/* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd" }, /* a surrogate */
		{ "\xc2\x9b", "\\u009b", "\\u009b" },		/* a terminal's CSI in one character */
		{ "\xe2\x80\xae", "\\u202e", "\\u202e" },	/* right-to-left override */
		{ "\xe2\x82", "\\xe2\\x82", "\\ufffd\\ufffd" }, /* cut */
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\x7f", "\\x7f", "\\u007f" },
	};
	char out[128];

	(void)state;
	for (unsigned n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		out[text_escape(out, cases[n].in, strlen(cases[n].in))] = '\0';
		assert_string_equal(out, cases[n].text);
		assert_string_equal(text_escape_line(out, sizeof(out), cases[n].in), cases[n].text);
		out[text_json(out, cases[n].in, strlen(cases[n].in))] = '\0';
		assert_string_equal(out, cases[n].json);
	}
	assert_string_equal(text_escape_line(out, 6, "abc\033def"), "abc\\e");
	assert_string_equal(text_escape_line(out, 5, "abc\033def"), "abc");
	/* The bounds that callers rely on, for every pair of bytes. */
	for (unsigned pair = 0; pair < 65536; pair++) {
		const char in[2] = { (char)(pair >> 8), (char)pair };

		assert_true(text_escape(out, in, 2) <= 2 * TEXT_ESCAPE_MAX);
		assert_true(text_json(out, in, 2) <= 2 * TEXT_JSON_MAX);
	}
}

static void test_quantities(void **state)
{
	char out[TEXT_SHORT];

	(void)state;
	assert_string_equal(text_size(out, 0), "0 bytes");
	assert_string_equal(text_size(out, 1023), "1023 bytes");
	assert_string_equal(text_size(out, 1536), "1.5 KiB");
	assert_string_equal(text_size(out, 720000000), "686.6 MiB");
	assert_string_equal(text_size(out, UINT64_MAX), "16.0 EiB");
	assert_string_equal(text_duration(out, 999), "999 ns");
	assert_string_equal(text_duration(out, 12300000), "12.3 ms");
	assert_string_equal(text_duration(out, 1500000000), "1.50 s");
	assert_string_equal(text_duration(out, 61000000000), "1 min 01 s");
	assert_true(strlen(text_duration(out, UINT64_MAX)) < TEXT_SHORT);
	assert_string_equal(text_count(out, 0), "0");
	assert_string_equal(text_count(out, 999), "999");
	assert_string_equal(text_count(out, 30000000), "30,000,000");
	assert_string_equal(text_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

/* What the traced program's printf would have printed. */
static void with_printf(char *out, size_t size, const char *format, unsigned type, uint64_t bits)
{
	float single;
	double number;

	switch (type) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	case WIRE_I8:
		snprintf(out, size, format, (int8_t)bits);
		break;
	case WIRE_I16:
		snprintf(out, size, format, (int16_t)bits);
		break;
	case WIRE_I32:
		snprintf(out, size, format, (int32_t)bits);
		break;
	case WIRE_U8:
	case WIRE_BOOL:
		snprintf(out, size, format, (uint8_t)bits);
		break;
	case WIRE_U16:
		snprintf(out, size, format, (uint16_t)bits);
		break;
	case WIRE_U32:
		snprintf(out, size, format, (uint32_t)bits);
		break;
	case WIRE_F32:
		memcpy(&single, &bits, sizeof(single));
		snprintf(out, size, format, (double)single);
		break;
	case WIRE_F64:
		memcpy(&number, &bits, sizeof(number));
		snprintf(out, size, format, number);
		break;
	default:
		snprintf(out, size, format, bits);
		break;
#pragma GCC diagnostic pop
	}
}

enum {
	FORMATS_MAX = 250,
};

struct formatted {
	char format[64];
	unsigned type;
};

/* A random conversion that goes with a random type, as a program that compiles without warnings has it. */
static void random_format(struct formatted *formatted)
{
	static const unsigned types[] = { WIRE_I8,  WIRE_I16, WIRE_I32, WIRE_I64, WIRE_U8,
					  WIRE_U16, WIRE_U32, WIRE_U64, WIRE_F32, WIRE_F64 };
	static const char *const lengths[] = {
		[WIRE_I8] = "hh", [WIRE_U8] = "hh",  [WIRE_I16] = "h", [WIRE_U16] = "h",
		[WIRE_I64] = "l", [WIRE_U64] = "ll", [WIRE_I32] = "",  [WIRE_U32] = "",
	};
	unsigned type = types[(size_t)rand() % 10];
	bool is_float = type == WIRE_F32 || type == WIRE_F64;
	char *at = formatted->format, conversion = (is_float ? "eEfFgG" : "diuxXo")[rand() % 6];

	formatted->type = type;
	at += sprintf(at, "n=%%");
	for (const char *flag = "-+ 0"; *flag; flag++) {
		if (rand() % 4 == 0)
			*at++ = *flag;
	}
	if (rand() % 4 == 0 && !strchr("diu", conversion))
		*at++ = '#';
	if (rand() % 2)
		at += sprintf(at, "%d", 1 + rand() % 30);
	if (rand() % 2)
		at += sprintf(at, ".%d", rand() % 20);
	/* Without hh and h too: the default promotions print the same argument another way. */
	if (!is_float && (rand() % 2 || type == WIRE_I64 || type == WIRE_U64))
		at += sprintf(at, "%s", lengths[type]);
	*at++ = conversion;
	strcpy(at, "|");
}

static uint64_t random_bits(unsigned type)
{
	uint64_t bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
	float single = (float)((double)(int64_t)bits / 1e15);
	double number = (double)(int64_t)bits / 1e12;

	if (type == WIRE_F32) {
		bits = 0;
		memcpy(&bits, &single, sizeof(single));
	} else if (type == WIRE_F64) {
		memcpy(&bits, &number, sizeof(number));
	} else if (rand() % 3 == 0) {
		bits >>= rand() % 64;
	} else if (rand() % 8 == 0) {
		bits = rand() % 2 ? 0 : UINT64_MAX;
	}
	return bits;
}

static void make_formats(const char *path, struct formatted *formats, uint64_t *values)
{
	struct synth *synth = synth_new(path, NULL);
	struct synth_ring *ring = synth_ring(synth, 0, false);

	synth_thread(synth, 1, 1, 1, "t");
	for (unsigned n = 0; n < FORMATS_MAX; n++) {
		char name[32];

		random_format(&formats[n]);
		snprintf(name, sizeof(name), "e%u", n);
		synth_event(synth, name, formats[n].format, formats[n].type, WIRE_KIND_EVENT, "", 0);
	}
	for (unsigned n = 0; n < 4 * FORMATS_MAX; n++) {
		unsigned id = n % FORMATS_MAX;

		values[n] = random_bits(formats[id].type);
		synth_record(ring, 1 + n, id + 1, 1, &values[n], format_type_bytes(formats[id].type));
	}
	synth_finish(synth);
}

static void test_as_printf_does(void **state)
{
	static struct formatted formats[FORMATS_MAX];
	static uint64_t values[4 * FORMATS_MAX];
	const struct burin_record *record;
	struct burin_cursor *cursor;
	struct burin_trace *trace;
	char directory[512], path[600];

	(void)state;
	srand(42);
	synth_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/trace", directory);
	make_formats(path, formats, values);
	assert_int_equal(burin_trace_open(&trace, path, NULL, NULL), 0);
	assert_int_equal(burin_trace_faults(trace), 0);
	assert_int_equal(burin_cursor_open(&cursor, trace, NULL), 0);
	for (unsigned n = 0; n < 4 * FORMATS_MAX; n++) {
		const struct formatted *formatted = &formats[n % FORMATS_MAX];
		struct view_pattern pattern;
		char wanted[1024], *out;

		assert_int_equal(burin_cursor_next(cursor, &record), 1);
		assert_int_equal(view_pattern_compile(&pattern, record->event), 0);
		out = malloc(pattern.bound + VIEW_PATTERN_PER_BYTE * record->payload_bytes + 1);
		*view_pattern_render(&pattern, record, out) = '\0';
		with_printf(wanted, sizeof(wanted), formatted->format, formatted->type, values[n]);
		if (strcmp(out, wanted) != 0)
			fail_msg("%s of type %u, value %#" PRIx64 ": \"%s\", printf says \"%s\"",
				 formatted->format, formatted->type, values[n], out, wanted);
		free(out);
		view_pattern_free(&pattern);
	}
	burin_cursor_close(cursor);
	burin_trace_close(trace);
	synth_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glob),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_as_printf_does),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
