/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* format_parse: fields, names, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/wire_enum.h"
#include "wire/wire_format.h"

static struct format format;

static void parse(const char *text, uint64_t types)
{
	const char *why = NULL;

	if (format_parse(text, types, &format, &why))
		fail_msg("\"%s\" %llx: %s", text, (unsigned long long)types, why);
}

static void refuse(const char *text, uint64_t types, const char *reason)
{
	const char *why = NULL;

	memset(&format, 0xee, sizeof(format));
	if (format_parse(text, types, &format, &why) != -EINVAL)
		fail_msg("\"%s\" %llx was not refused", text, (unsigned long long)types);
	assert_non_null(why);
	if (!strstr(why, reason))
		fail_msg("\"%s\" %llx: refused as \"%s\" instead of \"%s\"", text, (unsigned long long)types,
			 why, reason);
	assert_int_equal(format_parse(text, types, &format, NULL), -EINVAL);
	assert_true(format.count <= WIRE_ARGS_MAX);
}

static void field(unsigned n, const char *name, unsigned type, const char *spec, const char *text)
{
	assert_true(n < format.count);
	assert_string_equal(format.fields[n].name, name);
	assert_int_equal(format.fields[n].type, type);
	assert_int_equal(format.fields[n].spec_bytes, strlen(spec));
	assert_memory_equal(text + format.fields[n].spec, spec, strlen(spec));
	assert_int_equal(format.fields[n].conversion, spec[strlen(spec) - 1]);
}

static void fields(void **state)
{
	const char *text = "len=%u proto=%-5s|%p 100%% ratio=%.3Lf %c%hhx";

	(void)state;
	parse("", 0);
	assert_int_equal(format.count, 0);
	parse("100%% plain text %%d", 0);
	assert_int_equal(format.count, 0);
	parse(text, 0x2fbcd8);
	assert_int_equal(format.count, 6);
	field(0, "len", WIRE_U32, "%u", text);
	field(1, "proto", WIRE_STR, "%-5s", text);
	field(2, "arg3", WIRE_PTR, "%p", text);
	field(3, "ratio", WIRE_F64, "%.3Lf", text);
	field(4, "arg5", WIRE_CHAR, "%c", text);
	field(5, "arg6", WIRE_I8, "%hhx", text);
}

static void names(void **state)
{
	static const struct {
		const char *text;
		const char *names[3];
	} cases[] = {
		{ "a=%d b=%d c=%d", { "a", "b", "c" } },
		{ "a=%d a=%d a=%d", { "a", "arg2", "arg3" } },
		{ "_a1=%d=%d ==%d", { "_a1", "arg2", "arg3" } },
		{ "a= %d b =%d 1=%d", { "arg1", "arg2", "arg3" } },
		{ "9a=%d x9=%d x.y=%d", { "arg1", "x9", "y" } },
		{ "%da=%d%%b=%d", { "arg1", "a", "b" } },
		{ "arg2=%d %d arg3=%d", { "arg2", "arg2_", "arg3" } },
		{ "%d arg1=%d arg2=%d", { "arg1", "arg2", "arg3" } },
		{ "gr\xc3\xb6\xc3\x9f"
		  "e=%d \xc3\xa4=%d a\xc3\xa4=%d",
		  { "arg1", "arg2", "arg3" } },
		{ "a_very_long_name_of_exactly_sixty_three_bytes_for_a_field_a_b_c=%d "
		  "a_very_long_name_of_exactly_sixty_four_bytes_for_a_field_a_b_cde=%d if=%d",
		  { "a_very_long_name_of_exactly_sixty_three_bytes_for_a_field_a_b_c", "arg2", "if" } },
		{ "=%d%d=%d", { "arg1", "arg2", "arg3" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse(cases[i].text, 0x444);
		for (int n = 0; n < 3; n++)
			assert_string_equal(format.fields[n].name, cases[i].names[n]);
	}
	parse("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 0x4444444444444444);
	assert_int_equal(format.count, 16);
	assert_string_equal(format.fields[15].name, "arg16");
}

static void every_conversion(void **state)
{
	static const char *const lengths[] = { "", "h", "hh", "l", "ll", "j", "z", "t", "L" };
	const char *conversions = "diuxXocspaAeEfFgG";

	(void)state;
	for (const char *c = conversions; *c; c++) {
		for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
			for (unsigned type = 1; type < 16; type++) {
				int text = type == WIRE_STR, pointer = type == WIRE_PTR || type == WIRE_BYTES;
				int real = type == WIRE_F32 || type == WIRE_F64,
				    number = !text && !pointer && !real;
				int fits = strchr("diuxXo", *c) ? number && l != 8
					   : *c == 'c'		? number && l == 0
					   : *c == 's'		? text && l == 0
					   : *c == 'p'		? pointer && l == 0
								: real && (l == 0 || l == 3 || l == 8);
				char spec[16];

				snprintf(spec, sizeof(spec), "%%-+ #012.34%s%c", lengths[l], *c);
				assert_int_equal(format_parse(spec, type, &format, NULL), fits ? 0 : -EINVAL);
			}
		}
	}
}

static void refusals(void **state)
{
	char text[WIRE_FORMAT_MAX + 2];

	(void)state;
	refuse("%", 4, "unfinished");
	refuse("%-", 4, "unfinished");
	refuse("%5.", 4, "unfinished");
	refuse("%ll", 4, "unfinished");
	refuse("%y", 4, "unknown");
	refuse("%lll", 4, "unknown");
	refuse("%1$d", 4, "unknown");
	refuse("% %", 0, "unknown");
	refuse("%m", 0, "unknown");
	refuse("%C", 4, "unknown");
	refuse("%n", 12, "%n");
	refuse("%5lln", 12, "%n");
	refuse("%*d", 0x44, "*");
	refuse("%-5.*d", 0x44, "*");
	refuse("%*s", 0x4d, "*");
	refuse("%.*s", 0xd4, "cannot print");
	refuse("%.*ls", 0xd, "*");
	refuse("%12345d", 4, "four digits");
	refuse("%.12345d", 4, "four digits");
	refuse("%ls", WIRE_STR, "length modifier");
	refuse("%hs", WIRE_STR, "length modifier");
	refuse("%lc", 4, "length modifier");
	refuse("%Ld", 4, "length modifier");
	refuse("%hf", 11, "length modifier");
	refuse("%llf", 11, "length modifier");
	refuse("%lp", 12, "length modifier");
	refuse("%d", 0, "more conversions");
	refuse("%d %d", 4, "more conversions");
	refuse("%d %d", 0x4004, "an array of something");
	refuse("%s", 0xd0, "an array of something");
	refuse("%p", 0xe0, "an array of something");
	refuse("%s", 0x40, "cannot print");
	refuse("%d", 0x44, "more arguments");
	refuse("%d", 0x404, "more arguments");
	refuse("", 0x4000000000000000, "more arguments");
	refuse("%%", 4, "more arguments");
	refuse("%s", 4, "cannot print");
	refuse("%d", WIRE_STR, "cannot print");
	refuse("%d", WIRE_F64, "cannot print");
	refuse("%f", 4, "cannot print");
	refuse("%x", WIRE_PTR, "cannot print");
	refuse("%s", WIRE_BYTES, "cannot print");
	refuse("%p", WIRE_U64, "cannot print");
	refuse("%p", WIRE_STR, "string under %p");
	refuse("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 0x4444444444444444, "16");
	memset(text, 'x', sizeof(text));
	text[WIRE_FORMAT_MAX] = '\0';
	parse(text, 0);
	text[WIRE_FORMAT_MAX] = 'x';
	text[WIRE_FORMAT_MAX + 1] = '\0';
	refuse(text, 0, "1023");
	memcpy(text + WIRE_FORMAT_MAX - 2, "%d", 3);
	parse(text, 4);
	assert_int_equal(format.fields[0].spec, WIRE_FORMAT_MAX - 2);
}

static void type_bytes(void **state)
{
	static const unsigned want[16] = { 0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 1 };

	(void)state;
	for (unsigned type = 0; type < 16; type++)
		assert_int_equal(format_type_bytes(type), want[type]);
	assert_int_equal(format_type_bytes(16), 0);
	assert_int_equal(format_type_bytes(UINT32_MAX), 0);
}

/* Lists of types, and arguments whose counts lie: no byte behind the payload is read. */
static void counted_arguments(void **state)
{
	static const struct format_type ints = { WIRE_ARRAY, WIRE_I32 }, raw = { WIRE_BYTES, 0 },
					text = { WIRE_STR, 0 };
	static const char payload[] = "\2\0abcdefgh";

	(void)state;
	assert_int_equal(format_types_count(0), 0);
	assert_int_equal(format_types_count(0x404d), 3);
	assert_int_equal(format_types_count(0x404), 2);
	assert_int_equal(format_types_count(0xf0f0f0f0f0f0f0f0), 8);
	assert_int_equal(format_types_count(0x4004), -EINVAL);
	assert_int_equal(format_types_count(0xd0), -EINVAL);
	assert_int_equal(format_types_count(0xe04), -EINVAL);
	for (uint32_t left = 0; left <= 10; left++) {
		char *less = malloc(left ? left : 1);

		assert_non_null(less);
		memcpy(less, payload, left);
		assert_int_equal(format_argument_bytes(ints, less, left), left == 10 ? 10 : 0);
		assert_int_equal(format_argument_bytes(raw, less, left), left >= 4 ? 4 : 0);
		assert_int_equal(format_argument_bytes(text, less, left), left >= 2 ? 2 : 0);
		if (left >= 2) {
			memset(less, 0xff, 2);
			assert_int_equal(format_argument_bytes(ints, less, left), 0);
			assert_int_equal(format_argument_bytes(raw, less, left), 0);
		}
		free(less);
	}
}

static void enums(void **state)
{
	static const char *const valid[] = {
		"", "e\n", "e A=0 B=-5\nf x.y:z-1=9223372036854775807 z=-9223372036854775808\n"
	};
	static const char *const wrong[] = { "e",
					     "e A=0",
					     "\n",
					     " A=0\n",
					     "e A=\n",
					     "e A=-\n",
					     "e =1\n",
					     "e  A=1\n",
					     "e A=1 \n",
					     "e A=9223372036854775808\n",
					     "e A=-9223372036854775809\n",
					     "e A B=1\n",
					     "e A=1x\n",
					     "e A=99999999999999999999\n",
					     "e \"=1\n",
					     "e A=1\n\n" };
	struct wire_label label;
	const char *at;

	(void)state;
	for (size_t n = 0; n < sizeof(valid) / sizeof(valid[0]); n++)
		assert_true(wire_enum_valid(valid[n]));
	for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++)
		if (wire_enum_valid(wrong[n]))
			fail_msg("'%s' is valid", wrong[n]);
	assert_null(wire_enum_find(valid[2], "x", 1));
	assert_non_null(wire_enum_find(valid[1], "e", 1));
	at = wire_enum_find(valid[2], "f", 1);
	assert_true(wire_enum_next(&at, &label) && label.value == INT64_MAX && label.bytes == 7);
	assert_true(wire_enum_next(&at, &label) && label.value == INT64_MIN);
	assert_false(wire_enum_next(&at, &label));
	assert_false(wire_enum_fits(&label, 64, false));
	assert_true(wire_enum_fits(&label, 64, true));
	label.value = 128;
	assert_true(wire_enum_fits(&label, 8, false));
	assert_false(wire_enum_fits(&label, 8, true));
}

/* Formats from a hostile file: random, in memory that ends with the text, so that sanitizers see a step too
 * far. */
static void hostile(void **state)
{
	const char alphabet[] = "%%%%%dsxp=ab_19.*-0hlL$n \xc3\x80";
	unsigned seed = 20240607, accepted = 0;

	(void)state;
	printf("# seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 200000; round++) {
		size_t length = (size_t)rand() % 24;
		char *text = malloc(length + 1);
		uint64_t types = 0;

		assert_non_null(text);
		for (size_t i = 0; i < length; i++)
			text[i] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		text[length] = '\0';
		for (int i = rand() % 5; i > 0; i--)
			types = types << 4 | (uint64_t)(rand() % 3 ? 4 : rand() % 16);
		if (format_parse(text, types, &format, NULL) == 0) {
			accepted++;
			for (unsigned i = 0; i < format.count; i++) {
				const struct format_field *f = &format.fields[i];

				assert_true(f->spec + f->spec_bytes <= length && text[f->spec] == '%');
				assert_true(strlen(f->name) > 0 && strlen(f->name) <= FORMAT_FIELD_NAME_MAX);
				for (unsigned k = 0; k < i; k++)
					assert_string_not_equal(f->name, format.fields[k].name);
			}
		}
		free(text);
	}
	assert_true(accepted > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),   cmocka_unit_test(names),	  cmocka_unit_test(every_conversion),
		cmocka_unit_test(refusals), cmocka_unit_test(type_bytes), cmocka_unit_test(counted_arguments),
		cmocka_unit_test(enums),    cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
