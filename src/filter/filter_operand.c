/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Operands of filter expressions; see filter_operand.h.
 *
 * A name that a format gives to a field hides the fact of the same name; with a $ in front a word is a fact only. & and % bind more
 * tightly than comparisons, so that `flags & 3 == 2` is what it looks like, and not what C makes of it. There is one of them for an
 * operand, so their order never matters.
 */
#include "filter/filter_operand.h"

#include <errno.h>
#include <string.h>

#include "filter/filter.h"
#include "wire/wire_enum.h"

__extension__ typedef __int128 wide;

enum {
	TYPO_MAX = 2, /* a suggested name differs in at most so many letters */
};

bool filter_too_long(struct parser *parser)
{
	parser->error = -E2BIG;
	return filter_error_set(parser->fault, 0, strlen(parser->text),
				"this filter is too long: 24 bytes, 24 for each comparison, and the strings; "
				"at most %d bytes",
				WIRE_FILTER_MAX);
}

bool filter_advance(struct parser *parser)
{
	return filter_token_next(parser->text, parser->token.offset + parser->token.bytes, &parser->token,
				 parser->fault);
}

bool filter_blame_token(struct parser *parser, const char *message)
{
	return filter_error_set(parser->fault, parser->token.offset, parser->token.bytes, "%s", message);
}

/* ---- Fields ---- */

static unsigned filter_operand_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The Levenshtein distance: how many letters must be added, removed or replaced. */
static unsigned filter_operand_distance(const char *a, size_t a_bytes, const char *b)
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
				filter_operand_least(replaced, filter_operand_least(row[n], diagonal) + 1);
		}
	}
	return row[b_bytes];
}

/* A name that a word may have meant. */
struct meant {
	const char *name; /* NULL: none is near */
	unsigned far;
};

static void try_name(struct meant *meant, const char *word, size_t bytes, const char *name)
{
	const unsigned far =
		bytes <= FORMAT_FIELD_NAME_MAX ? filter_operand_distance(word, bytes, name) : meant->far;

	if (far < meant->far && far < strlen(name))
		*meant = (struct meant){ name, far };
}

static bool blame_name(struct parser *parser)
{
	const struct token *token = &parser->token;
	const char *word = parser->text + token->offset;
	struct meant meant = { NULL, TYPO_MAX + 1 };
	char list[256] = "", hint[FORMAT_FIELD_NAME_MAX + 32] = "";
	size_t used = 0;

	for (unsigned n = 0; n < parser->format.count; n++) {
		const char *name = parser->format.fields[n].name;

		try_name(&meant, word, token->bytes, name);
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, n ? ", %s" : "%s", name);
	}
	for (unsigned fact = 1; fact <= FILTER_PROGRAM; fact <<= 1)
		try_name(&meant, word, token->bytes, filter_fact_name(fact));
	if (used >= sizeof(list))
		memcpy(list + sizeof(list) - 4, "...", 4);
	if (meant.name)
		snprintf(hint, sizeof(hint), "; did you mean '%s'?", meant.name);
	return filter_error_set(parser->fault, token->offset, token->bytes, "there is no field '%.*s'%s%s %s",
				(int)(token->bytes < 40 ? token->bytes : 40), word, hint,
				meant.name ? " it has:" : "; it has:", *list ? list : "none");
}

/* Find a field by its name or as argN. Return: its number; -1: there is none. */
static int filter_operand_find_field(const struct parser *parser, const char *word, size_t bytes)
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

static void set_fact(struct operand *operand, unsigned fact)
{
	operand->kind = OPERAND_FIELD;
	operand->type = fact & FILTER_NAMES ? WIRE_STR : fact == FILTER_CORRELATION ? WIRE_U64 : WIRE_U32;
	operand->test = (struct wire_filter_test){
		.op = (uint8_t)(WIRE_FILTER_SUBJECT | filter_op(operand->type)),
		.offset = filter_fact_offset(fact),
	};
}

/* Return: 0: there is none of this name. */
static unsigned find_fact(const char *word, size_t bytes)
{
	for (unsigned fact = 1; fact <= FILTER_PROGRAM; fact <<= 1)
		if (strlen(filter_fact_name(fact)) == bytes &&
		    memcmp(filter_fact_name(fact), word, bytes) == 0)
			return fact;
	return 0;
}

/* Return: whether the word is a constant. */
static bool set_constant(struct operand *operand, const char *word)
{
	static const struct {
		char word[6]; /* not a pointer, which would have to be relocated at the start */
		enum operand_kind kind;
		unsigned value;
	} words[] = {
		{ "true", OPERAND_NUMBER, 1 },
		{ "false", OPERAND_NUMBER, 0 },
		{ "NULL", OPERAND_NULL, 0 },
		{ "null", OPERAND_NULL, 0 },
	};

	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
		if (strlen(words[n].word) != operand->bytes ||
		    memcmp(words[n].word, word, operand->bytes) != 0)
			continue;
		operand->kind = words[n].kind;
		operand->number = words[n].value;
		return true;
	}
	return false;
}

static bool set_named_field(struct parser *parser, struct operand *operand, unsigned field, bool count)
{
	const unsigned type = parser->format.fields[field].type;
	const bool is_array = type == WIRE_ARRAY || type == WIRE_BYTES;

	if (count && !is_array)
		return filter_error_set(parser->fault, operand->offset, operand->bytes,
					"this is not an array: only arrays have a count");
	if (is_array)
		set_array(parser, operand, field, count);
	else
		set_field(parser, operand, field);
	return true;
}

static bool set_word(struct parser *parser, struct operand *operand)
{
	const char *word = parser->text + operand->offset;
	const size_t suffix = strlen(FILTER_COUNT);
	const bool sigil = *word == FILTER_FACT;
	const bool count =
		operand->bytes > suffix && memcmp(word + operand->bytes - suffix, FILTER_COUNT, suffix) == 0;
	const unsigned fact = find_fact(word + sigil, operand->bytes - sigil);
	const int field =
		sigil ? -1 : filter_operand_find_field(parser, word, operand->bytes - (count ? suffix : 0));

	if (field >= 0)
		return set_named_field(parser, operand, (unsigned)field, count);
	if (fact) {
		set_fact(operand, fact);
		return true;
	}
	if (sigil)
		return filter_error_set(
			parser->fault, operand->offset, operand->bytes,
			"a record has no such fact; it has: $pid, $tid, $cpu, $thread, $program, $depth, "
			"$correlation");
	if (set_constant(operand, word))
		return true;
	if (!parser->any_field)
		return blame_name(parser);
	operand->kind = OPERAND_FIELD;
	operand->type = WIRE_END;
	return true;
}

bool filter_blame_operand(struct parser *parser, const struct operand *marked, const struct operand *field,
			  const char *message)
{
	return filter_error_set(parser->fault, marked->offset, marked->bytes, "%.*s %s", (int)field->bytes,
				parser->text + field->offset, message);
}

bool filter_keep_string(struct parser *parser, struct operand *operand, const char *string, size_t bytes)
{
	if (bytes >= sizeof(parser->strings) - parser->string_bytes)
		return filter_too_long(parser);
	operand->string = parser->string_bytes;
	operand->string_bytes = bytes + 1;
	memcpy(parser->strings + parser->string_bytes, string, bytes);
	parser->strings[parser->string_bytes + bytes] = '\0';
	parser->string_bytes += bytes + 1;
	return true;
}

static bool operand_alone(struct parser *parser, struct operand *operand)
{
	const struct token *token = &parser->token;

	*operand = (struct operand){ .offset = token->offset, .bytes = token->bytes };
	switch (token->kind) {
	case TOKEN_WORD:
		return set_word(parser, operand) && filter_advance(parser);
	case TOKEN_NUMBER:
		operand->kind = OPERAND_NUMBER;
		operand->number = token->number;
		return filter_advance(parser);
	case TOKEN_STRING:
		operand->kind = OPERAND_STRING;
		return filter_keep_string(parser, operand, token->string, token->string_bytes) &&
		       filter_advance(parser);
	case TOKEN_END:
		return filter_blame_token(parser,
					  "the expression ends here; expected a field, a number or a string");
	default:
		return filter_blame_token(parser, "expected a field, a number or a string here");
	}
}

/* ---- Bits and remainders ---- */

static bool is_integer(unsigned type)
{
	return type != WIRE_STR && !filter_type_is_float(type);
}

static bool blame_change(struct parser *parser, const struct token *sign)
{
	return filter_error_set(
		parser->fault, sign->offset, sign->bytes,
		sign->kind == TOKEN_BITS
			? "& has a field before it and an integer behind it; && joins conditions"
			: "%% has a field before it and an integer above 0 behind it");
}

/* Store the change of a field's value, and the type of the result. @number: an integer of 64 bits, with its sign or not */
static bool set_change(struct parser *parser, struct operand *field, const struct token *sign,
		       long double number)
{
	const bool is_and = sign->kind == TOKEN_BITS;

	field->has_sign = filter_type_has_sign(field->type);
	field->by = number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number;
	field->change = is_and ? WIRE_FILTER_AND : WIRE_FILTER_REMAINDER;
	field->labels = NULL;
	field->test.op |= WIRE_FILTER_MORE;
	if (field->type == WIRE_END)
		return true;
	if (is_and && field->has_sign && field->by > INT64_MAX && number > 0) {
		if (field->type != WIRE_I64)
			return filter_error_set(parser->fault, sign->offset, sign->bytes,
						"the number behind this has more bits than the field");
		field->has_sign = false;
	}
	field->type = field->has_sign && (!is_and || number < 0) ? WIRE_I64 : WIRE_U64;
	return true;
}

static bool change_operand(struct parser *parser, struct operand *field)
{
	const enum token_kind kind = parser->token.kind;
	const struct token sign = { .kind = kind, .offset = parser->token.offset, .bytes = 1 };
	struct operand by;

	if (field->kind != OPERAND_FIELD || !filter_advance(parser))
		return field->kind == OPERAND_FIELD ? false : blame_change(parser, &sign);
	if (parser->token.kind != TOKEN_NUMBER)
		return blame_change(parser, &sign);
	if (!operand_alone(parser, &by))
		return false;
	if (!is_integer(field->type))
		return filter_blame_operand(parser, field, field, "is not an integer: it has no & and no %");
	if (by.number < -0x1p63L || by.number >= 0x1p64L || by.number != (long double)(wide)by.number ||
	    (kind == TOKEN_REMAINDER && by.number < 1))
		return blame_change(parser, &sign);
	field->bytes = by.offset + by.bytes - field->offset;
	if (parser->token.kind == TOKEN_BITS || parser->token.kind == TOKEN_REMAINDER)
		return filter_blame_token(parser, "an operand has one & or %, not more");
	return set_change(parser, field, &sign, by.number);
}

bool filter_operand(struct parser *parser, struct operand *operand)
{
	const size_t begin = parser->token.offset;
	unsigned open = 0;

	for (; parser->token.kind == TOKEN_OPEN; open++)
		if (!filter_advance(parser))
			return false;
	if (!operand_alone(parser, operand) ||
	    ((parser->token.kind == TOKEN_BITS || parser->token.kind == TOKEN_REMAINDER) &&
	     !change_operand(parser, operand)))
		return false;
	for (; open; open--) {
		if (parser->token.kind != TOKEN_CLOSE)
			return filter_blame_token(parser, "expected ) before this");
		operand->bytes = parser->token.offset + 1 - begin;
		operand->offset = begin;
		if (!filter_advance(parser))
			return false;
	}
	return true;
}
