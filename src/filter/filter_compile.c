/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The compiler of filter expressions. A recursive descent parser makes a tree of tests:
 *
 *	or		and { "||" and }
 *	and		unary { "&&" unary }
 *	unary		"!" unary | "(" or ")" | comparison
 *	comparison	operand [ OPERATOR operand ]
 *
 * Behind "!" without parentheses an operand is alone. Each comparison of a number is one test for a range of
 * its type (filter_range.c), so all operators are one. A != is a negated test; a constant on the left is
 * mirrored. Conditions that are always true or always false, such as `u8 > 300`, are removed at once, so only
 * the root can be a constant.
 *
 * Errors. The first one is in ->fault, with its place in the expression, and every function returns NULL or
 * false up to the top. ->error is -EINVAL until another reason is known.
 *
 * The expression may be hostile and comes into traced programs. Nesting is limited (DEPTH_MAX), nodes and
 * strings have fixed room in one mapping, and there is no malloc. A name that a format gives to a field hides
 * a built-in one.
 *
 * filter_check() parses without an event: a field is WIRE_END, fits all, and its tests are never run.
 */
#include "filter/filter_compile.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "filter/filter_codegen.h"
#include "filter/filter_range.h"
#include "filter/filter_lexer.h"
#include "filter/filter.h"
#include "wire/wire_enum.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

enum {
	DEPTH_MAX = 32, /* of parentheses and ! */
	TYPO_MAX = 2,	/* a suggested name differs in at most so many letters */
};

enum operand_kind {
	OPERAND_FIELD,
	OPERAND_NUMBER,
	OPERAND_STRING,
	OPERAND_NULL,
};

struct operand {
	enum operand_kind kind;
	size_t offset, bytes; /* in the expression */
	unsigned type;	      /* of a field; of an array: of its elements */
	bool is_array;	      /* the test is about any element */
	const char *labels;   /* of a field: the names of its values (wire/wire_enum.h); NULL: it has none */
	struct wire_filter_test test; /* of a field: op, offset, arg */
	long double number;
	size_t string, string_bytes; /* in parser.strings, with NUL */
};

struct parser {
	const char *text;
	const char *format_text, *enums;
	struct format format;
	uint64_t types;
	struct token token;
	struct filter_error *fault;
	int error;
	bool any_field; /* no event is known: each name is a field, and fits */
	unsigned depth, node_count;
	size_t string_bytes;
	struct node nodes[NODES_MAX];
	char strings[WIRE_FILTER_MAX];
};

static struct node *parse_or(struct parser *parser);

static bool too_long(struct parser *parser)
{
	parser->error = -E2BIG;
	return filter_error_set(parser->fault, 0, strlen(parser->text),
				"this filter is too long: 24 bytes, 24 for each comparison, and the strings; "
				"at most %d bytes",
				WIRE_FILTER_MAX);
}

static bool filter_compile_advance(struct parser *parser)
{
	return filter_token_next(parser->text, parser->token.offset + parser->token.bytes, &parser->token,
				 parser->fault);
}

static bool blame_token(struct parser *parser, const char *message)
{
	return filter_error_set(parser->fault, parser->token.offset, parser->token.bytes, "%s", message);
}

static struct node *add_node(struct parser *parser, enum node_kind kind)
{
	struct node *node = &parser->nodes[parser->node_count];

	if (parser->node_count == NODES_MAX) {
		too_long(parser);
		return NULL;
	}
	parser->node_count++;
	*node = (struct node){ .kind = kind };
	return node;
}

/* ---- Fields ---- */

static unsigned filter_compile_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The Levenshtein distance: how many letters must be added, removed or replaced. */
static unsigned filter_compile_distance(const char *a, size_t a_bytes, const char *b)
{
	unsigned row[FORMAT_FIELD_NAME_MAX + 1];
	size_t b_bytes = strlen(b);

	for (size_t n = 0; n <= b_bytes; n++)
		row[n] = (unsigned)n;
	for (size_t m = 0; m < a_bytes; m++) {
		unsigned diagonal = row[0]++;

		for (size_t n = 0; n < b_bytes; n++) {
			unsigned replaced = diagonal + (a[m] != b[n]);

			diagonal = row[n + 1];
			row[n + 1] =
				filter_compile_least(replaced, filter_compile_least(row[n], diagonal) + 1);
		}
	}
	return row[b_bytes];
}

static bool blame_name(struct parser *parser)
{
	static const char built_in[][12] = { "pid", "tid", "cpu", "depth", "correlation" };
	const struct token *token = &parser->token;
	const char *word = parser->text + token->offset, *meant = NULL;
	unsigned best = TYPO_MAX + 1;
	char list[256] = "", hint[FORMAT_FIELD_NAME_MAX + 32] = "";
	size_t used = 0;

	for (unsigned n = 0; n < parser->format.count + sizeof(built_in) / sizeof(built_in[0]); n++) {
		const char *name = n < parser->format.count ? parser->format.fields[n].name
							    : built_in[n - parser->format.count];
		unsigned far = token->bytes <= FORMAT_FIELD_NAME_MAX
				       ? filter_compile_distance(word, token->bytes, name)
				       : best;

		if (far < best && far < strlen(name)) {
			best = far;
			meant = name;
		}
		if (n < parser->format.count && used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, n ? ", %s" : "%s", name);
	}
	if (used >= sizeof(list))
		memcpy(list + sizeof(list) - 4, "...", 4);
	if (meant)
		snprintf(hint, sizeof(hint), "; did you mean '%s'?", meant);
	return filter_error_set(parser->fault, token->offset, token->bytes, "there is no field '%.*s'%s%s %s",
				(int)(token->bytes < 40 ? token->bytes : 40), word, hint,
				meant ? " it has:" : "; it has:", *list ? list : "none");
}

/* Find a field by its name or as argN. Return: its number; -1: there is none. */
static int filter_compile_find_field(const struct parser *parser, const char *word, size_t bytes)
{
	const struct format *format = &parser->format;

	for (unsigned n = 0; n < format->count; n++)
		if (strlen(format->fields[n].name) == bytes &&
		    memcmp(format->fields[n].name, word, bytes) == 0)
			return (int)n;
	/* Behind the names: an event may have a field that is called arg2 and is the third. */
	for (unsigned n = 0; n < format->count; n++) {
		char name[8];

		if ((size_t)snprintf(name, sizeof(name), "arg%u", n + 1) == bytes &&
		    memcmp(name, word, bytes) == 0)
			return (int)n;
	}
	return -1;
}

static const char *find_labels(const struct parser *parser, const struct format_field *field)
{
	const char *name = parser->format_text + field->spec + field->spec_bytes + 1;

	return field->enum_bytes ? wire_enum_find(parser->enums, name, field->enum_bytes - 2u) : NULL;
}

static void set_array(const struct parser *parser, struct operand *operand, unsigned arg, bool count)
{
	const struct format_field *field = &parser->format.fields[arg];

	operand->kind = OPERAND_FIELD;
	operand->is_array = !count;
	operand->type = count ? WIRE_U16 : field->type == WIRE_ARRAY ? field->element : WIRE_U8;
	operand->labels = count ? NULL : find_labels(parser, field);
	operand->test = (struct wire_filter_test){
		.op = (uint8_t)(filter_op(operand->type) | (count ? WIRE_FILTER_COUNT : WIRE_FILTER_ANY)),
		.arg = (uint8_t)arg,
	};
}

static void set_field(const struct parser *parser, struct operand *operand, unsigned arg)
{
	bool fixed;
	unsigned offset = filter_offset(parser->types, arg, &fixed);

	operand->kind = OPERAND_FIELD;
	operand->type = parser->format.fields[arg].type;
	operand->labels = find_labels(parser, &parser->format.fields[arg]);
	operand->test = (struct wire_filter_test){
		.op = (uint8_t)(filter_op(operand->type) | (fixed ? WIRE_FILTER_FIXED : WIRE_FILTER_WALK)),
		.arg = (uint8_t)arg,
		.offset = (uint16_t)(fixed ? offset : 0),
	};
}

static void set_subject(struct operand *operand, size_t offset)
{
	const bool wide = offset == offsetof(struct filter_subject, correlation);

	operand->kind = OPERAND_FIELD;
	operand->type = wide ? WIRE_U64 : WIRE_U32;
	operand->test = (struct wire_filter_test){
		.op = WIRE_FILTER_SUBJECT | (wide ? WIRE_FILTER_64 : WIRE_FILTER_32),
		.offset = (uint16_t)offset,
	};
}

static bool set_word(struct parser *parser, struct operand *operand)
{
	static const struct {
		char word[12]; /* not a pointer, which would have to be relocated at the start */
		enum operand_kind kind;
		unsigned value; /* a number; of a field: its offset in the subject */
	} words[] = {
		{ "pid", OPERAND_FIELD, offsetof(struct filter_subject, pid) },
		{ "tid", OPERAND_FIELD, offsetof(struct filter_subject, tid) },
		{ "cpu", OPERAND_FIELD, offsetof(struct filter_subject, cpu) },
		{ "depth", OPERAND_FIELD, offsetof(struct filter_subject, depth) },
		{ "correlation", OPERAND_FIELD, offsetof(struct filter_subject, correlation) },
		{ "true", OPERAND_NUMBER, 1 },
		{ "false", OPERAND_NUMBER, 0 },
		{ "NULL", OPERAND_NULL, 0 },
		{ "null", OPERAND_NULL, 0 },
	};
	const char *word = parser->text + operand->offset;
	const size_t suffix = strlen(FILTER_COUNT);
	const bool count =
		operand->bytes > suffix && memcmp(word + operand->bytes - suffix, FILTER_COUNT, suffix) == 0;
	int field = filter_compile_find_field(parser, word, operand->bytes - (count ? suffix : 0));

	if (field >= 0) {
		const unsigned type = parser->format.fields[field].type;
		const bool is_array = type == WIRE_ARRAY || type == WIRE_BYTES;

		if (count && !is_array)
			return filter_error_set(parser->fault, operand->offset, operand->bytes,
						"this is not an array: only arrays have a count");
		if (is_array)
			set_array(parser, operand, (unsigned)field, count);
		else
			set_field(parser, operand, (unsigned)field);
		return true;
	}
	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
		if (strlen(words[n].word) != operand->bytes ||
		    memcmp(words[n].word, word, operand->bytes) != 0)
			continue;
		operand->kind = words[n].kind;
		operand->number = words[n].value;
		if (operand->kind == OPERAND_FIELD)
			set_subject(operand, words[n].value);
		return true;
	}
	if (!parser->any_field)
		return blame_name(parser);
	operand->kind = OPERAND_FIELD;
	operand->type = WIRE_END;
	return true;
}

/* ---- Comparisons ---- */

static bool filter_compile_keep_string(struct parser *parser, struct operand *operand, const char *string,
				       size_t bytes)
{
	if (bytes >= sizeof(parser->strings) - parser->string_bytes)
		return too_long(parser);
	operand->string = parser->string_bytes;
	operand->string_bytes = bytes + 1;
	memcpy(parser->strings + parser->string_bytes, string, bytes);
	parser->strings[parser->string_bytes + bytes] = '\0';
	parser->string_bytes += bytes + 1;
	return true;
}

static bool parse_operand(struct parser *parser, struct operand *operand)
{
	const struct token *token = &parser->token;

	*operand = (struct operand){ .offset = token->offset, .bytes = token->bytes };
	switch (token->kind) {
	case TOKEN_WORD:
		return set_word(parser, operand) && filter_compile_advance(parser);
	case TOKEN_NUMBER:
		operand->kind = OPERAND_NUMBER;
		operand->number = token->number;
		return filter_compile_advance(parser);
	case TOKEN_STRING:
		operand->kind = OPERAND_STRING;
		return filter_compile_keep_string(parser, operand, token->string, token->string_bytes) &&
		       filter_compile_advance(parser);
	case TOKEN_END:
		return blame_token(parser,
				   "the expression ends here; expected a field, a number or a string");
	default:
		return blame_token(parser, "expected a field, a number or a string here");
	}
}

static bool blame_operand(struct parser *parser, const struct operand *marked, const struct operand *field,
			  const char *message)
{
	return filter_error_set(parser->fault, marked->offset, marked->bytes, "%.*s %s", (int)field->bytes,
				parser->text + field->offset, message);
}

static bool compare_string(struct parser *parser, struct node *node, const struct operand *field,
			   struct operand *constant)
{
	if (constant->kind == OPERAND_NUMBER)
		return blame_operand(parser, constant, field,
				     "is a string: compare it with a string between two \"");
	if (constant->kind == OPERAND_NULL &&
	    !filter_compile_keep_string(parser, constant, WIRE_NULL, sizeof(WIRE_NULL) - 1))
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
		return blame_operand(parser, constant, field, "has names: compare them with == or !=");
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
		return blame_operand(parser, constant, field,
				     field->type == WIRE_CHAR
					     ? "is a character: compare it with one between two '"
					     : "is a number: compare it with a number");
	if (constant->kind == OPERAND_NULL && field->type != WIRE_PTR)
		return blame_operand(parser, constant, field,
				     "is a number: only strings and pointers can be NULL");
	range = range_of(field->type, comparison, constant->number);
	node->test = field->test;
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
		blame_operand(parser, operand, operand, "is an array: compare its elements or its count");
		return NULL;
	}
	if (operand->type == WIRE_STR) {
		blame_operand(parser, operand, operand, "is a string: compare it with == or !=");
		return NULL;
	}
	return filter_compile_compare(parser, operand, COMPARE_NE, &parser->token, &zero);
}

static struct node *parse_comparison(struct parser *parser)
{
	static const enum comparison mirrored[] = { COMPARE_EQ, COMPARE_NE, COMPARE_GT,
						    COMPARE_GE, COMPARE_LT, COMPARE_LE };
	struct operand left, right;
	struct token operator;
	struct node *node;

	if (!parse_operand(parser, &left))
		return NULL;
	if (parser->token.kind != TOKEN_COMPARISON)
		return parse_bare(parser, &left);
	operator= parser->token;
	if (!filter_compile_advance(parser) || !parse_operand(parser, &right))
		return NULL;
	if ((left.kind == OPERAND_FIELD) == (right.kind == OPERAND_FIELD)) {
		filter_error_set(parser->fault, left.offset, right.offset + right.bytes - left.offset,
				 left.kind == OPERAND_FIELD
					 ? "two fields: compare a field with a constant"
					 : "two constants: compare a field with a constant");
		return NULL;
	}
	if (left.kind == OPERAND_FIELD)
		node = filter_compile_compare(parser, &left, operator.comparison, &operator, & right);
	else
		node = filter_compile_compare(parser, &right, mirrored[operator.comparison], &operator, &left);
	if (node && parser->token.kind == TOKEN_COMPARISON) {
		blame_token(parser, "comparisons cannot be chained: write a < b && b < c");
		return NULL;
	}
	return node;
}

/* ---- Conditions ---- */

static struct node *parse_parentheses(struct parser *parser)
{
	size_t open = parser->token.offset;
	struct node *node;

	if (!filter_compile_advance(parser))
		return NULL;
	node = parse_or(parser);
	if (!node)
		return NULL;
	if (parser->token.kind == TOKEN_END) {
		filter_error_set(parser->fault, open, 1, "this ( is not closed");
		return NULL;
	}
	if (parser->token.kind != TOKEN_CLOSE) {
		blame_token(parser, "expected &&, || or ) before this");
		return NULL;
	}
	if (!filter_compile_advance(parser))
		return NULL;
	if (parser->token.kind == TOKEN_COMPARISON) {
		blame_token(parser, "a condition in parentheses cannot be compared");
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

	if (!filter_compile_advance(parser))
		return NULL;
	bare = parser->token.kind != TOKEN_NOT && parser->token.kind != TOKEN_OPEN;
	if (!bare) {
		node = parse_unary(parser);
	} else {
		if (!parse_operand(parser, &operand))
			return NULL;
		if (parser->token.kind == TOKEN_COMPARISON) {
			blame_token(parser, "! before a comparison: put the comparison in parentheses");
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
	struct node *node;

	if (parser->token.kind != TOKEN_NOT && parser->token.kind != TOKEN_OPEN)
		return parse_comparison(parser);
	if (parser->depth == DEPTH_MAX) {
		parser->error = -E2BIG;
		filter_error_set(parser->fault, parser->token.offset, parser->token.bytes,
				 "more than %d nested parentheses and !", DEPTH_MAX);
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
		right = filter_compile_advance(parser) ? parse_unary(parser) : NULL;
		node = right ? filter_compile_join(parser, NODE_AND, node, right) : NULL;
	}
	return node;
}

static struct node *parse_or(struct parser *parser)
{
	struct node *node = parse_and(parser), *right;

	while (node && parser->token.kind == TOKEN_OR) {
		right = filter_compile_advance(parser) ? parse_and(parser) : NULL;
		node = right ? filter_compile_join(parser, NODE_OR, node, right) : NULL;
	}
	return node;
}

static struct node *filter_compile_parse(struct parser *parser)
{
	struct node *node = filter_compile_advance(parser) ? parse_or(parser) : NULL;

	if (!node || parser->token.kind == TOKEN_END)
		return node;
	blame_token(parser, parser->token.kind == TOKEN_CLOSE ? "there is no ( for this )"
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
	too_long(parser);
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
