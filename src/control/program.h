/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tree of tests becomes a program (wire/filter.h). */
#ifndef BURIN_CONTROL_PROGRAM_H
#define BURIN_CONTROL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/filter.h"

enum {
	NODES_MAX = 128, /* of a tree */
};

enum node_kind {
	NODE_CONSTANT, /* true, unless negated */
	NODE_TEST,
	NODE_AND,
	NODE_OR,
};

struct node {
	enum node_kind kind;
	bool negated;
	const struct node *left, *right;
	struct wire_filter_test test; /* of a string: low counts from the strings' beginning */
};

/*
 * program_write - lay a tree down.
 * @root: of at most NODES_MAX nodes; a constant stands at the root only
 * @strings: those of the tests
 * @out: 8-aligned, of @room bytes
 * Return: false: it is too long.
 */
bool program_write(const struct node *root, const char *strings, uint64_t types, struct wire_filter *out,
		   size_t room);

#endif
