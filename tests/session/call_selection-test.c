/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rules for functions whose calls are recorded: words of the user, what they match, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session/calls/call_known.h"
#include "session/calls/call_selection.h"

static struct wire_calls calls;
static const char *names[4];

static const char *nth(void *data, unsigned n)
{
	(void)data;
	return n < 4 ? names[n] : NULL;
}

static const struct call_subject subject = { .image = "/opt/app/lib/libnet.so.1",
					     .offset = 0x1240,
					     .known.file = "/data/app/src/net/rx.c",
					     .name = nth };

static bool matches(const char *word)
{
	char rule[CALL_RULE_MAX];

	names[0] = "_ZN3net2rxEi";
	names[1] = "net::rx(int)";
	names[2] = "net::rx";
	assert_true(call_selection_parse(rule, '+', word));
	return call_selection_matches(rule, &subject);
}

static void words_match(void **state)
{
	static const char *const good[] = { "*",
					    "net::*",
					    "net::rx",
					    "net::rx(int)",
					    "_ZN3net*",
					    "file:src/net/*.c",
					    "file:rx.c",
					    "file:/data/*",
					    "image:libnet.so*",
					    "image:/opt/*",
					    "0x1240",
					    "libnet.so*+0x1240" },
				 *const bad[] = {
					 "net",	     "rx",	  "file:net/tx.c",	"file:et/rx.c",
					 "file::rx", "image:app", "image:net.so*",	"image::x",
					 "0x1241",   "0x124",	  "libdisk.so*+0x1240", "x+0x",
					 "0x12g0"
				 };

	(void)state;
	for (size_t n = 0; n < sizeof(good) / sizeof(*good); n++)
		if (!matches(good[n]))
			fail_msg("%s does not match", good[n]);
	for (size_t n = 0; n < sizeof(bad) / sizeof(*bad); n++)
		if (matches(bad[n]))
			fail_msg("%s matches", bad[n]);
}

static void add(const char *word, char sign)
{
	char rule[CALL_RULE_MAX];

	assert_true(call_selection_parse(rule, sign, word));
	assert_true(call_selection_add(calls.rules, rule));
}

static void the_last_match_counts(void **state)
{
	(void)state;
	calls = (struct wire_calls){ 0 };
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_ON);
	add("other*", '+');
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_OFF);
	add("net::*", '+');
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_ON);
	add("image:libnet*", '-');
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_OFF);
	add("net::rx", '#');
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_COUNT);
	add("net::*", '+'); /* again: now it is the last */
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_ON);
	calls.depth_max = 3;
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_SLOW);
	calls.below = 1;
	add("net::*", '^');
	add("net::*", '-'); /* does not take the root away */
	assert_int_equal(call_selection_state(&calls, &subject), WIRE_CALL_ROOT);
}

static void ranges_match(void **state)
{
	(void)state;
	assert_true(call_selection_matches("+r:10-20,1200-1241 libnet.so.1", &subject));
	assert_false(call_selection_matches("+r:10-20,1200-1240 libnet.so.1", &subject));
	assert_false(call_selection_matches("+r:10-20,1200-1241 libdisk.so.1", &subject));
	assert_false(call_selection_matches("+r:10-20,1200-1241", &subject));
	assert_false(call_selection_matches("+r:", &subject));
	assert_false(call_selection_matches("+", &subject));
	assert_false(call_selection_matches("", &subject));
}

static void what_is_refused(void **state)
{
	static char word[CALL_RULE_MAX + 1];
	char rule[CALL_RULE_MAX];

	(void)state;
	assert_false(call_selection_parse(rule, '+', ""));
	memset(word, 'x', CALL_RULE_MAX - 4);
	assert_true(call_selection_parse(rule, '+', word));
	memset(word, 'x', CALL_RULE_MAX - 3);
	assert_false(call_selection_parse(rule, '+', word));
}

/* Rules fill the area, and the one that does not fit changes nothing. */
static void no_room(void **state)
{
	char word[1000], rule[CALL_RULE_MAX], before[WIRE_CALL_RULES];
	unsigned added = 0;

	(void)state;
	calls = (struct wire_calls){ 0 };
	for (;; added++) {
		snprintf(word, sizeof(word), "%0*u", (int)sizeof(word) - 1, added);
		assert_true(call_selection_parse(rule, '-', word));
		memcpy(before, calls.rules, sizeof(before));
		if (!call_selection_add(calls.rules, rule))
			break;
	}
	assert_int_equal(added, (WIRE_CALL_RULES - 2) / (sizeof(word) + 3));
	assert_memory_equal(before, calls.rules, sizeof(before));
}

static void parameters_go(void **state)
{
	static const char *const pairs[][2] = {
		{ "net::rx(int)", "net::rx" },
		{ "(anonymous namespace)::f(char*)", "(anonymous namespace)::f" },
		{ "a::(anonymous namespace)::f()", "a::(anonymous namespace)::f" },
		{ "f<int (*)(char)>::g(int) const", "f<int (*)(char)>::g" },
		{ "a::operator()(int) const", "a::operator()" },
		{ "a::operator<(a const&)", "a::operator<" },
		{ "a::operator->() const", "a::operator->" },
		{ "operator<< <int>(b&)", "operator<< <int>" },
		{ "main", NULL },
		{ "", NULL },
		{ "operator", NULL },
	};
	char bare[CALL_NAME_BARE_MAX];

	(void)state;
	for (size_t n = 0; n < sizeof(pairs) / sizeof(*pairs); n++) {
		assert_int_equal(call_selection_bare(bare, pairs[n][0]), pairs[n][1] != NULL);
		if (pairs[n][1])
			assert_string_equal(bare, pairs[n][1]);
	}
}

/* The user of a session may fill it with anything: the search for the end of a text is bounded, or all of it is searched for each function. */
static void known_texts_end(void **state)
{
	enum {
		FUNCTIONS = 1024,
		OFFSET = 0x40,
	};
	static char text[FUNCTIONS * WIRE_CALL_SPEC_TEXT];
	static struct wire_call_image images[1] = { { .inode = 1 } };
	static struct wire_call_spec specs[1] = { { .offset = OFFSET, .text = 1, .source = 1 } };
	const struct session session = {
		.geometry.functions_max = FUNCTIONS,
		.calls = { .header = &calls, .images = images, .specs = specs, .spec_text = text }
	};

	(void)state;
	calls.described = 1;
	calls.described_files[0] = (struct wire_call_described){ .inode = 1, .count = 1 };
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_null(call_known_find(&session, 1, OFFSET).file);
	text[WIRE_CALL_KNOWN_MAX] = 0;
	assert_ptr_equal(call_known_find(&session, 1, OFFSET).file, text + 1);
	specs[0].text = sizeof(text);
	assert_null(call_known_find(&session, 1, OFFSET).spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_texts_end),	 cmocka_unit_test(words_match),
		cmocka_unit_test(the_last_match_counts), cmocka_unit_test(ranges_match),
		cmocka_unit_test(what_is_refused),	 cmocka_unit_test(no_room),
		cmocka_unit_test(parameters_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
