/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples of generated spans become parts: which function most of the difference is below, and what the rows name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/blame/blame_fold.h"
#include "view/blame/blame_parts.h"

enum {
	SLOW = 10,
	BAND = 40,
	MS = 1000000,
};

struct spans {
	struct view_strings strings;
	struct blame blame;
	struct blame_vector vectors[SLOW + BAND], *all[SLOW + BAND];
	unsigned stacks; /* so far: each has a name of its own below the given ones */
};

static void begin(struct spans *spans)
{
	memset(spans, 0, sizeof(*spans));
	spans->blame.strings = &spans->strings;
	assert_int_equal(blame_part_find(&spans->blame, &(struct blame_part){ .kind = BLAME_RUNNING }),
			 BLAME_UNSAMPLED);
	for (unsigned n = 0; n < SLOW + BAND; n++)
		spans->all[n] = &spans->vectors[n];
}

static void end(struct spans *spans)
{
	for (unsigned n = 0; n < SLOW + BAND; n++)
		blame_vector_free(&spans->vectors[n]);
	free(spans->blame.parts);
	free(spans->blame.fold_numbers);
	hash_table_free(&spans->blame.part_numbers);
	view_strings_free(&spans->strings);
}

/* @callers: with the innermost function, a line each; each stack gets one more, of its own */
static void run(struct spans *spans, unsigned span, enum blame_kind kind, const char *callers, uint64_t ns)
{
	char text[256];
	struct blame_part part = { .kind = kind };
	struct blame_vector *vector = &spans->vectors[span];

	snprintf(text, sizeof(text), "%s\n%u", callers, spans->stacks++);
	part.callers = view_string(&spans->strings, text);
	text[strcspn(text, "\n")] = 0;
	part.what = view_string(&spans->strings, text);
	vector->time += ns;
	vector->running += ns;
	assert_int_equal(blame_add(vector, blame_part_find(&spans->blame, &part), ns), 0);
}

static void fold(struct spans *spans, struct blame_fold *folded)
{
	assert_int_equal(blame_fold_make(folded, &spans->blame, (struct blame_set){ spans->all, SLOW },
					 (struct blame_set){ spans->all + SLOW, BAND }),
			 0);
	for (size_t n = 0; n < spans->blame.fold_room; n++)
		assert_int_equal(spans->blame.fold_numbers[n], 0);
}

/* Each span works in base(), in stacks of its own: these are in one set only, and no difference. */
static void test_band(void **unused)
{
	static struct spans spans;
	struct blame_fold folded;
	char text[BLAME_TEXT];

	(void)unused;
	begin(&spans);
	for (unsigned n = 0; n < SLOW + BAND; n++)
		for (unsigned more = 0; more < 5; more++)
			run(&spans, n, BLAME_RUNNING, "leaf\nbase\nmain", MS);
	for (unsigned n = 0; n < SLOW; n++) {
		run(&spans, n, BLAME_RUNNING, "walk\ncommand\nmain", MS / 2);
		run(&spans, n, BLAME_RUNNING, "print\ncommand\nmain", MS / 2);
	}
	fold(&spans, &folded);
	assert_string_equal(spans.strings.texts[folded.function], "command");
	assert_int_equal(folded.weight, SLOW * MS);
	assert_string_equal(blame_fold_text(&folded, spans.vectors[0].shares[1].part, text),
			    "running below command < main < 250");
	assert_int_equal(spans.vectors[0].count, 2);
	blame_fold_free(&folded);
	end(&spans);
}

/* Spans that are slow by waiting run as the others: there is no common function. */
static void test_waiting(void **unused)
{
	static struct spans spans;
	struct blame_fold folded;

	(void)unused;
	begin(&spans);
	for (unsigned n = 0; n < SLOW + BAND; n++)
		run(&spans, n, BLAME_RUNNING, "leaf\nbase\nmain", MS + (n < SLOW));
	for (unsigned n = 0; n < SLOW; n++)
		spans.vectors[n].time += 50 * MS;
	fold(&spans, &folded);
	assert_int_equal(folded.function, 0);
	blame_fold_free(&folded);
	end(&spans);
}

/* Callees are those of running: page faults below the function have a row of their own. Callers are those of most samples. */
static void test_rows(void **unused)
{
	static struct spans spans;
	struct blame_fold folded;
	char text[BLAME_TEXT];

	(void)unused;
	begin(&spans);
	for (unsigned n = 0; n < SLOW + BAND; n++)
		run(&spans, n, BLAME_RUNNING, "base\nmain", MS);
	for (unsigned n = 0; n < SLOW; n++) {
		run(&spans, n, BLAME_RUNNING, "parse\ncommand\nmain", MS);
		run(&spans, n, BLAME_FAULT, "fill\ncommand\nmain", MS);
		run(&spans, n, BLAME_RUNNING, "alloc\nA\nB\ncommand", MS);
		run(&spans, n, BLAME_RUNNING, "alloc\nC\nB\ncommand", n ? MS / 2 : 2 * MS);
	}
	fold(&spans, &folded);
	assert_string_equal(spans.strings.texts[folded.function], "command");
	assert_string_equal(spans.strings.texts[folded.callees[0].name], "alloc");
	assert_string_equal(spans.strings.texts[folded.callees[1].name], "parse");
	assert_int_equal(folded.callees[2].name, 0);
	assert_int_equal(spans.vectors[1].count, 3); /* base; command's running, and its page faults */
	for (size_t n = 0; n < spans.vectors[1].count; n++) {
		const uint32_t part = spans.vectors[1].shares[n].part;

		if (spans.blame.parts[part].kind == BLAME_FAULT)
			assert_non_null(strstr(blame_fold_text(&folded, part, text), "command < main"));
	}
	blame_fold_free(&folded);
	end(&spans);
}

/* Without a second set parts are those of innermost functions, with the callers of most samples. */
static void test_one(void **unused)
{
	static struct spans spans;
	struct blame_fold folded;
	char text[BLAME_TEXT];
	struct blame_vector *vector = &spans.vectors[0];

	(void)unused;
	begin(&spans);
	for (unsigned n = 0; n < 10; n++)
		run(&spans, 0, BLAME_RUNNING, "alloc\nA\nB\nmain", MS);
	run(&spans, 0, BLAME_RUNNING, "alloc\nC\nB\nmain", 2 * MS);
	assert_int_equal(blame_fold_make(&folded, &spans.blame, (struct blame_set){ &vector, 1 },
					 (struct blame_set){ NULL, 0 }),
			 0);
	assert_int_equal(vector->count, 1);
	assert_string_equal(blame_fold_text(&folded, vector->shares[0].part, text), "running alloc < A < B");
	blame_fold_free(&folded);
	end(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_band),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
