/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code is generated from the last test to the first, so that the targets of each test's jumps are known.
 *
 * A test has two of them, for true and false: another test or a verdict. `and`, `or` and `not` need no code
 * of their own. They only decide where their tests go on, and a negation swaps the targets. All jumps lead
 * forward, so a program of n tests takes at most n steps; filter_verify() checks that again.
 *
 * While the code grows, a test's number is its position in an array that is filled from its end. At last all
 * numbers are moved to begin with 0. Verdicts are numbers from WIRE_FILTER_NO on and stay.
 *
 * The depth of the recursion is that of the tree, at most NODES_MAX.
 */
#include "filter/filter_codegen.h"

#include <string.h>

#include "filter/filter.h"
#include "wire/wire_event.h"

/*
 * The generated tests, from the end of the array to its beginning. A tree of n tests has n - 1 other nodes, so there is room for
 * two places for each test.
 */
struct code {
	struct wire_filter_test tests[NODES_MAX];
	unsigned first;
};

/* Generate a node. @yes, @no: where to continue if it is true or false. Return: the number of its first test. */
static unsigned filter_codegen_generate(struct code *code, const struct node *node, unsigned yes, unsigned no)
{
	unsigned then = node->negated ? no : yes, otherwise = node->negated ? yes : no;

	if (node->kind == NODE_TEST) {
		struct wire_filter_test *test;

		if (node->test.op & WIRE_FILTER_MORE)
			memcpy(&code->tests[--code->first], &node->more, sizeof(node->more));
		test = &code->tests[--code->first];
		*test = node->test;
		test->then = (uint8_t)then;
		test->otherwise = (uint8_t)otherwise;
		return code->first;
	}
	if (node->kind == NODE_AND)
		return filter_codegen_generate(code, node->left,
					       filter_codegen_generate(code, node->right, then, otherwise),
					       otherwise);
	return filter_codegen_generate(code, node->left, then,
				       filter_codegen_generate(code, node->right, then, otherwise));
}

/* Generate a constant: a test with the same verdict for both results. */
static void generate_constant(struct code *code, bool value)
{
	uint8_t verdict = value ? WIRE_FILTER_YES : WIRE_FILTER_NO;

	code->tests[--code->first] = (struct wire_filter_test){
		.op = WIRE_FILTER_SUBJECT | WIRE_FILTER_32,
		.then = verdict,
		.otherwise = verdict,
	};
}

static uint8_t filter_codegen_relocate(unsigned next, unsigned first)
{
	return (uint8_t)(next >= WIRE_FILTER_NO ? next : next - first);
}

/* Append the test's text to the program, at *@at. Return: false: there is no room. */
static bool write_text(char *program, size_t *at, struct wire_filter_test *test, const char *strings)
{
	unsigned op = test->op % WIRE_FILTER_WALK;

	if ((op != WIRE_FILTER_TEXT && op != WIRE_FILTER_GLOB) || filter_more(test))
		return true;
	if (test->span > WIRE_FILTER_MAX - *at)
		return false;
	memcpy(program + *at, strings + test->low, test->span);
	test->low = *at;
	*at += test->span;
	return true;
}

bool filter_codegen(const struct node *root, const char *strings, uint64_t types, struct wire_filter *out,
		    size_t room)
{
	_Alignas(struct wire_filter) char program[WIRE_FILTER_MAX] = "";
	struct wire_filter *filter = (struct wire_filter *)program;
	struct code code = { .first = NODES_MAX };
	unsigned count;
	size_t at;
	bool fixed;

	if (root->kind == NODE_CONSTANT)
		generate_constant(&code, !root->negated);
	else
		filter_codegen_generate(&code, root, WIRE_FILTER_YES, WIRE_FILTER_NO);
	count = NODES_MAX - code.first;
	if (count > WIRE_FILTER_TESTS_MAX)
		return false;
	at = sizeof(*filter) + count * sizeof(filter->test[0]);
	memcpy(filter->test, &code.tests[code.first], count * sizeof(filter->test[0]));
	for (unsigned n = 0; n < count; n += filter_step(&filter->test[n])) {
		struct wire_filter_test *test = &filter->test[n];

		test->then = filter_codegen_relocate(test->then, code.first);
		test->otherwise = filter_codegen_relocate(test->otherwise, code.first);
		if (!write_text(program, &at, test, strings))
			return false;
	}
	/* The bytes in between are zero, as they belong to the checksum. */
	at = (at + WIRE_FILTER_ALIGN - 1) / WIRE_FILTER_ALIGN * WIRE_FILTER_ALIGN;
	if (at > room)
		return false;
	filter->bytes = (uint16_t)at;
	filter->tests = (uint16_t)count;
	filter->types = types;
	filter->prefix = (uint16_t)filter_offset(types, WIRE_ARGS_MAX, &fixed);
	filter->checksum = filter_checksum(filter, at);
	memcpy(out, program, at);
	return true;
}
