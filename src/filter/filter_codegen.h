/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Generating a program (wire/wire_filter.h) from a tree of tests. */
#ifndef BURIN_FILTER_FILTER_CODEGEN_H
#define BURIN_FILTER_FILTER_CODEGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire_filter.h"

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
	struct wire_filter_test test; /* of a string: `low` is its offset in the strings */
	struct wire_filter_more more; /* if test.op has WIRE_FILTER_MORE */
};

/*
 * filter_codegen - generate the program of a tree.
 * @root: of at most NODES_MAX nodes; only the root may be a constant
 * @strings: texts of the tests
 * @out: 8-aligned, of @room bytes
 * Return: false: the program is too long.
 */
bool filter_codegen(const struct node *root, const char *strings, uint64_t types, struct wire_filter *out,
		    size_t room);

#endif
