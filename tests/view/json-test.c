/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The writer of JSON: commas, line breaks, escapes; parts that are copied; misuse, which is an assertion. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/json.h"

static void is(struct view_buffer *out, const char *wanted)
{
	assert_false(out->failed);
	assert_int_equal(out->used, strlen(wanted));
	assert_memory_equal(out->bytes, wanted, out->used);
	view_buffer_free(out);
}

static void write_all(struct json *json)
{
	json_object(json, NULL);
	json_array(json, "empty");
	json_end(json);
	json_object(json, "none");
	json_end(json);
	json_array(json, "numbers");
	json_u64(json, NULL, UINT64_MAX);
	json_i64(json, NULL, INT64_MIN);
	json_double(json, NULL, 0.1, 17);
	json_double(json, NULL, -INFINITY, 6);
	json_double(json, NULL, NAN, 6);
	json_end(json);
	json_key(json, "key \"\n");
	json_text(json, NULL, "a\\\x01\xff\xc3\xa9");
	json_text(json, "null", NULL);
	json_bool(json, "bool", false);
	json_hex(json, "hex", "\x01\xfe", 2);
	json_end(json);
}

static void test_documents(void **state)
{
	static const char line[] = "{\"empty\":[],\"none\":{},\"numbers\":[18446744073709551615,-"
				   "9223372036854775808,0.10000000000000001,"
				   "\"-Infinity\",\"NaN\"],\"key "
				   "\\\"\\n\":\"a\\\\\\u0001\\ufffd\xc3\xa9\",\"null\":null,\"bool\":false,"
				   "\"hex\":\"01fe\"}\n";
	struct view_buffer out = { .used = 0 };
	char two[2 * sizeof(line)];
	struct json json;

	(void)state;
	json_begin(&json, &out, 0);
	write_all(&json);
	write_all(&json);
	snprintf(two, sizeof(two), "%s%s", line, line);
	is(&out, two);
	json_begin(&json, &out, 1);
	json_array(&json, NULL);
	json_u64(&json, NULL, 1);
	json_object(&json, NULL);
	json_u64(&json, "a", 2);
	json_u64(&json, "b", 3);
	json_end(&json);
	json_end(&json);
	is(&out, "[\n  1,\n  {\"a\":2,\"b\":3}\n]\n");
	json_begin(&json, &out, 2);
	json_object(&json, NULL);
	json_array(&json, "a");
	json_end(&json);
	json_array(&json, "b");
	json_null(&json, NULL);
	json_end(&json);
	json_end(&json);
	is(&out, "{\n  \"a\":[],\n  \"b\":[\n    null\n  ]\n}\n");
}

static void test_copies(void **state)
{
	struct view_buffer out = { .used = 0 }, part = { .used = 0 };
	struct json json, from;

	(void)state;
	json_begin(&from, &part, 0);
	json_object(&from, NULL);
	json_u64(&from, "a", 1);
	json_key(&from, "b");
	for (unsigned lines = 0; lines < 2; lines++) {
		json_begin(&json, &out, lines);
		json_object(&json, NULL);
		json_literal_key(&json, "first");
		json_bool(&json, NULL, true);
		json_copy(&json, part.bytes + 1, (size_t)(from.at - part.bytes) - 1);
		json_u64(&json, NULL, 2);
		json_end(&json);
		is(&out, lines ? "{\n  \"first\":true,\n  \"a\":1,\"b\":2\n}\n"
			       : "{\"first\":true,\"a\":1,\"b\":2}\n");
	}
	view_buffer_free(&part);
}

/* Longer than the buffer, and as deep as is permitted. */
static void test_growth(void **state)
{
	static char text[100000];
	struct view_buffer out = { .used = 0 };
	struct json json;

	(void)state;
	memset(text, '\n', sizeof(text) - 1);
	json_begin(&json, &out, 0);
	for (unsigned depth = 1; depth < JSON_DEPTH_MAX; depth++)
		json_array(&json, NULL);
	json_text(&json, NULL, text);
	while (json.depth)
		json_end(&json);
	assert_false(out.failed);
	assert_int_equal(out.used, 2 * (JSON_DEPTH_MAX - 1) + 2 * sizeof(text) + 1);
	view_buffer_free(&out);
}

enum misuse {
	VALUE_ALONE,
	VALUE_WITHOUT_KEY,
	KEY_IN_ARRAY,
	KEY_AFTER_KEY,
	KEY_WITHOUT_VALUE,
	COPY_IN_ARRAY,
	END_ALONE,
	TOO_DEEP,
	MISUSES
};

static void misuse(enum misuse which)
{
	struct view_buffer out = { .used = 0 };
	struct json json;

	json_begin(&json, &out, 0);
	if (which == VALUE_WITHOUT_KEY || which == KEY_AFTER_KEY || which == KEY_WITHOUT_VALUE)
		json_object(&json, NULL);
	if (which == KEY_IN_ARRAY || which == COPY_IN_ARRAY)
		json_array(&json, NULL);
	if (which == VALUE_ALONE || which == VALUE_WITHOUT_KEY)
		json_null(&json, NULL);
	if (which == KEY_IN_ARRAY)
		json_null(&json, "key");
	if (which == COPY_IN_ARRAY)
		json_literal_key(&json, "key");
	if (which == KEY_AFTER_KEY || which == KEY_WITHOUT_VALUE)
		json_key(&json, "key");
	if (which == KEY_AFTER_KEY)
		json_key(&json, "key");
	for (unsigned depth = 0; which == TOO_DEEP && depth < JSON_DEPTH_MAX; depth++)
		json_array(&json, NULL);
	if (which == KEY_WITHOUT_VALUE || which == END_ALONE)
		json_end(&json);
}

static void test_misuse(void **state)
{
	(void)state;
	for (unsigned which = 0; which < MISUSES; which++) {
		const pid_t child = fork();
		int status;

		if (!child) {
			signal(SIGABRT, SIG_DFL);
			if (!freopen("/dev/null", "w", stderr))
				_exit(2);
			misuse((enum misuse)which);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
			fail_msg("misuse %u was accepted", which);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_misuse),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
