/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Text: globs, escaping, sizes; and rendering by an event's format, compared with printf. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "wire/wire_format.h"
#include "base/glob.h"
#include "base/print.h"
#include "base/text.h"
#include "burin/read.h"
#include "synth.h"
#include "view/records/format_program.h"
#include "wire/wire_event.h"

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
	/* Patterns that would take long with backtracking. */
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
		{ "\xe2\x82", "\\xe2\\x82", "\\ufffd\\ufffd" }, /* truncated */
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xf3\xa0\x81\x81", "\\U000e0041", "\\udb40\\udc41" }, /* a tag */
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
	assert_string_equal(text_mask((char[]){ "a\tb\n\177\\\303\244" }), "a?b??\\\303\244");
	assert_string_equal(text_mask((char[]){ "\302\233x\342\200\256\377\303" }), "??x?????");
	assert_string_equal(text_escape_line(out, 6, "abc\033def"), "abc\\e");
	assert_string_equal(text_escape_line(out, 5, "abc\033def"), "abc");
	/* The size limits that callers rely on, for every pair of bytes. */
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

/* The output of the traced program's printf. */
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

/* A random type with a random conversion that compiles without warnings. */
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
	/* Also without hh and h: after default promotions the same argument prints differently. */
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
		struct view_format_program pattern;
		char wanted[1024], *out;

		assert_int_equal(burin_cursor_next(cursor, &record), 1);
		assert_int_equal(view_format_program_compile(&pattern, record->event), 0);
		out = malloc(pattern.bound + pattern.per_byte * record->payload_bytes + 1);
		*view_format_program_render(&pattern, record, out) = '\0';
		with_printf(wanted, sizeof(wanted), formatted->format, formatted->type, values[n]);
		if (strcmp(out, wanted) != 0)
			fail_msg("%s of type %u, value %#" PRIx64 ": \"%s\", printf says \"%s\"",
				 formatted->format, formatted->type, values[n], out, wanted);
		free(out);
		view_format_program_free(&pattern);
	}
	burin_cursor_close(cursor);
	burin_trace_close(trace);
	synth_remove(directory);
}

#define SAME(format, ...)                                                                     \
	do {                                                                                  \
		char ours[256], theirs[256];                                                  \
		size_t bytes = (size_t)snprintf(theirs, sizeof(theirs), format, __VA_ARGS__); \
		assert_int_equal(print_text(ours, sizeof(ours), format, __VA_ARGS__), bytes); \
		assert_string_equal(ours, theirs);                                            \
		assert_int_equal(print_text(NULL, 0, format, __VA_ARGS__), bytes);            \
	} while (0)

/* Numbers, widths and flags: as snprintf() prints them. */
static void test_print_numbers(void **state)
{
	static const int64_t numbers[] = { 0,	  1,	     -1,	9,	   10,	     255,
					   99999, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
	static const double doubles[] = { 0, 1, -1.5, 1e-7, 123456789.125, 1e300, -1e300 };

	(void)state;
	for (unsigned n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		const int64_t number = numbers[n];

		SAME("%d|%u|%x|%X|%o|%i", (int)number, (unsigned)number, (unsigned)number, (unsigned)number,
		     (unsigned)number, (int)number);
		SAME("%" PRId64 "|%" PRIu64 "|%" PRIx64, number, (uint64_t)number, (uint64_t)number);
		SAME("%hhd|%hd|%hhu|%hu|%zu|%jd|%td|%lld", (signed char)number, (short)number,
		     (unsigned char)number, (unsigned short)number, (size_t)number, (intmax_t)number,
		     (ptrdiff_t)number, (long long)number);
		SAME("%5d|%-5d|%05d|%+d|% d|%#x|%#X|%3u%%", (int)number, (int)number, (int)number,
		     (int)number, (int)number, (unsigned)number, (unsigned)number, (unsigned)number);
		SAME("%*d|%-*d|%.3d|%.0d|%8.3d|%16" PRIx64 "|%06" PRId64 "|%*u", 30, (int)number, 30,
		     (int)number, (int)number, (int)number, (int)number, (uint64_t)number, number, -12,
		     (unsigned)number);
	}
	for (unsigned n = 0; n < sizeof(doubles) / sizeof(doubles[0]); n++)
		SAME("%g|%.3g|%.17g|%e|%6.2e|%+7.2g|%-9.1g|%09.3g|%.*g", doubles[n], doubles[n], doubles[n],
		     doubles[n], doubles[n], doubles[n], doubles[n], doubles[n], 4, doubles[n]);
	SAME("%f|%8.3f|%-8.1f|%+.2f", 3.14159, -2.5, 1e6, 0.005);
	SAME("%s|%8s|%-8s|%.2s|%*s|%-*s|%c|%3c|", "a", "bc", "de", "fgh", 5, "", 3, "x", 'y', 'z');
	SAME("%s", "100 bytes and more, that are put in one after the other, so that they are more than one "
		   "piece of 64 bytes");
}

/* Strings are foreign and are escaped, and widths count displayed columns; the format and colours are ours. */
static void test_print_strings(void **state)
{
	char out[512], small[8], hostile[300];
	const char *volatile none = NULL;

	(void)state;
	print_text(out, sizeof(out), "\033[1m\n%s\t", "\033[1m\n\x9b\\");
	assert_string_equal(out, "\033[1m\n\\e[1m\\n\\x9b\\\\\t");
	print_text(out, sizeof(out), "%s%s%s", print_styles[PRINT_WARN], "\033[1;33m",
		   print_styles[PRINT_OFF]);
	assert_string_equal(out, "\033[1;33m\\e[1;33m\033[0m");
	print_text(out, sizeof(out), "[%6s|%-6s|%c|%s]", "\a\xc3\xa9", "\a\xc3\xa9", '\033', none);
	assert_string_equal(out, "[   \\a\xc3\xa9|\\a\xc3\xa9   |\\e|(null)]");
	print_text(out, sizeof(out), "%.3s|", "a\xc3\xa9tail");
	assert_string_equal(out, "a\xc3\xa9|");
	/* Long strings are escaped in pieces; no character is split, even without output. */
	for (unsigned n = 0; n < 8; n++) {
		memset(hostile, 'a', sizeof(hostile));
		for (unsigned at = n; at + 4 < sizeof(hostile); at += 4)
			memcpy(hostile + at, "\xf0\x9f\x98\x80", 4);
		hostile[sizeof(hostile) - 1] = '\0';
		assert_int_equal(print_text(NULL, 0, "%s", hostile), sizeof(hostile) - 1);
		print_text(out, sizeof(out), "%s", hostile);
		assert_string_equal(out, hostile);
	}
	/* Truncated text ends with a whole character. */
	assert_int_equal(print_text(small, sizeof(small), "%s", "123456\xc3\xa9"), 8);
	assert_string_equal(small, "123456");
	assert_int_equal(print_text(small, sizeof(small), "%s", "1234\xf0\x9f\x98\x80"), 8);
	assert_string_equal(small, "1234");
	assert_int_equal(print_text(small, sizeof(small), "%s", "1234\xe2\x82\xac"), 7);
	assert_string_equal(small, "1234\xe2\x82\xac");
	assert_int_equal(print_whole("ab\xe2\x82\xac", 4), 2);
	assert_int_equal(print_whole("ab\xe2\x82\xac", 5), 5);
	assert_int_equal(print_whole("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print_numbers), cmocka_unit_test(test_print_strings),
		cmocka_unit_test(test_glob),	      cmocka_unit_test(test_escape),
		cmocka_unit_test(test_quantities),    cmocka_unit_test(test_as_printf_does),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
