/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The compiler of filter expressions. A recursive descent parser makes a tree of tests:
 *
 *	or		and { "||" and }
 *	and		unary { "&&" unary }
 *	unary		"!" unary | "(" or ")" | comparison
 *	comparison	operand [ OPERATOR operand ]
 *	operand		"(" operand ")" | FIELD [ ( "&" | "%" ) NUMBER ] | CONSTANT
 *
 * A parenthesis may begin a condition or an operand: it is an operand if a comparison follows, so that is tried first. Behind "!"
 * without parentheses an operand is alone. Each comparison of a number is one test for a range of
 * its type (filter_range.c), so all operators are one. A != is a negated test; a constant on the left is
 * mirrored. Conditions that are always true or always false, such as `u8 > 300`, are removed at once, so only
 * the root can be a constant.
 *
 * Errors. The first one is in ->fault, with its place in the expression, and every function returns NULL or
 * false up to the top. ->error is -EINVAL until another reason is known.
 *
 * The expression may be hostile and comes into traced programs. Nesting is limited (FILTER_DEPTH_MAX), nodes and
 * strings have fixed room in one mapping, and there is no malloc.
 *
 * filter_check() parses without an event: a field is WIRE_END, fits all, and its tests are never run.
 */
#include "filter/filter_compile.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "filter/filter_operand.h"
#include "filter/filter_range.h"
#include "wire/wire_enum.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

static struct node *parse_or(struct parser *parser);

static struct node *add_node(struct parser *parser, enum node_kind kind)
{
	struct node *node = &parser->nodes[parser->node_count];

	if (parser->node_count == NODES_MAX) {
		filter_too_long(parser);
		return NULL;
	}
	parser->node_count++;
	*node = (struct node){ .kind = kind };
	return node;
}

/* ---- Comparisons ---- */

static void filter_compile_set(struct node *node, const struct operand *field)
{
	node->test = field->test;
	node->more = (struct wire_filter_more){
		.change = (uint8_t)field->change,
		.has_sign = field->change && field->has_sign,
		.by = field->by,
	};
}

static bool compare_string(struct parser *parser, struct node *node, const struct operand *field,
			   struct operand *constant)
{
	if (constant->kind == OPERAND_NUMBER)
		return filter_blame_operand(parser, constant, field,
					    "is a string: compare it with a string between two \"");
	if (constant->kind == OPERAND_NULL &&
	    !filter_keep_string(parser, constant, WIRE_NULL, sizeof(WIRE_NULL) - 1))
		return false;
	node->test = field->test;
	node->test.low = constant->string;
	node->test.span = constant->string_bytes;
	if (strpbrk(parser->strings + constant->string, "*?["))
		node->test.op += WIRE_FILTER_GLOB - WIRE_FILTER_TEXT;
	return true;
}

static bool blame_label(struct parser *parser, const struct operand *field, const struct operand *constant)
{
	const char *at = field->labels;
	struct wire_label label;
	char list[256] = "";
	size_t used = 0;

	while (wire_enum_next(&at, &label) && used < sizeof(list))
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.*s", used ? ", " : "",
					 (int)label.bytes, label.text);
	if (used >= sizeof(list))
		memcpy(list + sizeof(list) - 4, "...", 4);
	return filter_error_set(parser->fault, constant->offset, constant->bytes,
				"%.*s has no value of this name; it has: %s", (int)field->bytes,
				parser->text + field->offset, *list ? list : "none");
}

/* The name of a value becomes the value. */
static bool resolve_label(struct parser *parser, const struct operand *field, enum comparison comparison,
			  struct operand *constant)
{
	const char *at = field->labels, *name = parser->strings + constant->string;
	struct wire_label label;

	if (comparison != COMPARE_EQ)
		return filter_blame_operand(parser, constant, field, "has names: compare them with == or !=");
	while (wire_enum_next(&at, &label)) {
		if (label.bytes + 1 != constant->string_bytes || memcmp(label.text, name, label.bytes) != 0)
			continue;
		constant->kind = OPERAND_NUMBER;
		constant->number = label.value;
		return true;
	}
	return blame_label(parser, field, constant);
}

static bool compare_number(struct parser *parser, struct node *node, const struct operand *field,
			   enum comparison comparison, struct operand *constant)
{
	struct range range;

	if (constant->kind == OPERAND_STRING && field->labels &&
	    !resolve_label(parser, field, comparison, constant))
		return false;

	if (constant->kind == OPERAND_STRING)
		return filter_blame_operand(parser, constant, field,
					    field->type == WIRE_CHAR
						    ? "is a character: compare it with one between two '"
						    : "is a number: compare it with a number");
	if (constant->kind == OPERAND_NULL && field->type != WIRE_PTR)
		return filter_blame_operand(parser, constant, field,
					    "is a number: only strings and pointers can be NULL");
	range = range_of(field->type, comparison, constant->number);
	filter_compile_set(node, field);
	node->test.low = range.low;
	node->test.span = range.span;
	if (range.kind == RANGE_ALWAYS && field->is_array) {
		/* Any element: the array may be empty. */
		range.kind = RANGE_TEST;
		node->test.low = 0;
		node->test.span = UINT64_MAX;
	}
	if (range.kind == RANGE_TEST)
		return true;
	node->kind = NODE_CONSTANT;
	node->negated ^= range.kind == RANGE_NEVER;
	return true;
}

static struct node *filter_compile_compare(struct parser *parser, const struct operand *field,
					   enum comparison comparison, const struct token *operator,
					   struct operand * constant)
{
	struct node *node = add_node(parser, NODE_TEST);
	bool done;

	if (!node || field->type == WIRE_END)
		return node;
	if (comparison == COMPARE_NE) {
		node->negated = true;
		comparison = COMPARE_EQ;
	}
	if (field->type == WIRE_STR && comparison != COMPARE_EQ) {
		done = filter_error_set(parser->fault, operator->offset, operator->bytes,
					"%.*s is a string: compare it with == or !=", (int)field->bytes,
					parser->text + field->offset);
	} else if (field->type == WIRE_STR) {
		done = compare_string(parser, node, field, constant);
	} else {
		done = compare_number(parser, node, field, comparison, constant);
	}
	return done ? node : NULL;
}

/* A field alone is true if it is not 0. */
static struct node *parse_bare(struct parser *parser, const struct operand *operand)
{
	struct operand zero = { .kind = OPERAND_NUMBER };

	if (operand->kind != OPERAND_FIELD) {
		filter_error_set(parser->fault, operand->offset, operand->bytes,
				 "a constant alone is not a condition: compare a field with it");
		return NULL;
	}
	if (operand->is_array) {
		filter_blame_operand(parser, operand, operand,
				     "is an array: compare its elements or its count");
		return NULL;
	}
	if (operand->type == WIRE_STR) {
		filter_blame_operand(parser, operand, operand, "is a string: compare it with == or !=");
		return NULL;
	}
	return filter_compile_compare(parser, operand, COMPARE_NE, &parser->token, &zero);
}

static const enum comparison mirrored[] = { COMPARE_EQ, COMPARE_NE, COMPARE_GT,
					    COMPARE_GE, COMPARE_LT, COMPARE_LE };

/* The kind of values that can be compared with each other. */
static const char *kind_of(unsigned type)
{
	return type == WIRE_STR		    ? "a string"
	       : filter_type_is_float(type) ? "a floating-point number"
					    : "an integer";
}

/* Whether two fields can be compared. */
static bool is_pair(struct parser *parser, const struct operand *one, const struct operand *other,
		    const struct token *operator)
{
	const size_t begin = one->offset < other->offset ? one->offset : other->offset,
		     end = one->offset < other->offset ? other->offset + other->bytes
						       : one->offset + one->bytes;
	const char *kind = kind_of(one->type), *other_kind = kind_of(other->type);

	if (kind != other_kind)
		return filter_error_set(parser->fault, begin, end - begin, "%.*s is %s, and %.*s %s",
					(int)one->bytes, parser->text + one->offset, kind, (int)other->bytes,
					parser->text + other->offset, other_kind);
	if (other->is_array || (one->is_array && other->change))
		return filter_error_set(
			parser->fault, begin, end - begin,
			"an array is compared with one value, not with another array or a value "
			"that has & or %%");
	if (other->change)
		return filter_error_set(parser->fault, begin, end - begin,
					"of two fields only one can have & or %%");
	if (one->type == WIRE_STR && operator->comparison != COMPARE_EQ && operator->comparison != COMPARE_NE)
		return filter_error_set(parser->fault, operator->offset, operator->bytes,
					"strings are compared with == or !=");
	return true;
}

static struct node *compare_fields(struct parser *parser, const struct operand *one,
				   const struct operand *other, const struct token *operator)
{
	static const uint8_t relations[] = {
		[COMPARE_EQ] = WIRE_FILTER_EQUAL,   [COMPARE_NE] = WIRE_FILTER_EQUAL,
		[COMPARE_LT] = WIRE_FILTER_LESS,    [COMPARE_LE] = WIRE_FILTER_LESS_EQUAL,
		[COMPARE_GT] = WIRE_FILTER_GREATER, [COMPARE_GE] = WIRE_FILTER_GREATER_EQUAL,
	};
	const bool swaps = !one->is_array && (other->is_array || other->change);
	const enum comparison comparison = swaps ? mirrored[operator->comparison] : operator->comparison;
	const struct operand *first = swaps ? other : one, *second = swaps ? one : other;
	struct node *node = add_node(parser, NODE_TEST);

	if (!node || one->type == WIRE_END || other->type == WIRE_END)
		return node;
	if (!is_pair(parser, first, second, operator))
		return NULL;
	filter_compile_set(node, first);
	node->negated = comparison == COMPARE_NE;
	node->test.op |= WIRE_FILTER_MORE;
	node->more.op = second->test.op;
	node->more.arg = second->test.arg;
	node->more.offset = second->test.offset;
	node->more.relation = relations[comparison];
	if (!first->change)
		node->more.has_sign = filter_type_has_sign(first->type);
	node->more.other_has_sign = filter_type_has_sign(second->type);
	return node;
}

/* A comparison whose left operand has been read, with the operator as the present token. */
static struct node *parse_right(struct parser *parser, const struct operand *left)
{
	const struct token operator= { .kind = TOKEN_COMPARISON,
				       .comparison = parser->token.comparison,
				       .offset = parser->token.offset,
				       .bytes = parser->token.bytes };
	struct operand right, constant;
	struct node *node;

	if (!filter_advance(parser) || !filter_operand(parser, &right))
		return NULL;
	constant = left->kind == OPERAND_FIELD ? right : *left;
	if (left->kind != OPERAND_FIELD && right.kind != OPERAND_FIELD) {
		filter_error_set(parser->fault, left->offset, right.offset + right.bytes - left->offset,
				 "two constants: compare a field with a constant");
		return NULL;
	}
	if (left->kind == right.kind)
		node = compare_fields(parser, left, &right, &operator);
	else if (left->kind == OPERAND_FIELD)
		node = filter_compile_compare(parser, left, operator.comparison, &operator, & constant);
	else
		node = filter_compile_compare(parser, &right, mirrored[operator.comparison], &operator, &constant);
	if (node && parser->token.kind == TOKEN_COMPARISON) {
		filter_blame_token(parser, "comparisons cannot be chained: write a < b && b < c");
		return NULL;
	}
	return node;
}

static struct node *parse_comparison(struct parser *parser)
{
	struct operand left;

	if (!filter_operand(parser, &left))
		return NULL;
	return parser->token.kind == TOKEN_COMPARISON ? parse_right(parser, &left)
						      : parse_bare(parser, &left);
}

/* Read an operand in parentheses before a comparison. Return: false, and nothing is read: it is something else. */
static bool parse_left(struct parser *parser, struct operand *left)
{
	const size_t begin = parser->token.offset, string_bytes = parser->string_bytes;

	if (filter_operand(parser, left) && parser->token.kind == TOKEN_COMPARISON)
		return true;
	parser->string_bytes = string_bytes;
	filter_token_next(parser->text, begin, &parser->token, parser->fault);
	return false;
}

/* ---- Conditions ---- */

static struct node *parse_parentheses(struct parser *parser)
{
	size_t open = parser->token.offset;
	struct node *node;

	if (!filter_advance(parser))
		return NULL;
	node = parse_or(parser);
	if (!node)
		return NULL;
	if (parser->token.kind == TOKEN_END) {
		filter_error_set(parser->fault, open, 1, "this ( is not closed");
		return NULL;
	}
	if (parser->token.kind != TOKEN_CLOSE) {
		filter_blame_token(parser, "expected &&, || or ) before this");
		return NULL;
	}
	if (!filter_advance(parser))
		return NULL;
	if (parser->token.kind == TOKEN_COMPARISON) {
		filter_blame_token(parser, "a condition in parentheses cannot be compared");
		return NULL;
	}
	return node;
}

static struct node *parse_unary(struct parser *parser);

static struct node *parse_not(struct parser *parser)
{
	bool bare;
	struct operand operand;
	struct node *node;

	if (!filter_advance(parser))
		return NULL;
	bare = parser->token.kind != TOKEN_NOT && parser->token.kind != TOKEN_OPEN;
	if (!bare) {
		/* Of `!(flags & 3) == 1` the parentheses belong to the `!`, and are refused before the comparison. */
		node = parser->token.kind == TOKEN_NOT ? parse_unary(parser) : parse_parentheses(parser);
	} else {
		if (!filter_operand(parser, &operand))
			return NULL;
		if (parser->token.kind == TOKEN_COMPARISON) {
			filter_blame_token(parser,
					   "! before a comparison: put the comparison in parentheses");
			return NULL;
		}
		if (operand.change) {
			filter_error_set(parser->fault, operand.offset, operand.bytes,
					 "! before & or %%: put the operand in parentheses");
			return NULL;
		}
		node = parse_bare(parser, &operand);
	}
	if (node)
		node->negated = !node->negated;
	return node;
}

static struct node *parse_unary(struct parser *parser)
{
	struct operand left;
	struct node *node;

	if (parser->token.kind == TOKEN_OPEN && parse_left(parser, &left))
		return parse_right(parser, &left);
	if (parser->token.kind != TOKEN_NOT && parser->token.kind != TOKEN_OPEN)
		return parse_comparison(parser);
	if (parser->depth == FILTER_DEPTH_MAX) {
		parser->error = -E2BIG;
		filter_error_set(parser->fault, parser->token.offset, parser->token.bytes,
				 "more than %d nested parentheses and !", FILTER_DEPTH_MAX);
		return NULL;
	}
	parser->depth++;
	node = parser->token.kind == TOKEN_NOT ? parse_not(parser) : parse_parentheses(parser);
	parser->depth--;
	return node;
}

/*
 * Join two conditions. If one is constant, the result is that constant (false in `and`, true in `or`) or the other
 * condition.
 */
static struct node *filter_compile_join(struct parser *parser, enum node_kind kind, struct node *left,
					struct node *right)
{
	struct node *constant = left->kind == NODE_CONSTANT ? left : right;
	struct node *other = constant == left ? right : left, *node;

	/* A constant is true unless it is negated. */
	if (constant->kind == NODE_CONSTANT)
		return constant->negated == (kind == NODE_AND) ? constant : other;
	node = add_node(parser, kind);
	if (node) {
		node->left = left;
		node->right = right;
	}
	return node;
}

static struct node *parse_and(struct parser *parser)
{
	struct node *node = parse_unary(parser), *right;

	while (node && parser->token.kind == TOKEN_AND) {
		right = filter_advance(parser) ? parse_unary(parser) : NULL;
		node = right ? filter_compile_join(parser, NODE_AND, node, right) : NULL;
	}
	return node;
}

static struct node *parse_or(struct parser *parser)
{
	struct node *node = parse_and(parser), *right;

	while (node && parser->token.kind == TOKEN_OR) {
		right = filter_advance(parser) ? parse_and(parser) : NULL;
		node = right ? filter_compile_join(parser, NODE_OR, node, right) : NULL;
	}
	return node;
}

static struct node *filter_compile_parse(struct parser *parser)
{
	struct node *node = filter_advance(parser) ? parse_or(parser) : NULL;

	if (!node || parser->token.kind == TOKEN_END)
		return node;
	filter_blame_token(parser, parser->token.kind == TOKEN_CLOSE ? "there is no ( for this )"
								     : "expected && or || before this");
	return NULL;
}

/* A mapping, since the stack of a traced program would keep its size. Return: NULL: no memory. */
static struct parser *parser_begin(const char *text, struct filter_error *fault)
{
	struct parser *parser =
		mmap(NULL, sizeof(*parser), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (parser == MAP_FAILED) {
		filter_error_set(fault, 0, 0, "out of memory");
		return NULL;
	}
	parser->text = text;
	parser->fault = fault;
	parser->error = -EINVAL;
	return parser;
}

/* Return: the error. */
static int parser_end(struct parser *parser)
{
	const int error = parser->error;

	munmap(parser, sizeof(*parser));
	return error;
}

static int filter_compile_parsed(struct parser *parser, struct wire_filter *out, size_t room)
{
	const char *why;
	const struct node *node;

	if (format_parse(parser->format_text, parser->types, &parser->format, &why) < 0) {
		filter_error_set(parser->fault, 0, 0, "the event's format is not valid: %s", why);
		return -EINVAL;
	}
	node = filter_compile_parse(parser);
	if (!node)
		return parser->error;
	if (filter_codegen(node, parser->strings, parser->types, out, room))
		return 0;
	filter_too_long(parser);
	return parser->error;
}

int filter_compile(const char *text, const char *format, const char *enums, uint64_t types,
		   struct wire_filter *out, size_t room, struct filter_error *fault)
{
	struct parser *parser = parser_begin(text, fault);

	if (!parser)
		return -ENOMEM;
	parser->format_text = format;
	parser->enums = enums;
	parser->types = types;
	parser->error = filter_compile_parsed(parser, out, room);
	return parser_end(parser);
}

int filter_check(const char *text, struct filter_error *fault)
{
	struct parser *parser = parser_begin(text, fault);

	if (!parser)
		return -ENOMEM;
	parser->any_field = true;
	if (filter_compile_parse(parser))
		parser->error = 0;
	return parser_end(parser);
}
