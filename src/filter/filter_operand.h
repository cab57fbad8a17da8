/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parser of filter expressions, and the operands that it finds: fields, facts and constants. */
#ifndef BURIN_FILTER_FILTER_OPERAND_H
#define BURIN_FILTER_FILTER_OPERAND_H

#include "filter/filter_codegen.h"
#include "filter/filter_lexer.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

enum {
	FILTER_DEPTH_MAX = 32, /* of parentheses and ! */
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
	struct wire_filter_test test;	/* of a field: op, offset, arg */
	enum wire_filter_change change; /* & or % behind the field; then `type` is that of the result */
	uint64_t by;
	bool has_sign; /* of a field that is an integer, before the change */
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

/* filter_too_long - blame the whole expression. Return: false, as all that report an error. */
bool filter_too_long(struct parser *parser);

/* filter_advance - go to the next token. */
bool filter_advance(struct parser *parser);

/* filter_blame_token - blame the present token. */
bool filter_blame_token(struct parser *parser, const char *message);

/* filter_blame_operand - blame @marked by a message that begins with the text of @field. */
bool filter_blame_operand(struct parser *parser, const struct operand *marked, const struct operand *field,
			  const char *message);

/* filter_keep_string - make a string part of the program. */
bool filter_keep_string(struct parser *parser, struct operand *operand, const char *string, size_t bytes);

/* filter_operand - read a constant, or a field or fact with or without & or %; parentheses may be around it. */
bool filter_operand(struct parser *parser, struct operand *operand);

static inline bool filter_type_has_sign(unsigned type)
{
	return (type >= WIRE_I8 && type <= WIRE_I64) || type == WIRE_CHAR;
}

static inline bool filter_type_is_float(unsigned type)
{
	return type == WIRE_F32 || type == WIRE_F64;
}

#endif
