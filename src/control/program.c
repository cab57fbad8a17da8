/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tests are laid down from the last to the first: when one is, the tests that it may lead to have their places
 * already.
 */
#include "control/program.h"

#include <string.h>

#include "session/filter.h"
#include "wire/event.h"

/* Tests, laid down from the end of an array to its beginning. */
struct layout {
	struct wire_filter_test tests[NODES_MAX];
	unsigned first;
};

/* Return: the number of the test at which the node begins, given where to go on if it holds, and if not. */
static unsigned lay(struct layout *layout, const struct node *node, unsigned yes, unsigned no)
{
	unsigned then = node->negated ? no : yes, otherwise = node->negated ? yes : no;

	if (node->kind == NODE_TEST) {
		struct wire_filter_test *test = &layout->tests[--layout->first];

		*test = node->test;
		test->then = (uint8_t)then;
		test->otherwise = (uint8_t)otherwise;
		return layout->first;
	}
	if (node->kind == NODE_AND)
		return lay(layout, node->left, lay(layout, node->right, then, otherwise), otherwise);
	return lay(layout, node->left, then, lay(layout, node->right, then, otherwise));
}

/* A constant as a program: a test that makes no difference. */
static void lay_constant(struct layout *layout, bool value)
{
	uint8_t verdict = value ? WIRE_FILTER_YES : WIRE_FILTER_NO;

	layout->tests[--layout->first] = (struct wire_filter_test){
		.op = WIRE_FILTER_SUBJECT | WIRE_FILTER_32,
		.then = verdict,
		.otherwise = verdict,
	};
}

static uint8_t way(unsigned next, unsigned first)
{
	return (uint8_t)(next >= WIRE_FILTER_NO ? next : next - first);
}

/* A copy of the test's text behind what the program has; *at moves on. */
static bool write_text(char *program, size_t *at, struct wire_filter_test *test, const char *strings)
{
	unsigned op = test->op % WIRE_FILTER_WALK;

	if (op != WIRE_FILTER_TEXT && op != WIRE_FILTER_GLOB)
		return true;
	if (test->span > WIRE_FILTER_MAX - *at)
		return false;
	memcpy(program + *at, strings + test->low, test->span);
	test->low = *at;
	*at += test->span;
	return true;
}

bool program_write(const struct node *root, const char *strings, uint64_t types, struct wire_filter *out,
		   size_t room)
{
	_Alignas(struct wire_filter) char program[WIRE_FILTER_MAX] = "";
	struct wire_filter *filter = (struct wire_filter *)program;
	struct layout layout = { .first = NODES_MAX };
	unsigned count;
	size_t at;
	bool fixed;

	if (root->kind == NODE_CONSTANT)
		lay_constant(&layout, !root->negated);
	else
		lay(&layout, root, WIRE_FILTER_YES, WIRE_FILTER_NO);
	count = NODES_MAX - layout.first;
	if (count > WIRE_FILTER_TESTS_MAX)
		return false;
	at = sizeof(*filter) + count * sizeof(filter->test[0]);
	for (unsigned n = 0; n < count; n++) {
		struct wire_filter_test *test = &filter->test[n];

		*test = layout.tests[layout.first + n];
		test->then = way(test->then, layout.first);
		test->otherwise = way(test->otherwise, layout.first);
		if (!write_text(program, &at, test, strings))
			return false;
	}
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
