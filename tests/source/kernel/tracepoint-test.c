/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Descriptions of tracepoints, whole and damaged, and records by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel/programs/kernel_raw.h"
#include "source/kernel/points/tracepoint.h"
#include "wire/wire_format.h"

#define COMMON                                                                 \
	"name: it\nID: 321\nformat:\n"                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char whole[] = COMMON "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				   "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				   "\tfield:u8 small;\toffset:28;\tsize:1;\tsigned:0;\n"
				   "\tfield:__data_loc char[] text;\toffset:32;\tsize:4;\tsigned:0;\n"
				   "\tfield:void * at;\toffset:40;\tsize:8;\tsigned:0;\n"
				   "\tfield:u16 list[3];\toffset:48;\tsize:6;\tsigned:0;\n"
				   "\tfield:struct other odd;\toffset:56;\tsize:12;\tsigned:0;\n"
				   "\tfield:long far;\toffset:57;\tsize:8;\tsigned:1;\n"
				   "\nprint fmt: \"x\"\n";

static const char call[] =
	COMMON "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	       "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
	       "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
	       "\tfield:umode_t mode;\toffset:32;\tsize:8;\tsigned:0;\n"
	       "\tfield:size_t count;\toffset:40;\tsize:8;\tsigned:0;\n"
	       "\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n";

static void parses_fields(void **state)
{
	struct tracepoint point;

	(void)state;
	assert_true(tracepoint_parse(&point, "some", "it", whole));
	assert_int_equal(point.id, 321);
	assert_string_equal(point.event, "kernel.some:it");
	assert_string_equal(point.format, "comm=%s pid=%d small=%hhu text=%s at=%p list=%hu");
	assert_int_equal(point.count, 8); /* without the common ones */
	assert_null(tracepoint_field(&point, "odd"));
	assert_null(tracepoint_field(&point, "far")); /* not aligned */
	assert_null(tracepoint_field(&point, "common_pid"));
	assert_int_equal(tracepoint_field(&point, "pid")->offset, 24);
	assert_int_equal(tracepoint_field(&point, "list")->element, 2);
}

static void parses_system_calls(void **state)
{
	struct tracepoint point;
	bool enters = false;

	(void)state;
	assert_true(tracepoint_parse(&point, "syscalls", "sys_enter_openat", call));
	assert_string_equal(point.format, "dfd=%d filename=%s mode=%u count=%llu");
	assert_string_equal(tracepoint_syscall(&point, &enters), "openat");
	assert_true(enters);
	tracepoint_without_texts(&point);
	assert_string_equal(point.format, "dfd=%d filename=%p mode=%u count=%llu");
	assert_int_equal(tracepoint_field(&point, "filename")->bytes, 8);
	assert_true(tracepoint_parse(&point, "other", "sys_enter_openat", call));
	assert_null(tracepoint_syscall(&point, &enters));
}

static void check_event(const struct tracepoint *point)
{
	struct format format;
	const char *why;

	assert_int_equal(format_parse(point->format, point->types, &format, &why), 0);
}

/* Any damage gives a valid event or none. */
static void survives_damage(void **state)
{
	const char *const texts[] = { whole, call };
	struct tracepoint point;
	unsigned parsed = 0;

	(void)state;
	srandom(1);
	for (unsigned turn = 0; turn < 20000; turn++) {
		char text[sizeof(whole) + sizeof(call)];
		const size_t count = strlen(texts[turn % 2]);

		strcpy(text, texts[turn % 2]);
		for (long damage = random() % 6; damage >= 0; damage--)
			text[(size_t)random() % count] = "\t\n:;[]*, 019az_"[random() % 15];
		if (turn % 5 == 0)
			text[(size_t)random() % count] = 0;
		if (!tracepoint_parse(&point, "syscalls", turn % 3 ? "sys_enter_x" : "x", text))
			continue;
		parsed++;
		check_event(&point);
		tracepoint_without_texts(&point);
		check_event(&point);
	}
	assert_true(parsed > 1000);
}

static const char record[] = "\1\1\0\0\0\0\0\0"
			     "abcdefghijklmno\0"
			     "\377\377\377\377\7\0\0\0"
			     "\70\0\5\0\0\0\0\0"
			     "\1\2\3\4\5\6\7\10"
			     "\1\0\2\0\3\0\0\0"
			     "text";

static void converts_records(void **state)
{
	static const char payload[] =
		"abcdefghijklmno\0\377\377\377\377\7text\0\1\2\3\4\5\6\7\10\3\0\1\0\2\0\3";
	char out[KERNEL_PAYLOAD_MAX];
	struct tracepoint point;

	(void)state;
	assert_true(tracepoint_parse(&point, "some", "it", whole));
	assert_int_equal(kernel_raw_convert(&point, record, sizeof(record), out), sizeof(payload));
	assert_memory_equal(out, payload, sizeof(payload));
	for (unsigned bytes = 0; bytes < sizeof(record);
	     bytes++) { /* cut: of an exact copy, for the sanitizers */
		char *cut = malloc(bytes + 1);

		memcpy(cut, record, bytes);
		assert_true(kernel_raw_convert(&point, cut, bytes, out) >= 4 + 1 + 8 + 2 + 6 + 2);
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_fields),
		cmocka_unit_test(parses_system_calls),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(converts_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
